// The part of the malloc family that asks or tunes. glibc has no second name for these functions, so in glibc's
// mode the real ones are looked up when first called.
#include <dlfcn.h>
#include <malloc.h>

#include "event/declared.h"
#include "interpose/heap_scope.h"
#include "interpose/malloc_mode.h"
#include "page/heap.h"
#include "runtime/state.h"

#define WEIR_EXPORT extern "C" [[gnu::visibility("default")]]

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // mallinfo is interposed because programs still call it

namespace weir {
namespace {

template <typename Function>
Function* next_of(const char* name, Function*& found) {
  if (found == nullptr) found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return found;
}

}  // namespace
}  // namespace weir

using namespace weir;

WEIR_EXPORT size_t malloc_usable_size(void* object) noexcept {
  static size_t (*real)(void*) = nullptr;
  if (object == nullptr) return 0;
  if (!heap_mode()) return next_of("malloc_usable_size", real)(object);
  if (!heap_owns(object)) return runtime::g_guarded && declared::is_on() ? declared::size_of(object) : 0;
  return heap_usable_size(object);
}

WEIR_EXPORT int malloc_trim(size_t pad) noexcept {
  static int (*real)(size_t) = nullptr;
  if (!heap_mode()) return next_of("malloc_trim", real)(pad);
  const HeapScope scope;
  return heap_trim(current_heap_index()) ? 1 : 0;
}

WEIR_EXPORT int mallopt(int parameter, int value) noexcept {
  static int (*real)(int, int) = nullptr;
  if (!heap_mode()) return next_of("mallopt", real)(parameter, value);
  return 1;
}

WEIR_EXPORT void malloc_stats() noexcept {
  static void (*real)() = nullptr;
  if (!heap_mode()) next_of("malloc_stats", real)();
}

WEIR_EXPORT int malloc_info(int options, FILE* stream) noexcept {
  static int (*real)(int, FILE*) = nullptr;
  if (!heap_mode()) return next_of("malloc_info", real)(options, stream);
  return 0;
}

WEIR_EXPORT struct mallinfo2 mallinfo2() noexcept {
  static struct mallinfo2 (*real)() = nullptr;
  if (!heap_mode()) return next_of("mallinfo2", real)();
  struct mallinfo2 result = {};
  result.arena = heap_footprint(current_heap_index());
  return result;
}

WEIR_EXPORT struct mallinfo mallinfo() noexcept {
  static struct mallinfo (*real)() = nullptr;
  if (!heap_mode()) return next_of("mallinfo", real)();
  return {};
}
