// The malloc family under --heap guard (heap/guard/guard.h).
// Implemented in guarded.cc and malloc.cc.
#pragma once

#include <stddef.h>

#include "interpose/caller.h"
#include "interpose/malloc_mode.h"

namespace weir::interpose::guarded {

inline bool is_on() { return g_malloc_mode == MallocMode::kGuarded; }

// Null: memory is exhausted; errno is untouched. `alignment`: a power of two.
void* allocate(size_t size, size_t alignment, bool is_zeroed, const Caller& caller);
// The same block, which whoever looks for races hears of. In malloc.cc.
void* told(void* object, size_t size, const Caller& caller);
void free(void* object, const Caller& caller);
// REQUIRES: object is not null, size is not 0.
void* resize(void* object, size_t size, const Caller& caller);
// What the program has asked for. Of a pointer that is no block's start, it ends the program.
size_t usable_size(const void* object, const Caller& caller);

}  // namespace weir::interpose::guarded
