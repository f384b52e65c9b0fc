// The monitor: the program's original process, once its threads are processes. It keeps the pid
// that the outside world knows. It is the parent of every task, and of every child that the program
// makes. It ends as the program ends: with its exit status, or by its signal. It runs no program
// code and holds no lock for long.
//
// What can go wrong: the monitor is killed (every task dies with it by PR_SET_PDEATHSIG); a task
// dies (the monitor ends all the others, and then itself by the same signal; the core, if any, is
// the task's, and the monitor switches its own off).

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/bytes.h"
#include "code/patch/entry.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "record/input.h"
#include "signal/forward.h"
#include "signal/queue.h"
#include "signal/signals.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "task/exec/watched.h"
#include "task/fork.h"
#include "task/forward.h"
#include "task/profile.h"
#include "task/spawn.h"

namespace weir::tasks {

namespace {

constexpr uint64_t kMonitorStack = 64 << 10;

void kill_tasks() {
  Shared& s = shared();
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (s.processes.entries[p].pid > 0) sys::raw(SYS_kill, s.processes.entries[p].pid, SIGKILL);
  }
}

// Ends what is left of the tasks; children that the program made live on, as they would.
void reap_tasks() {
  Shared& s = shared();
  for (;;) {
    kill_tasks();
    bool left = false;
    for (uint32_t p = 0; p < s.processes.high; p++) {
      const int pid = __atomic_load_n(&s.processes.entries[p].pid, __ATOMIC_ACQUIRE);
      if (pid <= 0) continue;
      sys::raw(SYS_kill, pid, SIGKILL);  // it may have been in the making when all were killed
      long result = sys::raw(SYS_wait4, pid, 0, kWaitAll, 0);
      if (result == -EINTR) {
        left = true;
      } else {
        s.processes.entries[p].pid = 0;
      }
    }
    if (!left) return;
  }
}

[[noreturn]] void end_by_signal(int signal) {
  rlimit none{0, 0};
  sys::raw(SYS_prlimit64, 0, RLIMIT_CORE, reinterpret_cast<long>(&none), 0);
  sys::KernelSigaction reset{};
  sys::raw(SYS_rt_sigaction, signal, reinterpret_cast<long>(&reset), 0, 8);
  uint64_t mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
  sys::raw(SYS_kill, sys::raw(SYS_getpid), signal);
  for (;;) sys::raw(SYS_exit_group, 128 + signal);
}

// The rights of the task that asked for execve; never more than it had.
void take_rights() {
  const Shared& s = shared();
  uint32_t user[3], group[3];
  auto at = [](uint32_t* p) { return reinterpret_cast<long>(p); };
  sys::raw(SYS_getresuid, at(user), at(user + 1), at(user + 2));
  sys::raw(SYS_getresgid, at(group), at(group + 1), at(group + 2));
  bool same = true;
  for (int i = 0; i < 3; i++)
    same = same && user[i] == s.exec.users[i] && group[i] == s.exec.groups[i];
  if (same) return;
  if (s.exec.group_count >= 0)
    sys::raw(SYS_setgroups, s.exec.group_count, reinterpret_cast<long>(s.exec.more_groups));
  const long groups = sys::raw(SYS_setresgid, s.exec.groups[0], s.exec.groups[1], s.exec.groups[2]);
  const long users = sys::raw(SYS_setresuid, s.exec.users[0], s.exec.users[1], s.exec.users[2]);
  if (groups == 0 && users == 0) return;
  report("cannot give the executed program the user and group ids of the task that executes it");
  die(126);
}

// Signals that wait outlive execve.
void give_waiting_signals(uint64_t mask) {
  alignas(8) uint8_t bytes[128];
  const long own = sys::raw(SYS_getpid);
  while (const int signal = trap::take_program_signal(mask, bytes)) {
    auto* info = reinterpret_cast<siginfo_t*>(bytes);
    info->si_code = trap::original_code(info->si_code);
    sys::raw(SYS_rt_tgsigqueueinfo, own, own, signal, reinterpret_cast<long>(bytes));
  }
}

[[noreturn]] void execute() {
  Shared& s = shared();
  uint64_t mask = s.exec.mask;
  stop_ticks();
  for (int signal = 1; signal <= sys::kSignals; signal++) {
    sys::KernelSigaction action{};
    if (s.signals.actions[signal].handler == reinterpret_cast<void*>(1))
      action.handler = s.signals.actions[signal].handler;
    sys::raw(SYS_rt_sigaction, signal, reinterpret_cast<long>(&action), 0, 8);
  }
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
  give_waiting_signals(mask);
  take_rights();
  const WatchedExecution watched;
  long result =
      sys::raw(SYS_execveat, s.exec.directory, static_cast<long>(s.exec.path),
               static_cast<long>(s.exec.argv), static_cast<long>(s.exec.envp), s.exec.flags);
  report("cannot execute %s (error %d)", reinterpret_cast<const char*>(s.exec.path),
         int64_t{-result});
  die(126);
}

// The kernel shows a process's arguments (to ps, say) only from anonymous memory: here they become
// that again.
void show_arguments() {
  Shared& s = shared();
  const uint64_t start = page_down(s.program.arguments), size = s.program.stack_limit - start;
  if (!s.program.arguments || s.program.stack_limit <= start) return;
  const uint64_t source = page::shared_view_of(start);
  long at = sys::raw(SYS_mmap, static_cast<long>(start), static_cast<long>(size),
                     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (at == static_cast<long>(start))
    copy_bytes(reinterpret_cast<void*>(start), reinterpret_cast<void*>(source), size);
}

// Whether it was a task's end; frees the slot.
bool note_task_end(int pid) {
  Shared& s = shared();
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (s.processes.entries[p].pid != pid) continue;
    s.processes.entries[p].pid = 0;
    return true;
  }
  return false;
}

bool is_task(int pid) {
  const Shared& s = shared();
  for (uint32_t p = 0; p < s.processes.high; p++) {
    if (s.processes.entries[p].pid == pid) return true;
  }
  return false;
}

// Guarded by: ProcessTable::lock. Null where it is not there.
ChildProcess* find_child(int pid) {
  Shared& s = shared();
  for (uint32_t i = 0; i < s.processes.child_high; i++) {
    if (s.processes.children[i].pid == pid) return &s.processes.children[i];
  }
  return nullptr;
}

// Guarded by: ProcessTable::lock. Null where the table is full. `forgotten` of a slot that is new
// says that its maker has yet to note the child.
ChildProcess* slot_of(int pid) {
  Shared& s = shared();
  if (ChildProcess* slot = find_child(pid)) return slot;
  // A child may end before the task that made it has noted it.
  for (uint32_t i = 0; i < kMaxChildren; i++) {
    if (s.processes.children[i].pid != 0) continue;
    if (i >= s.processes.child_high) s.processes.child_high = i + 1;
    s.processes.children[i] = ChildProcess{};
    s.processes.children[i].pid = pid;
    const int making = __atomic_load_n(&s.processes.making_signal, __ATOMIC_ACQUIRE);
    s.processes.children[i].signal = making < 0 ? SIGCHLD : making;
    s.processes.children[i].forgotten = making >= 0;
    return &s.processes.children[i];
  }
  return nullptr;
}

struct ChildNews {
  int pid, status, group;
  uint32_t user;
  alignas(8) uint8_t usage[sizeof(ChildProcess::usage)];
  bool ended() const { return WIFEXITED(status) || WIFSIGNALED(status); }
};

void note_child(const ChildNews& news) {
  Shared& s = shared();
  const sys::KernelSigaction& action = s.signals.actions[SIGCHLD];
  bool forgets =
      action.handler == reinterpret_cast<void*>(SIG_IGN) || (action.flags & SA_NOCLDWAIT);
  int signal = SIGCHLD;
  {
    SpinGuard guard(s.processes.lock);
    ChildProcess* slot = slot_of(news.pid);
    if (slot && news.ended()) signal = slot->signal;
    forgets = forgets && signal == SIGCHLD;
    const bool is_made = slot && slot->forgotten;
    if (slot) slot->forgotten = 0;
    if (slot && news.ended() && forgets) {
      if (is_made) slot->forgotten = 1;  // else its maker would wait for it for ever
      else slot->pid = 0;
    } else if (slot) {
      (news.ended() ? slot->status : slot->change) = news.status;
      slot->group = news.group;
      slot->user = news.user;
      copy_bytes(slot->usage, news.usage, sizeof slot->usage);
      slot->untold = signal != 0;
      if (news.ended()) __atomic_store_n(&slot->ended, 1u, __ATOMIC_RELEASE);
    }
  }
  // The signal comes before a wait ends. Its handler asks the table, which therefore knows; it
  // waits there until this is over.
  if (signal) {
    forward_child(signal, news.pid, news.user, news.status);
    SpinGuard guard(s.processes.lock);
    if (ChildProcess* slot = find_child(news.pid)) slot->untold = 0;
  }
  __atomic_fetch_add(&s.processes.children_epoch, 1u, __ATOMIC_RELEASE);
  sys::futex_wake(&s.processes.children_epoch, 1 << 30);
}

// Sleeps until a task or a child has news, and takes them: 0 or -errno. Its group is asked for
// while it can be.
long wait_for_news(ChildNews& news) {
  constexpr long kAll = WEXITED | WSTOPPED | WCONTINUED | kWaitAll;
  siginfo_t seen{};
  // Signals come only while the monitor waits: their handlers take the same locks as its work.
  trap::open_mask();
  const long result =
      sys::raw(SYS_waitid, P_ALL, 0, reinterpret_cast<long>(&seen), kAll | WNOWAIT, 0);
  trap::block_all();
  if (result < 0) return result;
  news.group = static_cast<int>(sys::raw(SYS_getpgid, seen.si_pid));
  news.user = seen.si_uid;
  {
    Shared& s = shared();
    SpinGuard guard(s.processes.lock);
    // The next call forgets it, and somebody may ask before note_child.
    if (ChildProcess* slot = find_child(seen.si_pid)) slot->group = news.group;
  }
  const long pid =
      sys::raw(SYS_wait4, seen.si_pid, reinterpret_cast<long>(&news.status),
               WNOHANG | WUNTRACED | WCONTINUED | kWaitAll, reinterpret_cast<long>(news.usage));
  news.pid = static_cast<int>(pid);
  return pid > 0 ? 0 : -EINTR;  // it was stopped, and goes on already
}

}  // namespace

