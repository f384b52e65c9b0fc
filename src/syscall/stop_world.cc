// Problem: the child shares its maker's memory and thread-local storage, and would be another
// thread of the same task; and ptrace would show it the runtime's processes, not the program's
// threads. Mechanism: clone keeps the child's registers. When the maker yields or waits for it, the
// task goes on with these registers, and with the maker's when the child exits. All that the child
// reads and writes is the task's own: every View holds it, and a recording repeats it.
//
// What the child asks the kernel about threads is answered here: the list of them in
// /proc/PID/task, ptrace, waiting for them. Signal handlers and the alternate stack that it sets
// are its own, and are ignored. The registers of another task are those of its last event, if it
// waits for others; of one that may run, none are shown, because what they are is chance. Such a
// task's stack is looked through as a whole, since its stack pointer is not in it.
#include "syscall/stop_world.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "base/bytes.h"
#include "code/patch/patch.h"
#include "constant/constant.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/program_memory.h"
#include "sync/event.h"
#include "syscall/constant.h"

namespace weir::syscalls {

namespace {

using State = StoppedWorld::State;

// None that the kernel gives (PID_MAX_LIMIT), and no descriptor.
constexpr long kChildPid = (1 << 22) + 1;
constexpr long kThreadList = (1 << 30) + 1, kThreadStatus = kThreadList + 1;
constexpr long kPrStatus = 1;  // NT_PRSTATUS

StoppedWorld& world() { return shared().stopped_world; }

long ask(Call& call, long number) {
  Call asked{call.frame, number, 0, 0, 0, 0, 0, 0};
  return constant::is_on() ? call_constant(asked, on_process) : on_process(asked);
}

// As the program knows it.
long id_of(const Task& task) {
  const int32_t id = task.identity.virtual_tid;
  return constant::has_pid() ? constant::shown_id(id) : id;
}

// Calls visit(thread id) for each thread of the program until that returns false.
template <typename Visit>
void each_thread(Call& call, Visit visit) {
  if (!g_tasks_active) {
    visit(ask(call, SYS_gettid));
    return;
  }
  for (TaskId i = 0; i < shared().order.high_task; i++) {
    const Task& task = task_at(i);
    if (task.order.state == TaskState::kFree) continue;
    if (!visit(id_of(task))) return;
  }
}

bool is_thread(Call& call, long tid) {
  bool found = false;
  each_thread(call, [&](long one) { return found = one == tid, !found; });
  return found;
}

user_regs_struct registers_of(const Frame& f) {
  user_regs_struct r{};
  r.r15 = f.r15, r.r14 = f.r14, r.r13 = f.r13, r.r12 = f.r12;
  r.r11 = f.r11, r.r10 = f.r10, r.r9 = f.r9, r.r8 = f.r8;
  r.rdi = f.rdi, r.rsi = f.rsi, r.rbp = f.rbp, r.rbx = f.rbx;
  r.rdx = f.rdx, r.rcx = f.rcx, r.rax = f.rax, r.rsp = f.rsp;
  r.rip = f.rip, r.eflags = f.rflags;
  return r;
}

user_regs_struct registers_of(Call& call, long tid) {
  if (tid == ask(call, SYS_gettid)) return registers_of(world().maker);
  for (TaskId i = 0; i < shared().order.high_task; i++) {
    const Task& task = task_at(i);
    if (task.order.state == TaskState::kBlocked && task.frame && id_of(task) == tid)
      return registers_of(*task.frame);
  }
  return {};
}

long trace(Call& call) {
  if (!is_thread(call, call.b)) return -ESRCH;
  switch (call.a) {
    case PTRACE_ATTACH:
    case PTRACE_DETACH:
    case PTRACE_CONT:
    case PTRACE_KILL: return 0;
    case PTRACE_GETREGS: return trap::to_program(call.d, registers_of(call, call.b));
    case PTRACE_GETREGSET: {
      if (call.c != kPrStatus) return -EINVAL;
      iovec vector;
      if (const long wrong = trap::from_program(vector, call.d)) return wrong;
      const user_regs_struct registers = registers_of(call, call.b);
      if (vector.iov_len > sizeof registers) vector.iov_len = sizeof registers;
      if (const long wrong =
              trap::to_program(reinterpret_cast<long>(vector.iov_base), &registers, vector.iov_len))
        return wrong;
      return trap::to_program(call.d, vector);
    }
    default: return -EIO;
  }
}

// What a directory of threads holds, from the one after the last that was read.
long list_threads(Call& call, bool is_new_form) {
  constexpr uint64_t kEntry = 32;
  const uint64_t name_at = is_new_form ? 19 : 18;
  const auto room = static_cast<uint64_t>(call.c);
  uint64_t used = 0, index = 0;
  long wrong = 0;
  each_thread(call, [&](long tid) {
    if (index++ < world().listed) return true;
    if (used + kEntry > room) return false;
    char entry[kEntry] = {};
    const uint64_t inode = static_cast<uint64_t>(tid) + 2, offset = index;
    const uint16_t length = kEntry;
    copy_bytes(entry, &inode, sizeof inode);
    copy_bytes(entry + 8, &offset, sizeof offset);
    copy_bytes(entry + 16, &length, sizeof length);
    append_number(entry + name_at, static_cast<uint64_t>(tid));
    wrong = trap::to_program(call.b + static_cast<long>(used), entry, kEntry);
    used += kEntry;
    world().listed++;
    return wrong == 0;
  });
  return wrong ? wrong : static_cast<long>(used);
}

long read_status(Call& call) {
  constexpr char kStatus[] = "Name:\tthread\nPPid:\t1\n";
  uint64_t count = sizeof kStatus - 1;
  if (world().listed) return 0;
  if (count > static_cast<uint64_t>(call.c)) count = static_cast<uint64_t>(call.c);
  world().listed = 1;
  if (const long wrong = trap::to_program(call.b, kStatus, count)) return wrong;
  return static_cast<long>(count);
}

// /proc/PID/task, and /proc/PID/task/TID/status in it. 0: some other file.
long open_threads(long path) {
  char name[80];
  const long length = trap::string_from_program(name, path, sizeof name);
  if (length <= 0 || length >= static_cast<long>(sizeof name) || !starts_with(name, "/proc/"))
    return 0;
  if (!contains_text(name, "/task")) return 0;
  world().listed = 0;
  return contains_text(name, "/status") ? kThreadStatus : kThreadList;
}

bool is_pretended(long descriptor) {
  return descriptor == kThreadList || descriptor == kThreadStatus;
}

// A call of the child. Returns whether it has been answered.
bool answer(Call& call, long& result) {
  switch (call.number) {
    case SYS_getppid: return result = ask(call, SYS_getpid), true;
    case SYS_prctl: return result = 0, call.a == PR_SET_PDEATHSIG;
    case SYS_rt_sigaction:
    case SYS_sigaltstack: return result = 0, true;
    case SYS_ptrace: return result = trace(call), true;
    case SYS_wait4: {
      if (!is_thread(call, call.a)) return false;
      constexpr int kStopped = SIGSTOP << 8 | 0x7f;
      result = call.b ? trap::to_program(call.b, kStopped) : 0;
      if (result == 0) result = call.a;
      return true;
    }
    case SYS_open: return result = open_threads(call.a), result != 0;
    case SYS_openat: return result = open_threads(call.b), result != 0;
    default: break;
  }
  if (!is_pretended(call.a)) return false;
  switch (call.number) {
    case SYS_lseek: return result = static_cast<long>(world().listed = 0), true;
    case SYS_close: return result = 0, true;
    case SYS_read: return result = read_status(call), true;
    case SYS_getdents: return result = list_threads(call, false), true;
    case SYS_getdents64: return result = list_threads(call, true), true;
    case SYS_fstat: return result = -EBADF, true;
    default: return false;
  }
}

void begin_child(Call& call, bool is_wait, const Site& site) {
  StoppedWorld& w = world();
  w.maker = call.frame;
  if (is_wait) {  // is made again when the child has ended
    w.maker.rip = site.is_trap ? site.window : site.stub;
    w.maker.rax = static_cast<uint64_t>(call.number);
  } else {
    w.maker.rax = 0;
  }
  w.state = State::kRuns;
  call.frame = w.child;
}

void end_child(Call& call) {
  StoppedWorld& w = world();
  w.status = (static_cast<int>(call.a) & 0xff) << 8;
  w.state = State::kEnded;
  call.frame = w.maker;
}

}  // namespace

bool stops_world(uint64_t flags) {
  return (flags & ~uint64_t{CSIGNAL}) == (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED);
}

long make_stopping_child(Call& call) {
  StoppedWorld& w = world();
  if (w.state != State::kNone) return -ENOSYS;
  handle_all_calls();  // ptrace among them
  self().identity.changed = 1;
  w.child = call.frame;
  w.child.rax = 0;
  if (call.b) w.child.rsp = static_cast<uint64_t>(call.b);
  w.task = self().id;
  w.listed = 0;
  w.state = State::kMade;
  return kChildPid;
}

bool is_made_in_stopped_world(Call& call, const Site& site) {
  StoppedWorld& w = world();
  if (w.state == State::kNone || w.task != self().id) return false;
  const bool is_wait = call.number == SYS_wait4 && call.a == kChildPid;
  long result = 0;
  switch (w.state) {
    case State::kMade:
      if (call.number != SYS_sched_yield && !is_wait) return false;
      begin_child(call, is_wait, site);
      return true;
    case State::kRuns: {
      if (call.number == SYS_exit_group) return false;  // the child ends the program
      if (call.number == SYS_exit) {
        end_child(call);
        return true;
      }
      const bool has_turn = g_tasks_active && call.number == SYS_ptrace;
      if (has_turn) begin_turn(EventKind::kSyscall);
      const bool is_answered = answer(call, result);
      if (has_turn) end_turn();
      if (!is_answered) return false;
      break;
    }
    default:
      if (!is_wait) return false;
      w.state = State::kNone;
      result = call.b ? trap::to_program(call.b, w.status) : 0;
      if (result == 0) result = kChildPid;
      break;
  }
  call.frame.rax = static_cast<uint64_t>(result);
  return true;
}

}  // namespace weir::syscalls
