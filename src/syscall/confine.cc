// A program restricts itself by Landlock: from then on it opens only files that its rules allow.
// What of Weir runs in its processes is restricted too, and must go on reading /proc: the memory
// map before code is patched or memory is converted, the page map of each new task's process, the
// signal masks of tasks. So each set of rules that the program is about to use gets one more rule,
// which allows reading below /proc and nothing else. (A replay does not ask the kernel about
// Landlock, and is not restricted.)

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "sync/event.h"
#include "sys/maps.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/syscall.h"
#include "task/monitor_call.h"
#include "task/spawn.h"

namespace weir::syscalls {

void allow_own_files(long rules) {
  constexpr long kBeneathPath = 1;                  // LANDLOCK_RULE_PATH_BENEATH
  constexpr uint64_t kRights[] = {1 << 2, 1 << 3};  // to read a file, a folder
  struct [[gnu::packed]] {
    uint64_t allowed;
    int32_t folder;
  } rule{};
  const long folder = sys::raw(SYS_open, reinterpret_cast<long>("/proc"), O_PATH | O_CLOEXEC);
  if (sys::failed(folder)) return;
  rule.folder = static_cast<int32_t>(folder);
  // A rule may name only what the set restricts.
  for (const uint64_t allowed : kRights) {
    rule.allowed = allowed;
    sys::raw(SYS_landlock_add_rule, rules, kBeneathPath, reinterpret_cast<long>(&rule), 0);
  }
  sys::raw(SYS_close, folder);
}

// Likewise where it changes its root to a folder without /proc: a descriptor of /proc is kept.
void keep_own_files() {
  if (*sys::g_proc_folder) return;
  const long folder = page::open_hidden(SYS_open, reinterpret_cast<long>("/proc"),
                                        O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!sys::failed(folder)) shared().program.proc_folder = static_cast<int>(folder);
}

// Likewise where it filters its system calls.
long install_filter(Call& call) {
  call.c = input::with_own_calls(call.number, call.a, call.b, call.c);
  return call_kernel(call);
}

// The rest concerns one thread alone, or all of them, which the kernel cannot tell where threads
// are processes. What concerns one is its process's from then on: no other task is to run there,
// and it runs in no other.

namespace {

bool has_other_tasks() { return shared().order.live > 1; }

void keep_to_own_process() {
  self().identity.changed = 1;
  shared().in_place_process.closed = 1;
}

long refuse(const char* what, long error) {
  report("%s in a program with threads is not supported under Weir but with --view direct", what);
  return error;
}

}  // namespace

bool is_of_one_thread(long number) {
  return number == SYS_unshare || number == SYS_setns || number == SYS_seccomp ||
         number == SYS_setsid;
}

long on_call_of_one_thread(Call& call) {
  switch (call.number) {
    case SYS_setsid:
      // No process can be brought into another session, and a task's would be none of the
      // program's.
      return refuse("setsid()", -EPERM);
    case SYS_seccomp:
      if (call.a == SECCOMP_SET_MODE_STRICT)
        return refuse("seccomp(SECCOMP_SET_MODE_STRICT)", -EINVAL);
      if (call.a == SECCOMP_SET_MODE_FILTER && (call.b & SECCOMP_FILTER_FLAG_TSYNC))
        return refuse("seccomp(SECCOMP_FILTER_FLAG_TSYNC)", -EINVAL);
      break;
    case SYS_unshare:
      // The files that are mapped are handed from process to process by their descriptors.
      if ((call.a & CLONE_FILES) && has_other_tasks())
        return refuse("unshare(CLONE_FILES)", -EINVAL);
      if ((call.a & (CLONE_THREAD | CLONE_SIGHAND | CLONE_VM | CLONE_NEWUSER)) && has_other_tasks())
        return -EINVAL;  // as the kernel, which does not see the threads
      break;
    default: break;
  }
  keep_to_own_process();
  return install_filter(call);
}

// The kernel has one tracer for what is traced, and tells it alone. That would be one task's
// process, or, of a child that asks to be traced, the monitor; the program waits for ever.
long on_trace(Call& call) {
  const bool asks = call.a == PTRACE_TRACEME && shared().program.forked_beside_tasks;
  if (input::is_on() || !(has_monitor() || asks)) return call_kernel(call);
  report(
      "a debugger with threads does not work under Weir but with --view direct: ptrace() returns "
      "EPERM. Start it without Weir; gdb looks at a recording by weir replay --gdb");
  return -EPERM;
}

// PR_SET_PDEATHSIG, PR_GET_PDEATHSIG: the program's parent is the monitor's. That of a task's
// process is the monitor itself, whose death must end the task.
long on_parent_death(const Call& call) {
  const bool asks = call.a == PR_GET_PDEATHSIG;
  begin_turn(EventKind::kSyscall);
  if (asks) note_written();
  auto* answer = shared().monitor_call.answer;
  long result =
      tasks::call_in_monitor(SYS_prctl, call.a, asks ? reinterpret_cast<long>(answer) : call.b);
  if (asks && result == 0) result = trap::to_program(call.b, answer, sizeof(int));
  end_turn();
  return result;
}

// The kernel watches the thread that has forked the process; under Weir that is the whole program.
void note_parent_death(const Call& call) {
  if (call.a != PR_SET_PDEATHSIG || !call.b || !shared().program.forked_by_thread) return;
  if (__atomic_exchange_n(&shared().program.forked_by_thread, 0u, __ATOMIC_RELAXED))
    report(
        "prctl(PR_SET_PDEATHSIG): a thread has forked this process, but under Weir the signal "
        "comes when the program ends, not with the thread");
}

// Calls that name a thread or the program by its id, where the kernel knows another one; and keys,
// of which the kernel keeps some for each process.

namespace {

// The program's id is the monitor's, which has neither the program's memory nor its descriptors.
bool is_own(int id) { return id == shared().program.shown_pid || tasks::find_by_virtual_tid(id); }

long kernel_id(long id) {
  const int asked = static_cast<int>(id);
  if (tasks::find_by_virtual_tid(asked)) return tasks::real_tid(asked);
  return is_own(asked) ? self().identity.tid : id;
}

// What threads share, and processes that stand for threads do not.
bool is_shared_by_threads(int what) { return what == KCMP_VM || what == KCMP_SIGHAND; }

long compare(Call& call) {
  const auto first = static_cast<int>(call.a), second = static_cast<int>(call.b);
  if (plan().has_processes() && is_own(first) && is_own(second) &&
      is_shared_by_threads(static_cast<int>(call.c)))
    return 0;
  call.a = kernel_id(call.a);
  call.b = kernel_id(call.b);
  return call_kernel(call);
}

bool names_ring(long argument) { return static_cast<int>(argument) == KEY_SPEC_PROCESS_KEYRING; }

bool names_process_ring(const Call& call) {
  switch (call.number) {
    case SYS_add_key: return names_ring(call.e);
    case SYS_request_key: return names_ring(call.d);
    default: return names_ring(call.b) || names_ring(call.c) || names_ring(call.e);
  }
}

void say_keys() {
  if (__atomic_exchange_n(&shared().program.keys_told, 1u, __ATOMIC_RELAXED)) return;
  report(
      "where threads are processes each has a process keyring of its own: add_key() and keyctl() "
      "return EOPNOTSUPP for it, and keys that are in the program's are not found in threads. Put "
      "them into the session's, or use --view direct");
}

long use_keys(Call& call) {
  if (!plan().has_processes()) return call_kernel(call);
  if (names_process_ring(call)) {
    say_keys();
    return -EOPNOTSUPP;
  }
  self().identity.changed = 1;  // a thread's keyring is its process's
  const long result = call_kernel(call);
  if (result == -EACCES || result == -ENOKEY) say_keys();
  return result;
}

// The thread that is to get a descriptor's signals.
long set_owner(const Call& call) {
  f_owner_ex owner;
  if (trap::from_program(owner, call.c) != 0 || owner.type != F_OWNER_TID) return call_kernel(call);
  owner.pid = static_cast<int>(kernel_id(owner.pid));
  Call to_kernel = call;
  to_kernel.c = reinterpret_cast<long>(&owner);
  return call_kernel(to_kernel);
}

long tell_owner(const Call& call) {
  const long result = call_kernel(call);
  f_owner_ex owner;
  if (result != 0 || trap::from_program(owner, call.c) != 0 || owner.type != F_OWNER_TID)
    return result;
  const int64_t shown = input::log_value(input::What::kTid, [&] {
    const Shared& s = shared();
    for (TaskId i = 0; i < s.order.high_task; i++)
      if (s.tasks[i].identity.tid == owner.pid) return s.tasks[i].identity.virtual_tid;
    return owner.pid;
  });
  owner.pid = static_cast<int>(shown);
  return trap::to_program(call.c, owner);
}

// capget and capset name a thread in their header, and leave there which version the kernel knows.
long on_capabilities(const Call& call) {
  __user_cap_header_struct header;
  if (call.number == SYS_capset) self().identity.changed = 1;
  if (trap::from_program(header, call.a) != 0 || header.pid <= 0) return call_kernel(call);
  const uint32_t version = header.version;
  header.pid = static_cast<int>(kernel_id(header.pid));
  Call to_kernel = call;
  to_kernel.a = reinterpret_cast<long>(&header);
  const long result = call_kernel(to_kernel);
  if (header.version == version) return result;
  return trap::to_program(call.a, header.version) == 0 ? result : -EFAULT;
}

}  // namespace

bool names_own(long number) {
  switch (number) {
    case SYS_kcmp:
    case SYS_capget:
    case SYS_capset:
    case SYS_migrate_pages:
    case SYS_move_pages:
    case SYS_add_key:
    case SYS_request_key:
    case SYS_keyctl: return true;
    default: return false;
  }
}

long on_own_name(Call& call) {
  switch (call.number) {
    case SYS_kcmp: return compare(call);
    case SYS_capget:
    case SYS_capset: return on_capabilities(call);
    case SYS_migrate_pages:
    case SYS_move_pages:
      if (is_own(static_cast<int>(call.a))) call.a = 0;  // the caller's own process
      return call_kernel(call);
    default: return use_keys(call);
  }
}

long control_descriptor(const Call& call) {
  if (call.number == SYS_fcntl && g_tasks_active) {
    if (call.b == F_SETOWN_EX) return set_owner(call);
    if (call.b == F_GETOWN_EX) return tell_owner(call);
  }
  return call_kernel(call);
}

// The kernel was never told of the list: it would clear words behind the View's back.
long on_get_robust_list(Call& call) {
  Task* task = call.a ? tasks::find_by_virtual_tid(static_cast<int>(call.a)) : &self();
  if (!task) return call_kernel(call);
  constexpr uint64_t kHeadSize = 24;  // linux/futex.h, struct robust_list_head
  const bool wrong = trap::to_program(call.c, kHeadSize) != 0 ||
                     trap::to_program(call.b, task->identity.robust_list) != 0;
  return wrong ? -EFAULT : 0;
}

// Weir's own use of the register %gs is none of the program's, which may not set it.
long tell_base(const Call& call) { return trap::to_program(call.b, uint64_t{0}); }

}  // namespace weir::syscalls
