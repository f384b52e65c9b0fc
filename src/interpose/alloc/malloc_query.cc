// The part of the malloc family that asks or tunes. glibc has no second name for these functions,
// so in glibc's mode the real ones answer.
#include <malloc.h>

#include "check/core/declared.h"
#include "control/process.h"
#include "heap/guard/guard.h"
#include "heap/heap.h"
#include "interpose/alloc/guarded.h"
#include "interpose/alloc/heap_scope.h"
#include "interpose/malloc_mode.h"
#include "interpose/real.h"

#pragma GCC diagnostic ignored \
    "-Wdeprecated-declarations"  // mallinfo is interposed because programs still call it

using namespace weir;
using weir::interpose::real;

WEIR_EXPORT size_t malloc_usable_size(void* object) noexcept {
  if (object == nullptr) return 0;
  if (!heap_mode()) return real().malloc_usable_size(object);
  if (interpose::guarded::is_on() &&
      (heap_owns(object) || guard::is_in_region(reinterpret_cast<uint64_t>(object))))
    return interpose::guarded::usable_size(object, WEIR_CALLER);
  if (!heap_owns(object))
    return plan().checks_races() && declared::is_on() ? declared::size_of(object) : 0;
  return heap_usable_size(object);
}

WEIR_EXPORT int malloc_trim(size_t pad) noexcept {
  if (!heap_mode()) return real().malloc_trim(pad);
  const HeapScope scope;
  return heap_trim(current_heap_index()) ? 1 : 0;
}

WEIR_EXPORT int mallopt(int parameter, int value) noexcept {
  if (!heap_mode()) return real().mallopt(parameter, value);
  return 1;
}

WEIR_EXPORT void malloc_stats() noexcept {
  if (!heap_mode()) real().malloc_stats();
}

WEIR_EXPORT int malloc_info(int options, FILE* stream) noexcept {
  if (!heap_mode()) return real().malloc_info(options, stream);
  return 0;
}

WEIR_EXPORT struct mallinfo2 mallinfo2() noexcept {
  if (!heap_mode()) return real().mallinfo2();
  struct mallinfo2 result = {};
  result.arena = heap_footprint(current_heap_index());
  return result;
}

WEIR_EXPORT struct mallinfo mallinfo() noexcept {
  if (!heap_mode()) return real().mallinfo();
  return {};
}
