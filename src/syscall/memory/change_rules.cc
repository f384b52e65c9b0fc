#include "syscall/memory/change_rules.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "check/core/check.h"
#include "code/patch/patch.h"
#include "code/program/text_patches.h"
#include "code/translate/counted.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "record/input.h"
#include "record/stop_point.h"
#include "sync/event.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/memory/calls.h"
#include "syscall/memory/reserved.h"
#include "syscall/memory/shared_code.h"
#include "syscall/transfer.h"
#include "task/mapping_log.h"
#include "view/view.h"

namespace weir::syscalls {

namespace {

using runtime::record_mapping;

constexpr long kDroppable = 8;  // MAP_DROPPABLE: private memory of which the kernel may forget
                                // pages, as glibc has for getrandom()

long note_library(const Call& call, long result) {
  if (!maps_library(call) || sys::failed(result)) return result;
  const Range text{address(result), address(result) + page_up(address(call.b))};
  change_rules().note_code(text);
  runtime::note_library(text);
  return result;
}

long change(Call& call) {
  SharedCode code(call);
  const long result = make_change(call);
  code.end(result);
  return result;
}

// Memory of the backing does not grow, nor is it forgotten.
void say_what_differs(Call& call) {
  if (call.number != SYS_mmap) return;
  if ((call.d & MAP_GROWSDOWN) &&
      !__atomic_exchange_n(&shared().memory.told_growing, 1u, __ATOMIC_RELAXED)) {
    report("memory mapped with MAP_GROWSDOWN does not grow under Weir: map all that is needed");
  }
  if ((call.d & MAP_TYPE) == kDroppable && (call.d & MAP_ANONYMOUS))
    call.d = (call.d & ~long{MAP_TYPE}) | MAP_PRIVATE;
}

void note_made_code(const Call& call) {
  if ((call.number == SYS_mprotect || call.number == SYS_mmap) && (call.c & PROT_EXEC) &&
      !maps_library(call))
    shared().memory.has_made_code = 1;
}

}  // namespace

long ChangeRules::make(Call& call) {
  say_what_differs(call);
  note_made_code(call);
  const long result = note_library(call, change(call));
  return page::dump_used(), result;
}

long ChangeRules::map_near_code(Call& call, uint64_t, int) {
  const long placed = call_kernel(call);
  return sys::failed(placed) ? 0 : placed;
}

long ChangeRules::map_shared(const Call& call, uint64_t, int) { return call_kernel(call); }

long ChangeRules::map_private(const Call& call, uint64_t, int) { return call_kernel(call); }

uint32_t ChangeRules::max_files_in_arena() {
  return sizeof(MemoryState::fixed_ranges) / sizeof(MemoryState::fixed_ranges[0]);
}

void ChangeRules::note_code(Range text) { trap::note_code(text); }

long ChangeRules::attach(const Call& call) { return attach_everywhere(call); }

long ChangeRules::detach(const Call& call) { return detach_everywhere(call); }

long ChangeRules::remap_pages(const Call&) {
  report("remap_file_pages fails under Weir: map the part of the file by mmap with MAP_FIXED");
  return -EINVAL;
}

namespace {

// --- one thread, and tasks will be processes

class AloneRecorded final : public ChangeRules {};
constinit AloneRecorded g_alone_recorded;

class Alone final : public ChangeRules {
 public:
  long attach(const Call& call) override {
    if (call.c & SHM_REMAP) return attach_everywhere(call);
    const long start = call_kernel(call);
    if (!sys::failed(start)) view::checked::note_unwatched(address(start));
    return start;
  }
  long detach(const Call& call) override { return call_kernel(call); }
  long remap_pages(const Call& call) override { return call_kernel(call); }
};
constinit Alone g_alone;

// --- tasks are processes: each maps what one of them maps

class InProcesses final : public ChangeRules {
 public:
  long make(Call& call) override;

  long take_huge(Call& call) override { return take_other_than_huge(call); }
  long map_near_code(Call& call, uint64_t size, int protection) override;
  bool stays_kernels(bool is_private, bool anonymous, int protection) override {
    return !is_private || (!anonymous && (!(protection & PROT_WRITE) || (protection & PROT_EXEC)));
  }
  long map_shared(const Call& call, uint64_t size, int protection) override {
    return map_plain(call, size, protection);
  }
  long map_private(const Call& call, uint64_t size, int protection) override;
  uint32_t max_files_in_arena() override { return 0; }
  void note_shared_write(const Call& call) override { tell_of_shared_write(call); }

