// Guarded blocks are made and freed in the runtime, where signals wait: no handler that allocates
// meets a table in the middle of a change. Marked blocks come from the task's own heap in program
// code, as without a guard, since a heap that grows is an event; only the quarantine is common.
#include "interpose/alloc/guarded.h"

#include <string.h>

#include "base/bytes.h"
#include "control/process.h"
#include "heap/guard/guard.h"
#include "heap/heap.h"
#include "signal/heap_misuse.h"
#include "sync/sole_section.h"
#include "sys/maps.h"
#include "sys/program_segments.h"

namespace weir::interpose::guarded {
namespace {

using guard::Kind;
using guard::Misuse;
using guard::Standing;

constexpr size_t kLeast = 16;  // bytes of alignment that malloc promises
// A larger block that is marked grows in place if it can, as the heap does it.
constexpr size_t kGrowsInPlace = 128 << 10;

Standing standing_of(const Caller& caller) { return {caller.where, caller.stack, caller.frame}; }

bool can_enter_runtime() {
  return runtime::g_intercepting && !self().identity.in_vfork && !self().in_runtime;
}

template <typename Work>
void in_runtime(Work work) {
  if (!can_enter_runtime()) {
    work();
    return;
  }
  weir_upcall([](long at, long, long) -> long { return (*reinterpret_cast<Work*>(at))(), 0; },
              reinterpret_cast<long>(&work), 0, 0);
}

[[noreturn]] void tell(const Misuse& misuse, const Caller& caller, const char* what) {
  in_runtime([&] { trap::tell_heap_misuse(misuse, standing_of(caller), what, false); });
  __builtin_unreachable();
}

const char* words_for(const Misuse& misuse, const char* call) {
  return misuse.is_late ? "write to" : call;
}

const void* seen(uint64_t address) { return reinterpret_cast<const void*>(address); }

// Of a block that the heap has given.
struct Marked {
  Range block;
  size_t usable = 0, size = 0;
  uint32_t owner = 0;
  Misuse misuse;