bool is_orphan(long maker) {
  const long parent = sys::raw(SYS_getppid);
  return !sys::failed(parent) && parent != maker;
}

void split_monitor() {
  Shared& s = shared();
  long stack = sys::raw(SYS_mmap, 0, kMonitorStack, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  WEIR_CHECK(!sys::failed(stack));
  forget_reaped_children();
  s.program.monitor = static_cast<int>(sys::raw(SYS_getpid));
  if (!input::is_on()) s.program.shown_pid = s.program.monitor;
  s.program.parent = static_cast<int>(
      input::log_value(input::What::kParent, [] { return sys::raw(SYS_getppid); }));
  uint64_t all = ~uint64_t{0}, mask = 0;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
           reinterpret_cast<long>(&mask), 8);
  s.processes.monitor_stands = 0;
  s.processes.making_signal = -1;
  sys::raw(SYS_getrusage, RUSAGE_CHILDREN, reinterpret_cast<long>(&s.processes.children_usage));
  s.processes.subreaper = static_cast<uint32_t>(input::log_value(input::What::kFlags, [] {
    int is_set = 0;
    sys::raw(SYS_prctl, PR_GET_CHILD_SUBREAPER, reinterpret_cast<long>(&is_set));
    return is_set;
  }));
  const auto used = static_cast<int64_t>(
      sys::monotonic_ns(CLOCK_THREAD_CPUTIME_ID));  // by the first task, in this process
  take_profiles();
  long result =
      weir_split(CLONE_FILES | CLONE_FS | CLONE_IO | CLONE_SYSVSEM | runtime::clone_signal(),
                 static_cast<uint64_t>(stack) + kMonitorStack);
  if (sys::failed(result)) {
    report("cannot make a process (error %d); ulimit -u?", int64_t{-result});
    die(125);
  }
  sys::raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (is_orphan(s.program.monitor)) die(125);
  runtime::begin_process();
  // The program may look at its arguments in /proc, which are none between two steps of the
  // monitor.
  while (!__atomic_load_n(&s.processes.monitor_stands, __ATOMIC_ACQUIRE))
    sys::futex_wait(&s.processes.monitor_stands, 0);
  Task& task = self();
  task.identity.tid = static_cast<int>(sys::raw(SYS_gettid));
  task.identity.cpu_offset = used;
  arm_profiles();
  s.processes.entries[task.identity.process].pid = task.identity.tid;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, 8);
}

}  // namespace weir::tasks

