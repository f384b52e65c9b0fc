// The malloc family of the program.
//
// In the free order with the direct View nothing concerns Weir, and every call goes directly to
// glibc's own allocator. Otherwise the deterministic heap (heap/heap.h) does the work. The first
// call of the process decides which of the two, from the options, and that never changes.
//
// A pointer that the heap does not own was given out by ld.so's own small allocator before this
// library was bound. Such memory was never meant to be freed, so it is not; realloc copies it.
//
// Contract: glibc 2.36's. errno is ENOMEM (EINVAL) if a call fails, and untouched if it succeeds.
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/coherent_features.h"
#include "check/core/declared.h"
#include "check/core/happens_before.h"
#include "control/options.h"
#include "heap/guard/guard.h"
#include "heap/heap.h"
#include "interpose/alloc/guarded.h"
#include "interpose/alloc/heap_scope.h"
#include "interpose/caller.h"
#include "interpose/event_call.h"
#include "interpose/malloc_mode.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

#define WEIR_EXPORT extern "C" [[gnu::visibility("default")]]

extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace weir {

constinit MallocMode g_malloc_mode = MallocMode::kUnknown;

MallocMode decide_malloc_mode() {
  if (g_malloc_mode != MallocMode::kUnknown) return g_malloc_mode;
  if (options().passive()) return g_malloc_mode = MallocMode::kGlibc;
  if (!heap_ready() && !heap_init(heap_config())) {
    static const char text[] =
        "weir: cannot reserve address space for the heap (is it limited by ulimit -v?)\n";
    sys::raw(SYS_write, 2, reinterpret_cast<long>(text), sizeof text - 1);
    sys::raw(SYS_exit_group, 125);
  }
  if (options().guards_heap && plan().is_serial()) {
    if (guard::begin({kGuarded, kGuarded + kGuardedSize}))
      return g_malloc_mode = MallocMode::kGuarded;
    report("--heap guard: the kernel gives no room for it: blocks are not looked at");
  }
  return g_malloc_mode = uses(Optimization::kHeap) ? MallocMode::kHeap : MallocMode::kCommonHeap;
}

namespace {

using interpose::Caller;
namespace guarded = interpose::guarded;

constexpr size_t kLeastAlignment = 16;  // bytes, of every block

uint64_t address_of(const void* object) { return reinterpret_cast<uint64_t>(object); }

[[gnu::noinline]] void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

inline void* answer(void* object) {
  return __builtin_expect(object != nullptr, 1) ? object : no_memory();
}

// Copies what is readable of a foreign object of unknown size.
void* copy_foreign(void* object, size_t size, const Caller& caller) {
  void* moved = nullptr;
  {
    const HeapScope scope;
    moved = guarded::is_on() ? guarded::allocate(size, kLeastAlignment, false, caller)
                             : heap_allocate(current_heap_index(), size);
  }
  if (moved == nullptr) return no_memory();
  if (sys::failed(sys::read_safely(moved, reinterpret_cast<uint64_t>(object), size))) {
    size_t in_page = kPageSize - reinterpret_cast<uint64_t>(object) % kPageSize;
    memcpy(moved, object, size < in_page ? size : in_page);
  }
  return moved;
}

struct HeapNotice {
  void* object;
  size_t size;
  Caller caller;
};

void allocated(const HeapNotice& notice) {
  const size_t usable = guarded::is_on() ? notice.size : heap_usable_size(notice.object);
  happens::on_allocated(reinterpret_cast<uint64_t>(notice.object), notice.size, usable,
                        notice.caller.where, notice.caller.stack, notice.caller.frame);
}
void freed(const HeapNotice& notice) {
  happens::on_freed(reinterpret_cast<uint64_t>(notice.object), notice.size, notice.caller.where,
                    notice.caller.stack, notice.caller.frame);
}

// In the runtime, where there is one.
template <void (*kNotify)(const HeapNotice&)>
[[gnu::cold, gnu::noinline]] void notify(void* object, size_t size, const Caller& caller) {
  const HeapNotice notice{object, size, caller};
  const int before = errno;
  if (!is_task() || self().in_runtime) {
    if (!g_tasks_active) kNotify(notice);
  } else {
    weir_upcall([](long at, long,
                   long) -> long { return kNotify(*reinterpret_cast<const HeapNotice*>(at)), 0; },
                reinterpret_cast<long>(&notice), 0, 0);
  }
  errno = before;
}

[[gnu::always_inline]] inline void* given(void* object, size_t size, const Caller& caller) {
  if (__builtin_expect(happens::g_notifies_blocks, 0)) {
    if (object)
      happens::notify<happens::NoticeKind::kAllocated>(reinterpret_cast<uint64_t>(object), size,
                                                       caller.stack);
  } else if (__builtin_expect(happens::g_knows_blocks, 0) && object) {
    notify<allocated>(object, size, caller);
  }
  level_registers();
  return object;
}
// A block's size under --heap guard; 0: there is no such block, as free() will say.
[[gnu::cold, gnu::noinline]] size_t guarded_size(const void* object) {
  const uint64_t address = address_of(object);
  Range block = guard::find_block(address);
  if (block.empty())
    block = heap_find(address, [](uint64_t at) { return reinterpret_cast<const void*>(at); });
  return block.contains(address) ? block.limit - address : 0;
}
[[gnu::always_inline]] inline void taken(void* object, const Caller& caller) {
  if (__builtin_expect(happens::g_notifies_blocks, 0)) {
    happens::notify<happens::NoticeKind::kFreed>(reinterpret_cast<uint64_t>(object), caller.stack);
  } else if (__builtin_expect(happens::g_knows_blocks, 0)) {
    const size_t size = guarded::is_on() ? guarded_size(object) : heap_usable_size(object);
    if (size) notify<freed>(object, size, caller);
  }
  level_registers();
}

// What the program allocates itself, where only declared policies count: an object. Null: it is
// none.
[[gnu::cold, gnu::noinline]] void* allocate_object(size_t size, const Caller& caller) {
  constexpr uint32_t kPrivate = 1;
  if (!declared::is_programs(caller.where) || is_borrower() || !declared::is_on()) return nullptr;
  const SignalsWait signals;
  return declared::allocate(size, kPrivate, caller);
}
inline void* object_of(size_t size, const Caller& caller) {
  return __builtin_expect(declared::g_strict, 0) ? allocate_object(size, caller) : nullptr;
}
// Not the heap's: an object's (weir_alloc), or nobody's.
[[gnu::cold, gnu::noinline]] void free_object(void* object, const Caller& caller) {
  if (!plan().checks_races() || !declared::is_own(object) || is_borrower() || !declared::is_on())
    return;
  const SignalsWait signals;
  declared::release(object, caller);
}

constexpr bool power_of_two(size_t value) { return value != 0 && (value & (value - 1)) == 0; }

// As glibc's memalign: an alignment that is no power of two is rounded up to one.
void* allocate_aligned(size_t alignment, size_t size, const Caller& caller) {
  if (alignment > SIZE_MAX / 2 + 1) {
    errno = EINVAL;
    return nullptr;
  }
  if (size > PTRDIFF_MAX) return no_memory();
  if (!power_of_two(alignment)) {
    size_t rounded = kLeastAlignment;
    while (rounded < alignment) rounded *= 2;
    alignment = rounded;
  }
  if (alignment < kLeastAlignment) alignment = kLeastAlignment;
  if (guarded::is_on()) return answer(guarded::allocate(size, alignment, false, caller));
  const HeapScope scope;
  return answer(heap_allocate_aligned(current_heap_index(), alignment, size));
}

}  // namespace

void* interpose::guarded::told(void* object, size_t size, const Caller& caller) {
  return given(object, size, caller);
}

}  // namespace weir

