// The calls of include/weir/weir.h in a program that is checked. A program finds them all by one
// name, weir_query_calls.
//
// An array that has slices is described to the program by a struct weir_array, which lies in memory
// that all tasks may read and nobody may write.

#include <stdlib.h>
#include <string.h>

#include "check/core/declared.h"
#include "heap/heap.h"
#include "interpose/event_call.h"
#include "interpose/malloc_mode.h"
#include "weir/weir.h"

namespace weir {

namespace {

using declared::Caller;

// In the called function itself.
#define WEIR_CALLER                                                    \
  (Caller{reinterpret_cast<uint64_t>(__builtin_return_address(0)),     \
          reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + 16, \
          *static_cast<uint64_t*>(__builtin_frame_address(0))})

// Signals wait while it lives, and errno stays as it is: nothing in it is libc's. Nothing is
// annotated in a child that borrows its parent's memory, nor in a forked one.
class Section {
 public:
  Section() : on_(declared::is_on() && !is_borrower()), signals_(on_ && g_tasks_active) {}
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  explicit operator bool() const { return on_; }

 private:
  const bool on_;
  const SignalsWait signals_;
};

void* annotate_alloc(size_t size, int policy) {
  const Caller caller = WEIR_CALLER;
  {
    const Section section;
    if (section) {
      if (void* object = declared::allocate(size, static_cast<uint32_t>(policy), caller))
        return object;
    }
  }
  return malloc(size);  // in a forked child, or without room
}

void annotate_free(void* object) {
  if (!object) return;
  const Caller caller = WEIR_CALLER;
  {
    const Section section;
    if (section && declared::release(object, caller)) return;
  }
  if (!declared::is_own(object)) free(object);
}

void annotate_declare(void* object, size_t size, int policy) {
  const Caller caller = WEIR_CALLER;
  const Section section;
  if (section) {
    declared::declare(reinterpret_cast<uint64_t>(object), size,
                      static_cast<uint32_t>(policy & ~WEIR_HAS_PAGES), policy & WEIR_HAS_PAGES,
                      caller);
  }
}

void annotate_forget(void* object) {
  const Caller caller = WEIR_CALLER;
  const Section section;
  if (section) declared::forget(reinterpret_cast<uint64_t>(object), caller);
}

void annotate_change(void* object, int change, const void* lock) {
  const Caller caller = WEIR_CALLER;
  const Section section;
  if (section)
    declared::change(reinterpret_cast<uint64_t>(object), static_cast<uint32_t>(change),
                     reinterpret_cast<uint64_t>(lock), caller);
}

int annotate_policy(const void* object) {
  const Section section;
  return section ? declared::policy_of(reinterpret_cast<uint64_t>(object)) : -1;
}

// `ends`, in bytes, in memory of the caller's.
struct weir_array* make_array(struct weir_array shape, size_t* ends, int policy,
                              const Caller& caller) {
  const size_t size = shape.element_size * shape.count;
  uint64_t gap = 0;
  void* data =
      declared::slice(size, ends, shape.slices, static_cast<uint32_t>(policy), &gap, caller);
  if (!data) return nullptr;
  shape.data = static_cast<char*>(data);
  shape.gap = gap;
  if (!shape.per_slice) {
    for (size_t i = 0; i < shape.slices; i++) ends[i] /= shape.element_size;
    shape.ends =
        static_cast<size_t*>(declared::constant(ends, shape.slices * sizeof *ends, caller));
  }
  return static_cast<struct weir_array*>(declared::constant(&shape, sizeof shape, caller));
}

size_t end_of(const struct weir_array& shape, const size_t* ends, size_t slice) {
  const size_t end = shape.per_slice ? (slice + 1) * shape.per_slice : ends[slice];
  return end < shape.count ? end : shape.count;
}

struct weir_array* annotate_array(const struct weir_array* wanted, const size_t* ends, int policy) {
  const Caller caller = WEIR_CALLER;
  struct weir_array shape = *wanted;
  auto* bytes = static_cast<size_t*>(malloc(shape.slices * sizeof(size_t) + 1));
  if (!bytes) return nullptr;
  for (size_t i = 0; i < shape.slices; i++) bytes[i] = end_of(shape, ends, i) * shape.element_size;
  struct weir_array* array = nullptr;
  {
    const Section section;
    if (section) array = make_array(shape, bytes, policy, caller);
  }
  free(bytes);
  return array;
}

void annotate_array_free(struct weir_array* array) {
  const Caller caller = WEIR_CALLER;
  const struct weir_array shape = *array;
  auto* bytes = static_cast<size_t*>(malloc(shape.slices * sizeof(size_t) + 1));
  if (!bytes) return;
  for (size_t i = 0; i < shape.slices; i++)
    bytes[i] = end_of(shape, shape.ends, i) * shape.element_size;
  {
    const Section section;
    if (section) {
      declared::unslice(shape.data, shape.element_size * shape.count, bytes, shape.slices,
                        shape.gap, caller);
      if (shape.ends) declared::release(const_cast<size_t*>(shape.ends), caller);
      declared::release(array, caller);
    }
  }
  free(bytes);
}

constexpr struct weir_calls kCalls = {
    sizeof(struct weir_calls), annotate_alloc,  annotate_free,  annotate_declare,   annotate_forget,
    annotate_change,           annotate_policy, annotate_array, annotate_array_free};

}  // namespace
}  // namespace weir

extern "C" [[gnu::visibility("default")]] const struct weir_calls* weir_query_calls() {
  return weir::plan().checks_races() && weir::declared::is_on() ? &weir::kCalls : nullptr;
}
