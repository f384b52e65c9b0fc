// Whether the malloc family is glibc's or the deterministic heap's; fixed by the first call of the process.
#pragma once

#include <stdint.h>

namespace weir {

enum class MallocMode : uint8_t { kUnknown, kGlibc, kHeap };
extern MallocMode g_malloc_mode;

[[gnu::cold, gnu::noinline]] MallocMode decide_malloc_mode();

inline bool heap_mode() {
  if (__builtin_expect(g_malloc_mode == MallocMode::kHeap, 1)) return true;
  if (g_malloc_mode == MallocMode::kGlibc) return false;
  return decide_malloc_mode() == MallocMode::kHeap;
}

}  // namespace weir