using namespace weir;

WEIR_EXPORT void* malloc(size_t size) noexcept {
  if (void* object = object_of(size, WEIR_CALLER)) return object;
  if (has_own_heap())
    return given(answer(heap_allocate(current_heap_index(), size)), size, WEIR_CALLER);
  if (!heap_mode()) return __libc_malloc(size);
  if (guarded::is_on())
    return given(answer(guarded::allocate(size, kLeastAlignment, false, WEIR_CALLER)), size,
                 WEIR_CALLER);
  const HeapScope scope;
  return given(answer(heap_allocate(current_heap_index(), size)), size, WEIR_CALLER);
}

WEIR_EXPORT void free(void* object) noexcept {
  if (!heap_mode()) return __libc_free(object);
  if (guarded::is_on()) {
    if (object) taken(object, WEIR_CALLER);
    return guarded::free(object, WEIR_CALLER);
  }
  if (!heap_owns(object)) return free_object(object, WEIR_CALLER);
  taken(object, WEIR_CALLER);
  if (has_own_heap()) return heap_free(current_heap_index(), object);
  const HeapScope scope;
  heap_free(current_heap_index(), object);
}

WEIR_EXPORT void* calloc(size_t count, size_t size) noexcept {
  if (!heap_mode()) return __libc_calloc(count, size);
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return no_memory();
  if (guarded::is_on())
    return given(answer(guarded::allocate(bytes, kLeastAlignment, true, WEIR_CALLER)), bytes,
                 WEIR_CALLER);
  if (void* object = object_of(bytes, WEIR_CALLER)) return memset(object, 0, bytes);
  const HeapScope scope;
  return given(answer(heap_allocate_zeroed(current_heap_index(), bytes)), bytes, WEIR_CALLER);
}