  // All patch the library before it goes: stubs have the same addresses in all processes, and sites
  // the same numbers, as tasks keep these when they change processes.
  void before_unmap(Range range) override {
    if (runtime::has_patches(range)) runtime::let_all_catch_up();
  }
  void note_unmapped(Range range) override {
    page::remove_memory_segment(range.start, range.size());
    record_mapping({MappingKind::kUnmap, 0, 0, -1, range.start, range.size(), 0, 0, 0});
  }
  void replace(uint64_t start, uint64_t size) override { page::remove_memory_segment(start, size); }
  long check_move(const Call& call) override {
    return call.d & MREMAP_DONTUNMAP ? -EINVAL : 0;  // as before Linux 5.7
  }
  bool is_readable(int) override { return true; }
  uint64_t seen_at(uint64_t address) override { return page::shared_view_of(address); }
  uint64_t seen_bytes(uint64_t address, uint64_t size) override {
    const uint64_t there = page::backing_bytes_at(address);
    return there < size ? there : size;
  }
  bool open_reserved(uint64_t start, uint64_t size) override {
    return syscalls::open_reserved(start, size);
  }

  long begin_protect(uint64_t start, uint64_t size, int& protection,
                     bool is_shared_memory) override;
  void note_protected(uint64_t start, uint64_t size, int protection) override;
  bool holds_made_code(uint64_t address) override { return page::backing_bytes_at(address) != 0; }
  void note_code(Range) override {}

