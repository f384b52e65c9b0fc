// One table says which calls the stubs hand over; everything else goes to the kernel from the stub
// itself.
//
// A vfork child borrows the memory of the task that made it, its record included, while that task
// stands still; in it every call goes to the kernel as it is.

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "check/calls/call_order.h"
#include "check/core/attach.h"
#include "check/core/happens_before.h"
#include "code/patch/cancel_site.h"
#include "code/patch/patch.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/options.h"
#include "control/process.h"
#include "control/served.h"
#include "heap/guard/guard.h"
#include "memory/backing.h"
#include "memory/closed_pages.h"
#include "order/serial/serial.h"
#include "order/serial/stores/store_buffer.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "signal/heap_misuse.h"
#include "signal/names.h"
#include "signal/signals.h"
#include "sync/event.h"
#include "sys/descriptor.h"
#include "sys/libc.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/constant.h"
#include "syscall/static_program.h"
#include "syscall/stop_world.h"
#include "syscall/syscall.h"
#include "syscall/transfer.h"
#include "task/mapping_log.h"
#include "task/told_ids.h"
#include "view/view.h"

namespace weir::syscalls {

namespace {

namespace stores = order::serial::stores;

bool notes_descriptors() { return plan().checks_races() || checking::is_replayed(); }

void drain_stores(const Call& call) {
  if (!g_tasks_active || !stores::is_on() || !may_drain_stores(call.number)) return;
  Range range{0, ~uint64_t{0}};
  const auto start = static_cast<uint64_t>(call.a);
  switch (call.number) {
    case SYS_clone:
      if (call.a & CLONE_THREAD) return;
      break;
    case SYS_clone3: return;  // by glibc, of a thread; a process comes by clone
    case SYS_mprotect:
      if (call.c & PROT_WRITE) return;  // what stores need they still have
      break;
    case SYS_mmap:
      if (!(call.d & MAP_FIXED)) return;
      [[fallthrough]];
    case SYS_madvise: range = {start, start + static_cast<uint64_t>(call.b)}; break;
    default: break;
  }
  stores::drain_others(self(), stores::Cause::kCall, range);
}

// The schedule log names code by the file that is mapped there.
void note_code_mapped(const Call& call) {
  switch (call.number) {
    case SYS_mmap:
      if (!(call.c & PROT_EXEC) && !(call.d & MAP_FIXED)) return;
      break;
    case SYS_mprotect:
    case SYS_pkey_mprotect:
      if (!(call.c & PROT_EXEC)) return;
      break;
    case SYS_munmap:
    case SYS_mremap:
    case SYS_shmdt: break;
    default: return;
  }
  order::serial::note_code_mapped();
}

}  // namespace

bool is_same_anywhere(long number, long a, long b) {
  switch (number) {
    case SYS_futex: return wakes_own(a, b);
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_lseek:
    case SYS_open:
    case SYS_openat:
    case SYS_close:
    case SYS_fstat:
    case SYS_stat:
    case SYS_lstat:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_access:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_getdents64:
    case SYS_readlink:
    case SYS_readlinkat:
    case SYS_getcwd:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_ftruncate:
    case SYS_sched_yield: return true;
    default: return false;
  }
}

void go_where_it_belongs(long number, long a, long b) {
  if (runtime::g_is_in_place_process && !is_same_anywhere(number, a, b)) leave_in_place_process();
}

namespace {

// Without userfaultfd the kernel's list of mappings shows which pages Weir has closed. While the
// program reads that list, they are as the program wants them.
class MappingsShown {
 public:
  explicit MappingsShown(const Call& call) : is_on_(shows(call)) {
    if (is_on_) page::closed::open_all();
  }
  ~MappingsShown() {
    if (is_on_) page::closed::close_all();
  }
  MappingsShown(const MappingsShown&) = delete;
  MappingsShown& operator=(const MappingsShown&) = delete;

 private:
  static bool shows(const Call& call) {
    if (!shared().memory.maps_are_read || !page::closed::is_open()) return false;
    if (call.number != SYS_read && call.number != SYS_pread64) return false;
    char target[64] = {};
    sys::name_of_descriptor(call.a, target, sizeof target - 1);
    return starts_with(target, "/proc/") && ends_with(target, "maps");
  }