extern "C" __attribute__((visibility("hidden"))) void weir_monitor(int leader) {
  using namespace weir;
  using namespace weir::tasks;
  Shared& s = shared();
  trap::leave_signal_stack();  // which is the first task's (signals.cc, invariant 6)
  if (s.processes.entries[0].pid == s.program.monitor) s.processes.entries[0].pid = leader;
  forward_signals();
  show_arguments();
  __atomic_store_n(&s.processes.monitor_stands, 1u, __ATOMIC_RELEASE);
  sys::futex_wake(&s.processes.monitor_stands);
  for (;;) {
    ChildNews news;
    const long result = wait_for_news(news);
    if (result == -EINTR) continue;
    if (result < 0 && s.program.exiting) leave(s.program.exit_code);
    if (result < 0) die(125);
    if (!news.ended()) {
      if (!is_task(news.pid)) note_child(news);
      continue;
    }
    const int status = news.status;
    const bool of_task = note_task_end(news.pid) || news.pid == leader;
    if (s.exec.requested) {
      reap_tasks();
      execute();
    }
    if (s.program.exiting) {
      reap_tasks();
      leave(s.program.exit_code);
    }
    if (!of_task) {
      note_child(news);
    } else if (WIFSIGNALED(status)) {
      s.program.exiting = 1;
      reap_tasks();
      end_by_signal(WTERMSIG(status));
    } else if (WEXITSTATUS(status) == 125) {
      s.program.exiting = 1;
      reap_tasks();
      die(125);
    }
  }
}