WEIR_EXPORT void* realloc(void* object, size_t size) noexcept {
  if (!heap_mode()) return __libc_realloc(object, size);
  if (object == nullptr) {
    if (guarded::is_on())
      return given(answer(guarded::allocate(size, kLeastAlignment, false, WEIR_CALLER)), size,
                   WEIR_CALLER);
    if (void* made = object_of(size, WEIR_CALLER)) return made;
    const HeapScope scope;
    return given(answer(heap_allocate(current_heap_index(), size)), size, WEIR_CALLER);
  }
  if (size == 0) {
    free(object);
    return nullptr;
  }
  if (guarded::is_on() && (heap_owns(object) || guard::is_in_region(address_of(object)))) {
    taken(object, WEIR_CALLER);
    return given(answer(guarded::resize(object, size, WEIR_CALLER)), size, WEIR_CALLER);
  }
  if (!heap_owns(object)) {
    const size_t before =
        plan().checks_races() && declared::is_on() ? declared::size_of(object) : 0;
    if (!before) return copy_foreign(object, size, WEIR_CALLER);
    void* moved = object_of(size, WEIR_CALLER);
    if (moved == nullptr) {
      const HeapScope scope;
      moved = given(answer(heap_allocate(current_heap_index(), size)), size, WEIR_CALLER);
    }
    if (moved == nullptr) return nullptr;
    memcpy(moved, object, before < size ? before : size);
    free_object(object, WEIR_CALLER);
    return moved;
  }
  taken(object, WEIR_CALLER);
  const HeapScope scope;
  return given(answer(heap_resize(current_heap_index(), object, size)), size, WEIR_CALLER);
}

WEIR_EXPORT void* reallocarray(void* object, size_t count, size_t size) noexcept {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return no_memory();
  return realloc(object, bytes);
}

WEIR_EXPORT void* memalign(size_t alignment, size_t size) noexcept {
  if (!heap_mode()) return __libc_memalign(alignment, size);
  return given(allocate_aligned(alignment, size, WEIR_CALLER), size, WEIR_CALLER);
}

WEIR_EXPORT void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return memalign(alignment, size);
}

WEIR_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || !power_of_two(alignment)) return EINVAL;
  int before = errno;
  void* object = memalign(alignment, size);
  errno = before;
  if (object == nullptr) return ENOMEM;
  *result = object;
  return 0;
}

WEIR_EXPORT void* valloc(size_t size) noexcept { return memalign(kPageSize, size); }

WEIR_EXPORT void* pvalloc(size_t size) noexcept {
  if (size > PTRDIFF_MAX) return no_memory();
  return memalign(kPageSize, page_up(size));
}