  bool is_on_;
};

}  // namespace

long call_kernel(const Call& call) {
  const MappingsShown shown(call);
  return input::call(call.number, call.a, call.b, call.c, call.d, call.e, call.f);
}

long sleep_in_kernel(Call& call, const char* what) {
  const MappingsShown shown(call);
  if (g_tasks_active) {
    input::note_written(call.number, call.a, call.b, call.c);
    outside_begin(what);
  }
  long result = input::sleeping_call(call.number, call.a, call.b, call.c, call.d, call.e, call.f);
  if (g_tasks_active) {
    outside_end();
    input::forget_written();
  }
  if (result == -EINTR && begins_again(call)) call.again = true;
  return result;
}

namespace {

bool has_second_word(const Call& call) {
  const long command = call.b & FUTEX_CMD_MASK;
  return command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE || command == FUTEX_WAKE_OP ||
         command == FUTEX_WAIT_REQUEUE_PI || command == FUTEX_CMP_REQUEUE_PI;
}

bool is_cancelled() {
  const Task& task = self();
  for (uint32_t i = 0; i < task.pending; i++) {
    if (task.signals.pending_signals[i].signal == kCancelSignal) return true;
  }
  return false;
}

}  // namespace

long make_simple(Call& call) {
  if (self().identity.in_vfork) return call_beside_hidden(call);
  if (!g_tasks_active) return call_recorded(call);
  return is_descriptor(call.number) ? on_descriptor(call) : call_kernel(call);
}

namespace {

long make_untold(Call& call) {
  // Invariant 3 of in_place_process.h.
  WEIR_CHECK(!runtime::g_is_in_place_process || is_same_anywhere(call.number, call.a, call.b));
  long result;
  if (is_of_static_program(call.number) && on_static_program(call, result)) return result;
  if (plan().is_serial() || input::is_on()) note_deadly(call);
  if (input::recording()) note_filter(call);
  const OpenedDevice device(call);
  if (plan().is_serial()) {
    drain_stores(call);
    note_code_mapped(call);
  }
  if (goes_through_memory(call)) {
    result = move_through_memory(call);
  } else if (call.number == SYS_execve || call.number == SYS_execveat ||
             (call.number == SYS_ptrace && !input::is_on())) {
    result = on_process(call);
  } else if (self().identity.in_vfork) {
    result = make_for_borrower(call);
  } else if (tells_attached(call.number, call.b)) {
    result = tell_attached(call);
  } else if (copies_own(call)) {
    result = copy_own(call);
  } else {
    result = make_by_number(call);
  }
  await_passed_on(call, result);
  note_private_file(call, result);
  if (served::g_watches) served::note({call.number, call.a, call.b, call.c, call.d, result});
  device.note(result);
  return result;
}

long make_call(Call& call) {
  if (!has_monitor() || !tasks::tells_ids(call.number)) return make_untold(call);
  const Call c = call;  // as the program made it
  return tasks::tell_ids(c.number, c.a, c.b, c.c, c.d, make_untold(call));
}

}  // namespace

void on_syscall(Frame& frame, const Site& site) {
  Call call{frame,
            static_cast<long>(frame.rax),
            static_cast<long>(frame.rdi),
            static_cast<long>(frame.rsi),
            static_cast<long>(frame.rdx),
            static_cast<long>(frame.r10),
            static_cast<long>(frame.r8),
            static_cast<long>(frame.r9)};
  if (is_made_in_stopped_world(call, site)) return;
  Task& task = self();
  const bool uses_shared_memory = shared_memory::g_active;
  const bool is_event = is_task();
  const bool has_keys = plan().has_keys() && is_event;
  if (has_keys) view::current().open_keys(task);
  if (is_futex(call.number)) {
    if (uses_shared_memory)
      shared_memory::lend(static_cast<uint64_t>(call.a),
                          has_second_word(call) ? static_cast<uint64_t>(call.e) : 0);
  } else if ((plan().gives_pages() && is_event) || has_keys || uses_shared_memory) {
    task.pages.holds_call = static_cast<uint32_t>(call.number) + 1;
    if (view::current().has_to_catch_up(task)) view::current().catch_up(task);
    input::hold_memory(task);
  }
  if (uses_shared_memory) {
    take_file(task, call);
    shared_memory::begin_call();
  }
  const bool is_checked = happens::g_checked && !task.identity.in_vfork;
  long result;
  if (is_checked || (notes_descriptors() && !task.identity.in_vfork)) {
    checking::CallOrder order({call.number, {call.a, call.b, call.c, call.d, call.e, call.f}},
                              is_checked);
    result = constant::is_on() ? call_constant(call, make_call) : make_call(call);
    task.pages.holds_call = 0;
    order.end(result);
  } else {
    result = constant::is_on() ? call_constant(call, make_call) : make_call(call);
    task.pages.holds_call = 0;
  }
  if (call.number == SYS_write && result == -EINVAL && has_monitor() && !task.identity.in_vfork)
    result = trap::name_other(call.a, call.b, call.c);
  if (guard::g_is_on && result == -EFAULT && !task.identity.in_vfork) {
    const long arguments[] = {call.a, call.b, call.c, call.d, call.e, call.f};
    trap::look_at_heap_call(task, arguments, 6);
  }
  if (uses_shared_memory) {
    if (input::recording()) note_file_change(task, call);
    shared_memory::end_lending();
    shared_memory::end_call(task);
  }
  if (!input::is_on() && runtime::g_is_in_place_process &&
      __atomic_load_n(&task.in_place.wanted_back, __ATOMIC_ACQUIRE))
    leave_in_place_process();
  if (g_tasks_active) self().spent.counters.syscalls++;
  if (call.again && is_cancel_site(site) && input::log_value(input::What::kFlags, is_cancelled)) {
    call.again = false;
    result = -EINTR;
  }
  if (call.again) {
    frame.rip = site.is_trap ? site.window : site.stub;
    frame.rax = static_cast<uint64_t>(call.number);
  } else {
    frame.rax = static_cast<uint64_t>(result);
  }
}

}  // namespace weir::syscalls
