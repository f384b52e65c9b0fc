// clone, clone3, fork and vfork ask for one of three things: a thread (CLONE_THREAD), which becomes
// a task; a child that borrows this task's memory (CLONE_VM and CLONE_VFORK); or a child with a
// copy of memory, whatever else it shares. A combination that is none of these, or that the runtime
// cannot hold, is refused by name.
#include "syscall/clone.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include "control/process.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "sync/event.h"
#include "sys/report.h"
#include "syscall/stop_world.h"
#include "task/fork.h"
#include "task/spawn.h"

namespace weir::syscalls {

namespace {

struct Clone3Arguments {  // struct clone_args
  // The first version.
  uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  uint64_t set_tid, set_tid_size, cgroup;
};
constexpr uint64_t kFirstVersion = 64;
constexpr uint64_t kAllFlags = 0xffffffff | CLONE_CLEAR_SIGHAND | CLONE_INTO_CGROUP;

long clone_task(Call& call, const tasks::CloneRequest& request) {
  if (!(request.flags & CLONE_SIGHAND)) return -EINVAL;  // as the kernel
  const bool is_first = !g_tasks_active;
  if (is_first) runtime::go_multi();
  begin_turn(EventKind::kCreate);
  note_written();
  // The record of the new thread lies in memory that this task has just written.
  long tid = tasks::spawn(call.frame, request);
  // As after each later one (end_create): the next creation need not wait until this task has
  // computed.
  if (is_first && !plan().has_processes()) {
    hold_turn(TurnState::kHoldForCreate);
  } else {
    end_turn();
  }
  return tid;
}

// Says what cannot be had, and returns `error`.
long refuse(const char* what, long error) {
  report("clone with %s is not supported under Weir but with --order free --view direct", what);
  return error;
}

long clone_process(Call& call, const tasks::ForkRequest& request) {
  const uint64_t flags = request.flags;
  const bool borrows = flags & CLONE_VM;
  if ((flags & CLONE_SIGHAND) && !borrows) return -EINVAL;  // as the kernel
  if (stops_world(flags)) return make_stopping_child(call);
  // A C library that makes its threads so (dietlibc) does not look for an error: it takes -1 for
  // the thread's id, and kill(-1, SIGKILL) at the end would be for all processes of the user.
  if (borrows && !(flags & CLONE_VFORK)) {
    refuse("CLONE_VM but neither CLONE_THREAD nor CLONE_VFORK", 0);
    die(125);
  }
  // The runtime has descriptors of its own in each process.
  if (!borrows && (flags & CLONE_FILES) && plan().has_processes())
    return refuse("CLONE_FILES but without CLONE_VM", -EINVAL);
  if ((flags & CLONE_PARENT) && plan().has_processes()) return refuse("CLONE_PARENT", -EINVAL);
  if (const long refused = borrows ? 0 : check_arena(-ENOMEM)) return refused;
  if (flags & CLONE_INTO_CGROUP) return refuse("CLONE_INTO_CGROUP", -EOPNOTSUPP);
  if (g_tasks_active) {
    begin_turn(EventKind::kCreate);
    note_written();
  }
  int pidfd = -1;
  const long pid = borrows ? tasks::borrow_program(call.frame, request, pidfd)
                           : tasks::fork_program(call.frame, request, pidfd);
  if (pid > 0 && (flags & CLONE_PARENT_SETTID)) {
    (void)!trap::to_program(static_cast<long>(request.parent_tid),
                            static_cast<int>(pid));  // as the kernel
  }
  if (pid > 0 && (flags & CLONE_PIDFD))
    (void)!trap::to_program(static_cast<long>(request.pidfd), pidfd);
  if (g_tasks_active) end_turn();
  return pid;
}

long on_clone(Call& call) {
  const auto argument = [](long value) { return static_cast<uint64_t>(value); };
  const uint64_t flags = argument(call.a) & 0xffffffff;  // as the kernel
  if (flags & CLONE_THREAD) {
    return clone_task(
        call, {flags, argument(call.b), 0, argument(call.e), argument(call.c), argument(call.d)});
  }
  if ((flags & CLONE_PIDFD) && (flags & CLONE_PARENT_SETTID))
    return -EINVAL;  // one argument for both
  return clone_process(
      call, {flags & ~uint64_t{CSIGNAL}, flags & CSIGNAL, argument(call.b), argument(call.e),
             argument(call.d), argument(call.c), argument(call.c)});
}

long on_clone3(Call& call) {
  Clone3Arguments arguments{};
  const auto size = static_cast<uint64_t>(call.b);
  if (size < kFirstVersion) return -EINVAL;
  const uint64_t known = size < sizeof arguments ? size : sizeof arguments;
  if (const long wrong = trap::from_program(&arguments, call.a, known)) return wrong;
  for (uint64_t at = sizeof arguments; at < size && at < kPageSize; at++) {
    char more = 0;
    if (const long wrong = trap::from_program(more, call.a + static_cast<long>(at))) return wrong;
    if (more) return -E2BIG;
  }
  if (size > kPageSize) return -E2BIG;
  if ((arguments.flags & ~kAllFlags) ||
      (arguments.flags & (CSIGNAL | CLONE_DETACHED) & ~uint64_t{CLONE_NEWTIME}))
    return -EINVAL;
  if (arguments.exit_signal & ~uint64_t{CSIGNAL}) return -EINVAL;
  if (arguments.flags & CLONE_NEWTIME) return refuse("CLONE_NEWTIME", -EINVAL);
  if (arguments.set_tid_size) return refuse("ids of its choice (set_tid)", -EPERM);
  const uint64_t stack = arguments.stack ? arguments.stack + arguments.stack_size : 0;
  if (arguments.flags & CLONE_THREAD) {
    return clone_task(call, {arguments.flags, stack, arguments.stack_size, arguments.tls,
                             arguments.parent_tid, arguments.child_tid});
  }
  return clone_process(call, {arguments.flags, arguments.exit_signal, stack, arguments.tls,
                              arguments.child_tid, arguments.parent_tid, arguments.pidfd});
}

}  // namespace

long on_clone_call(Call& call) {
  switch (call.number) {
    case SYS_clone: return on_clone(call);
    case SYS_clone3: return on_clone3(call);
    case SYS_vfork: return clone_process(call, {CLONE_VM | CLONE_VFORK, SIGCHLD});
    default: return clone_process(call, {0, SIGCHLD});
  }
}

}  // namespace weir::syscalls