  bool note_shared_memory(Range range, int protection, int kept, uint64_t offset) override {
    page::remove_memory_segment(range.start, range.size());
    record_mapping({MappingKind::kMapSharedMemory, protection, MAP_SHARED | MAP_FIXED, kept,
                    range.start, page_up(range.size()), offset, 0, 0});
    return true;
  }
  void note_attached(Range range, int protection, long asked) override {
    page::remove_memory_segment(range.start, range.size());
    record_mapping({MappingKind::kAttachSharedMemory, protection, 0, -1, range.start, range.size(),
                    address(asked), 0, 0});
    runtime::let_all_catch_up();
    view::checked::note_unwatched(range.start);
  }
  void note_detached(Range range) override {
    record_mapping({MappingKind::kUnmap, 0, 0, -1, range.start, range.size(), 0, 0, 0});
    runtime::let_all_catch_up();
  }
  void let_all_follow() override { runtime::let_all_catch_up(); }
};
constinit InProcesses g_in_processes;

// A new thread's stack: none of it is in anybody's use.
bool fits_creation(const Call& call) {
  const uint64_t start = address(call.a);
  if (call.number == SYS_mprotect) return page::in_arena(start);
  constexpr long kOther = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_GROWSDOWN | MAP_HUGETLB | MAP_32BIT;
  return call.number == SYS_mmap && (call.d & MAP_ANONYMOUS) &&
         (call.d & MAP_TYPE) == MAP_PRIVATE && !(call.d & kOther) && !(call.c & PROT_EXEC);
}

long InProcesses::make(Call& call) {
  say_what_differs(call);
  note_made_code(call);
  Task& task = self();
  // glibc gives an ended thread's stack back before it keeps it for the next; what it keeps in all
  // is bounded.
  if (call.number == SYS_madvise && task.turn.state == TurnState::kHoldForEnd) return 0;
  begin_turn(EventKind::kMemory);
  // Nested in a longer turn: what this task wrote goes to the backing first, where the changes
  // below work.
  if (!fits_creation(call)) need_turn();
  if (task.turn.depth > 1 && !is_creating(task)) {
    view::current().find_writes(task);
    view::current().publish(task);
  }
  if (call.number == SYS_mincore) note_written();
  const long result = change(call);
  // The backing may have changed. Everything was published, but by who creates a task without a
  // turn.
  if (call.number != SYS_mincore && !is_creating(task)) view::current().refresh();
  end_turn();
  return result;
}

long InProcesses::map_near_code(Call& call, uint64_t size, int protection) {
  const bool low = call.d & MAP_32BIT;
  if (shared().memory.segment_count > kMaxMemorySegments / 2) return 0;
  const long held = sys::raw(
      SYS_mmap, low ? 0 : call.a, static_cast<long>(size), PROT_NONE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (low ? MAP_32BIT : MAP_FIXED_NOREPLACE), -1, 0);
  if (sys::failed(held)) return 0;
  call.a = held;
  call.d = (call.d & ~long{MAP_FIXED_NOREPLACE | MAP_32BIT}) | MAP_FIXED;
  return map_memory_segment(call, address(held), size, protection);
}

long InProcesses::map_private(const Call& call, uint64_t size, int protection) {
  const bool fixed = call.d & (MAP_FIXED | MAP_FIXED_NOREPLACE), anonymous = call.d & MAP_ANONYMOUS;
  const bool writable = protection & PROT_WRITE;
  if (fixed && (anonymous || writable))
    return map_memory_segment(call, address(call.a), size, protection);
  if (anonymous || (writable && !(protection & PROT_EXEC)))
    return map_anywhere(call, size, protection, !anonymous);
  return map_plain(call, size, protection);
}

long InProcesses::begin_protect(uint64_t start, uint64_t size, int& protection,
                                bool is_shared_memory) {
  if ((protection & PROT_WRITE) && !is_shared_memory &&  // from now on it is memory of the backing
      !runtime::convert_late(Range{start, start + size}))
    return -ENOMEM;
  const bool is_backed = page::backing_bytes_at(start) != 0;
  if (is_backed) protection = page::unexecuted(protection);  // code of the program's own making
  if (!is_backed && !page::has_protection(start, size)) return 0;
  return page::remember_protection(start, size, protection) ? 0 : -ENOMEM;
}

void InProcesses::note_protected(uint64_t start, uint64_t size, int protection) {
  record_mapping({MappingKind::kProtect, protection, 0, -1, start, size, 0, 0, 0});
  if (!(protection & PROT_EXEC) || page::backing_bytes_at(start)) return;
  shared().memory.text_pending = 1;  // a library's text
  runtime::patch_pending_text();
}

// --- tasks are threads: the kernel changes what they all have

class KernelsAlone final : public ChangeRules {
 public:
  long make(Call& call) override {
    note_made_code(call);
    return note_library(call, call_kernel(call));
  }
};
constinit KernelsAlone g_kernels_alone;

// The kernel takes the memory, and what is declared of it is over.
bool gives_back(const Call& call) {
  return call.number == SYS_munmap || call.number == SYS_mremap ||
         (call.number == SYS_mmap && (call.d & MAP_FIXED));
}

class InThreads : public ChangeRules {
 public:
  long make(Call& call) override {
    note_made_code(call);
    if (call.number == SYS_madvise) return call_kernel(call);
    begin_turn(EventKind::kMemory);
    if (gives_back(call)) view::current().forget(address(call.a), page_up(address(call.b)));
    const long result = note_library(call, call_kernel(call));
    note_made(call);
    end_turn();
    return result;
  }
  void note_code(Range) override {}
  void let_all_follow() override { runtime::let_all_catch_up(); }
  virtual void note_made(const Call&) {}

 protected:
  ~InThreads() = default;
};

class InFreeThreads final : public InThreads {};
constinit InFreeThreads g_in_threads;

// Order serial: program code is translated.
class InSerialThreads final : public InThreads {
 public:
  void note_made(const Call& call) override {
    if (gives_back(call) || call.number == SYS_mprotect)
      translate::on_mapping({address(call.a), address(call.a) + page_up(address(call.b))}, true);
  }
};
constinit InSerialThreads g_in_serial_threads;

ChangeRules* g_rules = &g_alone;

ChangeRules& rules_of_one_thread() {
  if (!plan().has_processes()) return g_kernels_alone;
  if (input::is_on()) return g_alone_recorded;
  return g_alone;
}

ChangeRules& rules_of_tasks() {
  if (plan().has_processes()) return g_in_processes;
  if (plan().is_serial()) return g_in_serial_threads;
  return g_in_threads;
}

}  // namespace

ChangeRules& change_rules() { return *g_rules; }

void use_change_rules(bool multi) { g_rules = multi ? &rules_of_tasks() : &rules_of_one_thread(); }

long on_memory(Call& call) {
  if (call.number == SYS_mlockall) return on_lock_all(call);
  if (call.number == SYS_remap_file_pages && input::is_on()) return on_remap_file_pages(call);
  return change_rules().make(call);
}

}  // namespace weir::syscalls
