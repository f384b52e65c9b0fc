// Making, ending and naming processes and threads.

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "check/executed.h"
#include "code/sites/site_table.h"
#include "control/control.h"
#include "control/process.h"
#include "effects/named_thread.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "record/stream.h"
#include "signal/signals.h"
#include "sync/event.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "syscall/clone.h"
#include "syscall/syscall.h"
#include "task/exec/environment.h"
#include "task/exec/execute.h"
#include "task/exec/outside.h"
#include "task/exec/watched.h"
#include "task/fork.h"
#include "task/forward.h"
#include "task/monitor_call.h"
#include "task/pidfd.h"
#include "task/spawn.h"

namespace weir::syscalls {

namespace {

long wait_in_kernel(Call& call) {
  begin_turn(EventKind::kSyscall);
  const long result = sleep_in_kernel(call, "child process");
  end_turn();
  return result;
}

long on_wait4(Call& call) {
  constexpr int kOptions = WNOHANG | WUNTRACED | WCONTINUED | tasks::kWaitKinds;
  const int options = static_cast<int>(call.c), pid = static_cast<int>(call.a);
  if (options & ~kOptions) return -EINVAL;
  if (pid == INT_MIN) return -ESRCH;
  tasks::FoundChild found;
  begin_turn(EventKind::kSyscall);
  const int kind = pid > 0 ? P_PID : pid == -1 ? P_ALL : P_PGID;
  long result =
      tasks::wait_child(kind, pid > 0 ? pid : -pid, WEXITED | (options & kOptions), found);
  end_turn();
  if (result > 0) {
    if (call.b && trap::to_program(call.b, found.status) != 0) return -EFAULT;
    if (call.d && trap::to_program(call.d, found.usage, sizeof found.usage) != 0) return -EFAULT;
  } else if (result == -EINTR && trap::restarts()) {
    call.again = true;
  }
  return result;
}

long on_waitid(Call& call) {
  if (call.a > P_PIDFD) return call_kernel(call);
  constexpr int kNews = WEXITED | WSTOPPED | WCONTINUED,
                kOptions = kNews | WNOHANG | WNOWAIT | tasks::kWaitKinds;
  const int options = static_cast<int>(call.d);
  int kind = static_cast<int>(call.a), id = static_cast<int>(call.b);
  if ((options & ~kOptions) || !(options & kNews)) return -EINVAL;
  if ((kind == P_PID && id <= 0) || (kind >= P_PGID && id < 0)) return -EINVAL;
  tasks::FoundChild found;
  begin_turn(EventKind::kSyscall);
  if (kind == P_PIDFD) {
    const int64_t named =
        input::log_value(input::What::kChild, [id] { return tasks::child_of_pidfd(id); });
    kind = P_PID;
    id = static_cast<int>(named);
  }
  long pid = id < 0 ? id : tasks::wait_child(kind, id, options, found);
  end_turn();
  if (pid < 0) {
    if (pid == -EINTR && trap::restarts()) call.again = true;
    return pid;
  }
  if (pid > 0 && call.e && trap::to_program(call.e, found.usage, sizeof found.usage) != 0)
    return -EFAULT;
  if (!call.c) return 0;
  struct {
    int signal, error, code, unused, pid;
    uint32_t user;
    int status;
  } info{};
  if (pid > 0) {
    info.signal = SIGCHLD;
    info.pid = static_cast<int>(pid);
    info.user = found.user;
    tasks::describe_child(found.status, info.code, info.status);
  }
  return trap::to_program(call.c, info);
}

// The program's group is the monitor's and all its tasks'; a child of the program is the monitor's
// child.
long on_setpgid(const Call& call) {
  Shared& s = shared();
  const long pid = call.a ? call.a : s.program.shown_pid;
  const long group = call.b ? call.b : pid;
  begin_turn(EventKind::kSyscall);
  const long result = tasks::call_in_monitor(SYS_setpgid, pid, group);
  for (uint32_t p = 0; result == 0 && pid == s.program.shown_pid && p < s.processes.high; p++) {
    if (s.processes.entries[p].pid > 0)
      tasks::call_in_monitor(SYS_setpgid, s.processes.entries[p].pid, group);
  }
  end_turn();
  return result;
}

// Replaying, where it did not fail: executes what was executed then, by way of the monitor.
[[noreturn]] void execute_recorded(Task& task, long argv, long envp) {
  const channel::Entry* entry = recording::await_image(task);
  if (!entry) recording::ended(task);
  const recording::Execution execution = recording::execution_of(task, *entry, argv);
  const long failed = tasks::execute_program(AT_FDCWD, reinterpret_cast<long>(execution.path),
                                             execution.argv, envp, 0);
  recording::diverged(task, *entry, "a program cannot be executed: error", failed);
}

// Returns where it failed.
long execute_by_monitor(const Call& call) {
  const bool at = call.number == SYS_execveat;
  if (input::execution_fails(self())) return input::log_number(input::What::kMonitorCall, 0);
  if (input::replaying()) execute_recorded(self(), at ? call.c : call.b, at ? call.d : call.c);
  long result = at ? tasks::execute_program(static_cast<int>(call.a), call.b, call.c, call.d,
                                            static_cast<int>(call.e))
                   : tasks::execute_program(AT_FDCWD, call.a, call.b, call.c, 0);
  if (result == tasks::kAskKernel)
    result = sys::raw(call.number, call.a, call.b, call.c, call.d, call.e);
  return input::log_number(input::What::kMonitorCall, result);
}

long execute_here(Call& call) {
  const tasks::WatchedExecution watched;
  return call_kernel(call);
}

// execve, execveat.
long on_execute(Call& call) {
  const bool at = call.number == SYS_execveat,
             monitored = has_monitor() && !self().identity.in_vfork;
  tasks::Hosted hosted;
  bool is_outside = false;
  const bool is_hosted =
      at ? runtime::look_at_executed(static_cast<int>(call.a), call.b, static_cast<int>(call.e),
                                     hosted, is_outside)
         : runtime::look_at_executed(AT_FDCWD, call.a, 0, hosted, is_outside);
  if (monitored) begin_turn(EventKind::kSyscall);
  long result;
  {
    // Until the turn ends: then the task may go on in another process (control/in_place_process.h).
    const tasks::ExecutedEnvironment environment(self(), at ? call.c : call.b, at ? call.d : call.c,
                                                 at ? static_cast<int>(call.a) : AT_FDCWD,
                                                 at ? call.b : call.a,
                                                 is_hosted ? &hosted : nullptr);
    (at ? call.d : call.c) = environment.variables();
    const int pid = monitored ? shared().program.shown_pid : static_cast<int>(sys::raw(SYS_getpid));
    const checking::Execution note(is_outside ? checking::kNoNote : pid, at ? call.b : call.a);
    (at ? call.c : call.b) = environment.arguments();
    if (environment.is_hosted()) {
      (at ? call.b : call.a) = reinterpret_cast<long>(tasks::host_file());
      if (at) call.e = 0;
    }
    if (monitored) result = execute_by_monitor(call);
    else result = execute_here(call);
  }
  if (monitored) end_turn();
  return result;
}

long open_first_pidfd(const Call& call) {
  const long made = call_kernel(call);
  if (made >= 0 && !input::replaying())
    tasks::note_pidfd(static_cast<int>(made), static_cast<int>(call.a));
  return made;
}

long on_pidfd_open(const Call& call) {
  begin_turn(EventKind::kSyscall);
  const int pid = static_cast<int>(call.a), flags = static_cast<int>(call.b);
  long result = call_kernel(call);
  if (result == -ESRCH)
    result =
        input::log_value(input::What::kChild, [=] { return tasks::pidfd_of_ended(pid, flags); });
  if (result >= 0 && !input::replaying()) tasks::note_pidfd(static_cast<int>(result), pid);
  end_turn();
  return result;
}

// The call is for the thread alone, and stays with it as long as it lives.
void note_changed(int tid) {
  Task* task = tid > 0 ? tasks::find_by_virtual_tid(tid) : &self();
  if (task) task->identity.changed = 1;
}

// Calls that name a thread by its id.
long on_named_thread(Call& call) {
  long& thread = effects::named_thread(call.number, call.a) == 0 ? call.a : call.b;
  if (effects::changes_thread(call.number)) note_changed(static_cast<int>(thread));
  if (g_tasks_active) thread = tasks::real_tid(static_cast<int>(thread));
  return call_kernel(call);
}

// Order free and View direct leave a program's calls to it, waits too.
bool makes_own_calls() {
  return plan().is_deterministic() || plan().has_processes() || input::is_on();
}

// What would keep the runtime itself from its work.
bool is_refused_control(const Call& call) {
  constexpr int kUserDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
  const int what = static_cast<int>(call.a);
  const char* name = what == PR_SET_TSC && call.b == PR_TSC_SIGSEGV ? "PR_SET_TSC"
                     : what == kUserDispatch && call.b != 0         ? "PR_SET_SYSCALL_USER_DISPATCH"
                     : what == PR_SET_SECCOMP && call.b == SECCOMP_MODE_STRICT && makes_own_calls()
                         ? "PR_SET_SECCOMP, SECCOMP_MODE_STRICT"
                         : nullptr;
  if (!name) return false;
  report("prctl(%s) is not supported under Weir: it returns EINVAL", name);
  return true;
}

void note_control(const Call& call) {
  if (call.a == PR_SET_NAME) shared().program.named = 1;
  else if (call.a != PR_GET_NAME) note_changed(0);
}

// Children are the monitor's.
long on_subreaper(const Call& call) {
  Shared& s = shared();
  if (call.a == PR_GET_CHILD_SUBREAPER)
    return trap::to_program(call.b, static_cast<int>(s.processes.subreaper));
  begin_turn(EventKind::kSyscall);
  const long result = tasks::call_in_monitor(SYS_prctl, call.a, call.b);
  if (result == 0) s.processes.subreaper = call.b != 0;
  end_turn();
  return result;
}

// Where there are tasks the first one's stack is memory like other memory, as large as its limit
// was. Now it may be larger.
void let_stack_grow(Call call, long wanted) {
  rlimit limit{};
  Shared& s = shared();
  const uint64_t top = s.program.stack_limit;
  if (!has_monitor() || !top || trap::from_program(limit, wanted) != 0) return;
  const uint64_t size = page_up(page::stack_size(limit.rlim_cur));
  uint64_t start = top;
  for (uint32_t i = s.memory.segment_count; i-- > 0;) {
    const MemorySegment& segment = s.memory.segments[i];
    if (!segment.live || segment.start + segment.size != start) continue;
    start = segment.start;
    i = s.memory.segment_count;
  }
  if (start == top || top - start >= size) return;
  call.number = SYS_mmap;
  call.a = static_cast<long>(top - size);
  call.b = static_cast<long>(size - (top - start));
  call.c = PROT_READ | PROT_WRITE;
  call.d = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  call.e = -1;
  on_memory(call);  // what lies in the way stops a stack in the kernel, too
}

// Limits are one process's; all of them are the program's.
long on_limits(Call& call) {
  const bool old_form = call.number == SYS_setrlimit;
  if (!old_form && g_tasks_active && tasks::find_by_virtual_tid(static_cast<int>(call.a)))
    call.a = 0;  // a thread's limits are its program's
  const long pid = old_form ? 0 : call.a;
  const long resource = old_form ? call.a : call.b, wanted = old_form ? call.b : call.c;
  long result = call_kernel(call);
  if (result != 0 || !wanted || (pid != 0 && pid != shared().program.shown_pid)) return result;
  if (resource == RLIMIT_STACK) {  // how far the stack goes is not only an answer
    if (input::replaying() && sys::raw(SYS_prlimit64, 0, resource, wanted, 0) != 0) {
      report(
          "the stack's limit, which the program has set when it was recorded, cannot be set now");
      die(125);
    }
    let_stack_grow(call, wanted);
  }
  if (!has_monitor() || input::replaying()) return result;
  Shared& s = shared();
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (s.processes.entries[p].pid > 0)
      sys::raw(SYS_prlimit64, s.processes.entries[p].pid, resource, wanted, 0);
  }
  sys::raw(SYS_prlimit64, s.program.monitor, resource, wanted, 0);
  return 0;
}

long on_control(Call& call) {
  if (is_refused_control(call)) return -EINVAL;
  note_parent_death(call);
  note_control(call);
  return install_filter(call);
}

long on_monitored_control(Call& call) {
  switch (call.a) {
    case PR_SET_PDEATHSIG:
    case PR_GET_PDEATHSIG: return on_parent_death(call);
    case PR_SET_CHILD_SUBREAPER:
    case PR_GET_CHILD_SUBREAPER: return on_subreaper(call);
    case PR_GET_TID_ADDRESS:
      if (!self().identity.clear_child_tid) break;
      return trap::to_program(call.b, self().identity.clear_child_tid);
    case PR_SET_SECCOMP: shared().in_place_process.closed = 1; break;
    default: break;
  }
  return on_control(call);
}

long on_signalfd(const Call& call) {
  const TurnScope turn(EventKind::kSyscall);
  const long result = call_kernel(call);
  uint64_t mask;
  if (result >= 0 && trap::from_program(mask, call.b) == 0) {
    shared().signals.signalfd_mask |= mask;
    shared().signals.signalfd_task = self().id;
  }
  return result;
}

// What is the same before the first thread and after it.
long on_process_always(Call& call) {
  switch (call.number) {
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork: return on_clone_call(call);
    case SYS_execve:
    case SYS_execveat: return on_execute(call);
    case SYS_arch_prctl:
      if (call.a == ARCH_SET_FS) sys::g_has_glibc_thread = false;  // Go, and static programs
      if (call.a == ARCH_SET_GS) {
        report("the program uses the register %%gs itself (arch_prctl), %s", kNeedsBase);
        die(125);
      }
      return call.a == ARCH_GET_GS ? tell_base(call) : call_kernel(call);
    case SYS_setrlimit:
    case SYS_prlimit64: return on_limits(call);
    case SYS_signalfd4: return on_signalfd(call);
    case SYS_chroot:
      if (!input::replaying()) keep_own_files();
      return call_kernel(call);
    case SYS_landlock_restrict_self:
      if (!input::replaying()) allow_own_files(call.a);
      return call_kernel(call);
    case SYS_rseq: return -ENOSYS;  // the kernel would write to the program's memory at any moment
    case SYS_prctl: return on_control(call);
    case SYS_ptrace: return on_trace(call);
    default:
      if (is_of_one_thread(call.number)) return install_filter(call);
      if (effects::named_thread(call.number, call.a) >= 0) return on_named_thread(call);
      if (g_tasks_active && effects::changes_thread(call.number)) note_changed(0);
      return call_kernel(call);
  }
}

// Before the first thread.
long on_process_alone(Call& call) {
  switch (call.number) {
    case SYS_exit:
    case SYS_exit_group: tasks::exit_program(static_cast<int>(call.a) & 0xff);
    case SYS_wait4:
    case SYS_waitid:
    case SYS_setpgid:
    case SYS_getpid:
    case SYS_getppid:
    case SYS_get_robust_list: return call_kernel(call);
    case SYS_gettid: return input::is_on() ? self().identity.virtual_tid : call_kernel(call);
    case SYS_pidfd_open: return plan().has_processes() ? open_first_pidfd(call) : call_kernel(call);
    case SYS_set_robust_list: {
      const long result = call_kernel(call);
      if (result == 0) self().identity.robust_list = static_cast<uint64_t>(call.a);
      return result;
    }
    case SYS_set_tid_address:
      self().identity.clear_child_tid = static_cast<uint64_t>(call.a);
      sys::raw(SYS_set_tid_address, call.a);
      return self().identity.virtual_tid;
    default: return on_process_always(call);
  }
}

// Among tasks.
long on_process_of_task(Call& call) {
  switch (call.number) {
    case SYS_exit: tasks::finish(static_cast<int>(call.a) & 0xff);
    case SYS_exit_group:
      if (has_short_turns())
        begin_turn(EventKind::kExit);  // it comes after the turns that were before it
      tasks::exit_program(static_cast<int>(call.a) & 0xff);
    case SYS_wait4: return wait_in_kernel(call);
    case SYS_waitid: return call.a > P_PIDFD ? call_kernel(call) : wait_in_kernel(call);
    case SYS_setpgid:
    case SYS_getpid:
    case SYS_getppid:
    case SYS_pidfd_open: return call_kernel(call);
    case SYS_gettid: return self().identity.virtual_tid;
    case SYS_set_robust_list: self().identity.robust_list = static_cast<uint64_t>(call.a); return 0;
    case SYS_get_robust_list: return on_get_robust_list(call);
    case SYS_set_tid_address:
      self().identity.clear_child_tid = static_cast<uint64_t>(call.a);
      return self().identity.virtual_tid;
    default: return names_own(call.number) ? on_own_name(call) : on_process_always(call);
  }
}

// Among tasks that are processes: the program's children and its id are the monitor's.
long on_monitored_process(Call& call) {
  switch (call.number) {
    case SYS_wait4: return on_wait4(call);
    case SYS_waitid: return on_waitid(call);
    case SYS_pidfd_open: return on_pidfd_open(call);
    case SYS_setpgid: return on_setpgid(call);
    case SYS_getpid: return shared().program.shown_pid;
    case SYS_getppid: return shared().program.parent;
    case SYS_prctl: return on_monitored_control(call);
    default:
      return is_of_one_thread(call.number) ? on_call_of_one_thread(call) : on_process_of_task(call);
  }
}

}  // namespace

bool is_process_alone(long number) {
  switch (number) {
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
    case SYS_execve:
    case SYS_execveat:
    case SYS_exit:
    case SYS_exit_group:
    case SYS_set_robust_list:
    case SYS_set_tid_address:
    case SYS_arch_prctl:
    case SYS_rseq:
    case SYS_signalfd4:
    case SYS_chroot:
    case SYS_prctl:
    case SYS_pidfd_open:
    case SYS_ptrace:
    case SYS_landlock_restrict_self: return true;
    default: return false;
  }
}

bool is_process(long number) {
  switch (number) {
    case SYS_setrlimit:
    case SYS_prlimit64:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_setpgid:
    case SYS_getpid:
    case SYS_gettid:
    case SYS_getppid:
    case SYS_get_robust_list: return true;
    default:
      return is_process_alone(number) || is_of_one_thread(number) || names_own(number) ||
             effects::may_name_thread(number) || effects::changes_thread(number);
  }
}

long on_process(Call& call) {
  if (!g_tasks_active) return on_process_alone(call);
  return has_monitor() ? on_monitored_process(call) : on_process_of_task(call);
}

}  // namespace weir::syscalls
