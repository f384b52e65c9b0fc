// fork with memory that is shared by nature: the child must get copies, made while the parent
// stands still. The parent waits (it has the turn, so all tasks stand still) until the child has
// copied the backing and the runtime's own state.
//
// What can go wrong: the child is killed while it copies (the parent looks whether it lives),
// descriptors run out (the child reports and ends; the parent sees a child that ended with 125).

#include "task/fork.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "code/patch/entry.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/in_place_process.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "order/waiting.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/stop_point.h"
#include "signal/queue.h"
#include "signal/signals.h"
#include "signal/timers.h"
#include "stats/exit_report.h"
#include "sync/event.h"
#include "sys/futex.h"
#include "sys/maps.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "task/exec/environment.h"
#include "task/pidfd.h"
#include "task/profile.h"
#include "task/spawn.h"
#include "view/view.h"

namespace weir::tasks {

namespace {

struct ForkWork {
  uint32_t copied;
  Frame frame;
  ForkRequest request;
  uint64_t mask;
  uint32_t tid_base;
  uint32_t ordinal;   // in a recording
  uint64_t identity;  // where inputs are constant
};

constexpr uint64_t kForkStack = 64 << 10;

// In a forked child: where it met its parent. It stands on that until it enters the program, and
// gives it back before it makes a process itself: it is no memory that the two share.
long g_meeting = 0;

bool has_handler(int signal) {
  return reinterpret_cast<uint64_t>(shared().signals.actions[signal].handler) > 1;
}

// CLONE_CLEAR_SIGHAND: what is ignored stays so.
void clear_handlers() {
  const sys::KernelSigaction reset{};
  sys::KernelSigaction old;
  for (int signal = 1; signal <= sys::kSignals; signal++) {
    if (has_handler(signal)) trap::sigaction(signal, &reset, &old);
  }
}

// Of a child that the kernel takes for the monitor's, or tells by SIGCHLD, which the monitor hears.
int told_by_monitor(const ForkRequest& request, bool multi) {
  return multi || request.exit_signal == SIGCHLD ? static_cast<int>(request.exit_signal) : 0;
}

// On its own copy of the memory: it is a program of one task now.
void become_single_after_fork() {
  Shared& s = shared();
  Task& task = self();
  const Task copy = task;
  // The copy may have been taken while the monitor, or a task about to sleep, held a lock for a
  // moment.
  s.order.lock.reset();
  s.memory.lock.reset();
  s.processes.lock.reset();
  s.signals.lock.reset();
  for (TaskId i = 0; i < s.order.high_task; i++)
    s.tasks[i].order.state = TaskState::kFree, s.tasks[i].order.is_unnoted = 0;
  for (uint32_t p = 0; p < s.processes.high; p++)
    s.processes.entries[p].pid = 0, s.processes.entries[p].taken = 0;
  task = copy;
  carrier().note_parent(s, task);
  s.program.multi = 0;
  s.program.monitor = s.program.shown_pid = 0;
  s.order.live = 1;
  s.order.high_task = task.id + 1;
  s.processes.high = static_cast<uint32_t>(task.identity.process) + 1;
  s.processes.idle = 0;
  s.order.lookers = 0;
  s.processes.child_high = 0;
  s.processes.making_signal = -1;
  forget_profiles();
  trap::forget_timers();
  s.program.exiting = 0;
  s.exec.requested = 0;
  s.heap.user = 0;
  task.identity.tid = static_cast<int>(sys::raw(SYS_gettid));
  task.identity.virtual_tid =
      constant::has_pid() ? constant::shown_id(task.identity.tid) : task.identity.tid;
  task.turn.depth = 0;
  task.turn.held = 0;
  task.turn.state = TurnState::kNone;  // that of a turn of the parent's
  task.flags = 0;
  s.processes.entries[task.identity.process].pid = task.identity.tid;
  s.processes.entries[task.identity.process].taken = 1;
  g_tasks_active = false;
  forget_in_place_process();
}

void fork_child(uint64_t argument) {
  auto* work = reinterpret_cast<ForkWork*>(argument);
  const Frame frame = work->frame;
  const ForkRequest request = work->request;
  g_meeting = static_cast<long>(argument);
  const uint32_t ordinal = work->ordinal;
  const bool was_multi = g_tasks_active;
  Task* me = &self();
  view::current().open_in_child();
  carrier().copy_memory();
  trap::block_all();  // signals had no stack before (trap::Birth); faults may come now
  if (constant::is_on()) constant::begin_process(work->identity);
  __atomic_store_n(&work->copied, 1u, __ATOMIC_RELEASE);
  sys::futex_wake(&work->copied);
  runtime::begin_process();
  become_single_after_fork();
  trap::forget_signals();
  runtime::start_counts();
  shared().program.is_forked = 1;
  input::begin_process(ordinal);
  // Ids that no relative uses: a mutex may lie in memory that both share.
  shared().order.tid_base = (work->tid_base + 1) * 0x10000 % 0x08000000;
  if (was_multi) runtime::go_single();
  if (was_multi) view::current().close_tracking();
  me->frame = reinterpret_cast<Frame*>(me->stack_top - sizeof(Frame));
  *me->frame = frame;
  me->frame->rax = 0;
  if (request.stack) me->frame->rsp = request.stack;
  if (request.flags & CLONE_CHILD_SETTID)
    (void)!trap::to_program(static_cast<long>(request.child_tid), me->identity.virtual_tid);
  if (request.flags & CLONE_CLEAR_SIGHAND) clear_handlers();
  me->in_runtime = 1;
  me->pending = me->inbox_count = me->recorded.parked = 0;
  me->signals.pending_signals = nullptr;
  me->signals.inbox = SignalList{};
  trap::set_mask(work->mask);
  trap::forget_points();
  if (input::replaying()) trap::go_on_as_recorded(*me, *me->frame);
  if (request.flags & CLONE_SETTLS)
    sys::raw(SYS_arch_prctl, ARCH_SET_FS, static_cast<long>(request.tls));
  weir_enter_program(me->frame);
}

struct BorrowWork {
  Task* task;
  uint64_t identity;
  const ForkRequest* request;
  uint64_t mask;
};

void borrowing_child(uint64_t argument) {
  const BorrowWork work = *reinterpret_cast<BorrowWork*>(argument);
  const ForkRequest& request = *work.request;  // in the maker's stack, who sleeps
  sys::raw(SYS_arch_prctl, ARCH_SET_GS, reinterpret_cast<long>(work.task));
  trap::set_mask(work.mask);
  if (constant::is_on()) constant::begin_process(work.identity);
  input::begin_borrower(*work.task, work.task->recorded.ordinal);
  if (request.flags & CLONE_CLEAR_SIGHAND) {
    for (int signal = 1; signal <= sys::kSignals; signal++) {
      // The dispositions that the program sees are its maker's, too; and the runtime's own handlers
      // stay.
      sys::KernelSigaction reset{};
      if (has_handler(signal) && !(sys::never_blocked() & sys::signal_bit(signal)))
        sys::raw(SYS_rt_sigaction, signal, reinterpret_cast<long>(&reset), 0, 8);
    }
  }
  if (request.flags & CLONE_SETTLS)
    sys::raw(SYS_arch_prctl, ARCH_SET_FS, static_cast<long>(request.tls));
  weir_enter_program(work.task->frame);
}

// What the kernel is asked for beside that: what a child may have of its own or share with its
// maker, memory and descriptors apart.
uint64_t passed_on(const ForkRequest& request, bool multi) {
  constexpr uint64_t kOfItsOwn = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  constexpr uint64_t kShared = CLONE_FS | CLONE_IO | CLONE_SYSVSEM | CLONE_FILES | CLONE_PARENT;
  constexpr uint64_t kOther = CLONE_PIDFD | CLONE_VFORK | CLONE_PTRACE | CLONE_UNTRACED;
  // A replay knows its processes by their ids, which are all of its own namespace.
  const uint64_t kept = input::replaying() ? ~uint64_t{CLONE_NEWPID} : ~uint64_t{0};
  return (request.flags & (kOfItsOwn | kShared | kOther) & kept) | request.exit_signal |
         (multi ? CLONE_PARENT : 0);
}

// The kernel has made a descriptor in a replay, too, where none of the program's is open.
int kept_pidfd(const ForkRequest& request, long pid, int made) {
  if (!(request.flags & CLONE_PIDFD) || pid <= 0) return -1;
  if (input::replaying()) sys::raw(SYS_close, made);
  else note_pidfd(made, static_cast<int>(pid));
  return static_cast<int>(input::log_number(input::What::kChild, made));
}

}  // namespace

void leave_meeting() {
  if (g_meeting) sys::raw(SYS_munmap, g_meeting, static_cast<long>(kForkStack));
  g_meeting = 0;
}

namespace {

// The child is there, or was not made. The monitor has to know it.
void end_making(long pid) {
  Shared& s = shared();
  if (pid > 0) carrier().note_child(static_cast<int>(pid), s.processes.making_signal);
  s.processes.making_signal = -1;
}

}  // namespace

long fork_program(const Frame& frame, const ForkRequest& request, int& pidfd) {
  const bool multi = has_monitor();
  while (multi && shared().heap.user) wait_for_page(kHeapKey);
  leave_meeting();
  const uint32_t ordinal = input::is_on()
                               ? input::new_process()
                               : 0;  // looks for shared mappings, of which the next is one
  // Shared: parent and child meet here; also holds the child's scratch stack, away from all that is
  // being copied.
  long area = sys::raw(SYS_mmap, 0, static_cast<long>(kForkStack), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (sys::failed(area)) return -ENOMEM;
  auto* work = reinterpret_cast<ForkWork*>(area);
  work->copied = 0;
  work->frame = frame;
  work->request = request;
  work->ordinal = ordinal;
  work->identity = constant::is_on() ? constant::next_child() : 0;
  work->tid_base = shared().order.tid_base / 0x10000 * 16 + shared().order.children_made++;
  uint64_t all = sys::kAllButFaults;
  sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
           reinterpret_cast<long>(&work->mask), 8);
  if (multi) {
    const shared_memory::SleepScope sleeps(self());
    (void)order::current().stand_still(self(), order::kForEver);
    view::current().find_writes(self());
    view::current().publish(self());
    view::current().drop_retained_copies();
  }
  int descriptor = -1;
  shared().processes.making_signal = told_by_monitor(request, multi);
  view::current().hold_still();
  const long pid =
      trap::Birth().make(passed_on(request, multi), static_cast<uint64_t>(area) + kForkStack - 64,
                         fork_child, static_cast<uint64_t>(area), 0, &descriptor);
  end_making(pid);
  if (pid > 0) {
    while (!__atomic_load_n(&work->copied, __ATOMIC_ACQUIRE)) {
      sys::futex_wait(&work->copied, 0, 20'000'000);
      if (sys::raw(SYS_kill, pid, 0) != 0) break;
      if (!multi) {
        siginfo_t info{};  // a zombie answers kill: ask without reaping
        sys::raw(SYS_waitid, P_PID, pid, reinterpret_cast<long>(&info), WEXITED | WNOHANG | WNOWAIT,
                 0);
        if (info.si_pid == pid) break;
      }
    }
    if (constant::is_on()) constant::note_process(static_cast<int>(pid), work->identity);
  }
  view::current().go_on();
  const uint64_t mask = work->mask;
  sys::raw(SYS_munmap, area, static_cast<long>(kForkStack));
  trap::set_mask(mask);
  pidfd = kept_pidfd(request, pid, descriptor);
  return input::note_child(pid, ordinal);
}

long borrow_program(Frame& frame, const ForkRequest& request, int& pidfd) {
  const bool multi = has_monitor();
  Task& me = self();
  leave_meeting();
  // The child has a record and a runtime stack of its own in the lower half of this task's, which
  // sleeps meanwhile.
  const uint64_t top = me.stack_top - kStackSize / 2;
  auto* copy = reinterpret_cast<Task*>((top - sizeof(Task) - 64) & ~uint64_t{63});
  copy_bytes(copy, &me, sizeof(Task));
  copy->self = copy;
  copy->identity.in_vfork = 1;
  copy->recorded.shared_memory_sleeps = 0;
  if (input::is_on()) copy->recorded.ordinal = input::new_process();
  copy->pending = copy->inbox_count = 0;
  copy->signals.pending_signals = nullptr;
  copy->recorded.parked = 0;
  copy->stack_top = reinterpret_cast<uint64_t>(copy) & ~uint64_t{63};
  copy->frame = reinterpret_cast<Frame*>(copy->stack_top - sizeof(Frame));
  *copy->frame = frame;
  copy->frame->rax = 0;
  if (request.stack) copy->frame->rsp = request.stack;
  const uint64_t identity = constant::is_on() ? constant::next_child() : 0;
  int descriptor = -1;
  if (multi) {
    {
      const shared_memory::SleepScope sleeps(me);  // who still computes may want what it has
      (void)order::current().stand_still(me, order::kForEver);
    }
    view::current().drop_retained_copies();
    view::current().borrow_all();
  }
  shared_memory::begin_borrowing(me);
  shared().processes.making_signal = told_by_monitor(request, multi);
  const uint64_t flags =
      passed_on(request, multi) | (request.flags & (CLONE_VM | CLONE_VFORK | CLONE_SIGHAND));
  long pid = 0;
  {
    const trap::Birth birth;
    const BorrowWork work{copy, identity, &request, birth.mask()};
    pid = birth.make(flags, copy->stack_top - 4096, borrowing_child,
                     reinterpret_cast<uint64_t>(&work), 0, &descriptor);
  }
  shared_memory::end_borrowing(me);
  end_borrowed_environment(*copy);
  if (multi) {
    view::current().return_borrowed();
    view::current().forget_copies();  // the child wrote with this task's mappings, and its faults
                                      // are not this task's
  }
  end_making(pid);
  pidfd = kept_pidfd(request, pid, descriptor);
  return input::note_child(pid, copy->recorded.ordinal);
}

namespace {

// Guarded by: ProcessTable::lock. What is to be told of the child: a pointer to a wait status, null
// for nothing.
int* news_of(ChildProcess& child, int options) {
  if (child.ended) return options & WEXITED ? &child.status : nullptr;
  const int wanted = child.change == kContinued ? WCONTINUED : WSTOPPED;
  return child.change && (options & wanted) ? &child.change : nullptr;
}

}  // namespace

namespace {

// As the kernel: a child that tells its end by another signal than SIGCHLD, or by none, is found by
// __WCLONE and by __WALL only.
bool is_wanted(int signal, int options) {
  if (options & __WALL) return true;
  return (signal == SIGCHLD) != ((options & static_cast<int>(__WCLONE)) != 0);
}

// An orphan that has come to the program and lives: one that nobody has noted, since nobody has
// made it here.
bool has_orphan(int kind, int id) {
  Shared& s = shared();
  char name[64], text[4096];
  char* end = append_number(append_text(name, "/proc/"), static_cast<uint64_t>(s.program.monitor));
  append_text(append_number(append_text(end, "/task/"), static_cast<uint64_t>(s.program.monitor)),
              "/children");
  if (sys::failed(sys::read_own_file(name, text))) return false;
  for (const char* at = text; *at;) {
    int pid = 0;
    for (; *at >= '0' && *at <= '9'; at++) pid = pid * 10 + (*at - '0');
    while (*at == ' ') at++;
    bool is_task = false;
    for (uint32_t p = 0; p < s.processes.high; p++) is_task |= s.processes.entries[p].pid == pid;
    if (pid && !is_task && (kind != P_PID || pid == id)) return true;
  }
  return false;
}

// The pid of a child that has news, and these; 0 where none has, -ECHILD where there is none,
// kUntold where the monitor is about to tell the program by a signal.
constexpr long kUntold = -EAGAIN;
long look_for_child(int kind, int id, int options, FoundChild& found) {
  Shared& s = shared();
  const long group = kind != P_PGID ? 0 : id ? id : sys::raw(SYS_getpgid, 0);
  bool any = s.processes.subreaper && is_wanted(SIGCHLD, options) && has_orphan(kind, id);
  SpinGuard guard(s.processes.lock);
  for (uint32_t i = 0; i < s.processes.child_high; i++) {
    ChildProcess& child = s.processes.children[i];
    if (child.pid == 0 || child.forgotten || (kind == P_PID && child.pid != id)) continue;
    if (!is_wanted(child.signal, options)) continue;
    if (kind == P_PGID) {
      const long now = child.ended ? -ESRCH : sys::raw(SYS_getpgid, child.pid);
      if ((sys::failed(now) ? child.group : now) != group) continue;
    }
    any = true;
    int* news = news_of(child, options);
    if (!news) continue;
    if (child.untold) return kUntold;
    const int pid = child.pid;
    found.status = *news;
    found.user = child.user;
    copy_bytes(found.usage, child.usage, sizeof found.usage);
    if (!(options & WNOWAIT)) (child.ended ? child.pid : *news) = 0;
    return pid;
  }
  return any ? 0 : -ECHILD;
}

// The monitor needs nothing of a task for that.
long look_for_told_child(int kind, int id, int options, FoundChild& found) {
  constexpr uint64_t kMostNs = 10'000'000;
  uint32_t& epoch = shared().processes.children_epoch;
  for (;;) {
    const uint32_t seen = __atomic_load_n(&epoch, __ATOMIC_ACQUIRE);
    const long pid = look_for_child(kind, id, options, found);
    if (pid != kUntold) return pid;
    sys::futex_wait(&epoch, seen, kMostNs);
  }
}

void add(timeval& sum, const timeval& more) {
  constexpr long kSecond = 1'000'000;
  const long part = sum.tv_usec + more.tv_usec;
  sum.tv_sec += more.tv_sec + part / kSecond;
  sum.tv_usec = part % kSecond;
}

// What getrusage tells of children.
void count_usage(const FoundChild& found) {
  rusage usage;
  copy_bytes(&usage, found.usage, sizeof usage);
  rusage& sum = shared().processes.children_usage;
  add(sum.ru_utime, usage.ru_utime);
  add(sum.ru_stime, usage.ru_stime);
  if (usage.ru_maxrss > sum.ru_maxrss) sum.ru_maxrss = usage.ru_maxrss;
  sum.ru_minflt += usage.ru_minflt;
  sum.ru_majflt += usage.ru_majflt;
  sum.ru_inblock += usage.ru_inblock;
  sum.ru_oublock += usage.ru_oublock;
  sum.ru_nvcsw += usage.ru_nvcsw;
  sum.ru_nivcsw += usage.ru_nivcsw;
}

}  // namespace

long wait_child(int kind, int id, int options, FoundChild& found) {
  Shared& s = shared();
  for (;;) {
    const uint32_t epoch = __atomic_load_n(&s.processes.children_epoch, __ATOMIC_ACQUIRE);
    const long pid = input::log_value(
        input::What::kChild, [&] { return look_for_told_child(kind, id, options, found); });
    if (pid > 0) input::bytes(&found, sizeof found);
    if (pid > 0 && (WIFEXITED(found.status) || WIFSIGNALED(found.status))) {
      input::note_child_end(pid, found.status);
      if (!(options & WNOWAIT)) count_usage(found);
    }
    // The signal may have come while all that let it through were in the runtime, with it blocked.
    if (pid > 0) trap::raise_program_signals(~self().signals.mask);
    if (pid != 0 || (options & WNOHANG)) return pid;
    outside_begin("child process");
    const long result = input::log_value(input::What::kReady, [&] {
      return trap::interruptible(SYS_futex, reinterpret_cast<long>(&s.processes.children_epoch),
                                 0 /* FUTEX_WAIT */, epoch, 0, 0, 0);
    });
    outside_end();
    if (result == -EINTR) return -EINTR;
  }
}

}  // namespace weir::tasks
