// Whether the malloc family is glibc's or the deterministic heap's, and whether each task has one
// of these; fixed by the first call of the process.
// Implemented in interpose/alloc/malloc.cc.
#pragma once

#include <stdint.h>

namespace weir {

// kGuarded: each task has one, and --heap guard looks at how blocks are used.
enum class MallocMode : uint8_t { kUnknown, kGlibc, kHeap, kCommonHeap, kGuarded };
extern MallocMode g_malloc_mode;

[[gnu::cold, gnu::noinline]] MallocMode decide_malloc_mode();

inline bool has_own_heap() { return __builtin_expect(g_malloc_mode == MallocMode::kHeap, 1); }
inline bool heap_mode() {
  if (has_own_heap()) return true;
  if (g_malloc_mode == MallocMode::kGlibc) return false;
  return decide_malloc_mode() != MallocMode::kGlibc;
}

}  // namespace weir