  explicit Marked(const void* object) {
    const auto address = reinterpret_cast<uint64_t>(object);
    block = heap_find(address, seen);
    if (!block.empty()) {
      usable = heap_usable_size(reinterpret_cast<const void*>(block.start));
      owner = heap_owner(object);
    }
    misuse = guard::look(address, block, usable, owner, size);
  }
};

void* mark(void* object, size_t size, const Caller& caller) {
  if (object)
    guard::mark(reinterpret_cast<uint64_t>(object), heap_usable_size(object), size, caller.where,
                trap::heap_user());
  return object;
}

bool is_programs_data(uint64_t address) {
  const sys::ProgramSegments segments = sys::program_segments();
  for (const Elf64_Phdr& one : segments) {
    const uint64_t start = segments.base + one.p_vaddr;
    if (one.p_type == PT_LOAD && Range{start, start + one.p_memsz}.contains(address)) return true;
  }
  return false;
}

// A variable, or part of a stack. What else no heap has given out is the loader's, which had an
// allocator of its own before this library was bound.
bool is_no_block(uint64_t address, const Caller& caller) {
  if (is_programs_data(address)) return true;
  sys::MapLine line;
  if (!sys::find_map_line(address, &line)) return true;
  if (line.range.contains(caller.stack)) return true;
  return line.name[0] == '[' || (line.name[0] == '/' && !contains_text(line.name, "/ld-"));
}

[[gnu::cold, gnu::noinline]] void free_unknown(uint64_t address, const Caller& caller) {
  bool is_wrong = false;
  in_runtime([&] { is_wrong = is_no_block(address, caller); });
  if (!is_wrong) return guard::count_unknown_free();
  Misuse misuse;
  misuse.kind = Kind::kInvalidFree;
  misuse.address = address;
  tell(misuse, caller, "free() is given");
}

void free_guarded(uint64_t address, const Caller& caller, const char* what) {
  Misuse misuse;
  in_runtime([&] {
    misuse = guard::free(address, standing_of(caller), trap::heap_user(), trap::read_program);
  });
  if (misuse.kind != Kind::kNone) tell(misuse, caller, words_for(misuse, what));
}

void free_marked(void* object, const Marked& marked, const Caller& caller) {
  uint64_t leaving[guard::kMaxLeaving];
  uint32_t count;
  Misuse misuse;
  {
    const SignalsWait signals(runtime::g_intercepting);
    count = guard::keep(reinterpret_cast<uint64_t>(object), marked.usable, marked.size,
                        marked.owner, caller.where, trap::heap_user(), leaving, misuse);
  }
  if (misuse.kind != Kind::kNone) tell(misuse, caller, "write to");
  for (uint32_t i = 0; i < count; i++)
    heap_free(current_heap_index(), reinterpret_cast<void*>(leaving[i]));
}

void* move(void* object, size_t before, size_t size, const Caller& caller) {
  void* const moved = allocate(size, kLeast, false, caller);
  if (!moved) return nullptr;
  memcpy(moved, object, before < size ? before : size);
  free(object, caller);
  return moved;
}

}  // namespace

void* allocate(size_t size, size_t alignment, bool is_zeroed, const Caller& caller) {
  if (size > PTRDIFF_MAX - guard::kMarkSize) return nullptr;
  if (guard::choose(caller.where, size)) {
    uint64_t block = 0;
    in_runtime([&] {
      block = guard::allocate(size, alignment, standing_of(caller), trap::heap_user(),
                              trap::read_program);
    });
    if (block) return reinterpret_cast<void*>(block);
  }
  const size_t whole = size + guard::kMarkSize;
  const uint32_t heap = current_heap_index();
  if (alignment > kLeast) return mark(heap_allocate_aligned(heap, alignment, whole), size, caller);
  return mark(is_zeroed ? heap_allocate_zeroed(heap, whole) : heap_allocate(heap, whole), size,
              caller);
}

void free(void* object, const Caller& caller) {
  const auto address = reinterpret_cast<uint64_t>(object);
  if (!object) return;
  if (guard::is_in_region(address)) return free_guarded(address, caller, "free() is given");
  if (!heap_owns(object)) return free_unknown(address, caller);
  const Marked marked(object);
  if (marked.misuse.kind != Kind::kNone)
    tell(marked.misuse, caller, words_for(marked.misuse, "free() is given"));
  free_marked(object, marked, caller);
}

void* resize(void* object, size_t size, const Caller& caller) {
  const auto address = reinterpret_cast<uint64_t>(object);
  if (guard::is_in_region(address)) {
    size_t before;
    if (guard::find_size(address, before)) return move(object, before, size, caller);
    free_guarded(address, caller, "realloc() is given");  // says what is wrong
    return nullptr;
  }
  const Marked marked(object);
  if (marked.misuse.kind != Kind::kNone)
    tell(marked.misuse, caller, words_for(marked.misuse, "realloc() is given"));
  if (size > PTRDIFF_MAX - guard::kMarkSize) return nullptr;
  const size_t whole = size + guard::kMarkSize;
  if (whole <= marked.usable && whole >= marked.usable / 2) return mark(object, size, caller);
  if (marked.usable < kGrowsInPlace) return move(object, marked.size, size, caller);
  return mark(heap_resize(current_heap_index(), object, whole), size, caller);
}

size_t usable_size(const void* object, const Caller& caller) {
  const auto address = reinterpret_cast<uint64_t>(object);
  size_t size = 0;
  if (guard::is_in_region(address)) {
    if (guard::find_size(address, size)) return size;
    Misuse misuse = guard::judge_access(address);
    if (misuse.kind == Kind::kNone) misuse.kind = Kind::kInvalidFree, misuse.address = address;
    tell(misuse, caller, "malloc_usable_size() is given");
  }
  const Marked marked(object);
  if (marked.misuse.kind != Kind::kNone)
    tell(marked.misuse, caller, words_for(marked.misuse, "malloc_usable_size() is given"));
  return marked.size;
}

}  // namespace weir::interpose::guarded
