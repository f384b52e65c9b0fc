// Processes that the program makes itself, and the monitor that keeps the program's pid.
// Implemented in fork.cc and monitor.cc.
#pragma once

#include <stdint.h>

#include "base/frame.h"

namespace weir::tasks {

// A child that the program asks for, by whichever call.
struct ForkRequest {
  uint64_t flags;  // as clone3 has them, without the exit signal
  uint64_t exit_signal;
  uint64_t stack = 0;  // top of the child's; 0: as the maker's
  uint64_t tls = 0;    // these: program addresses, if `flags` says that they are given
  uint64_t child_tid = 0;
  uint64_t parent_tid = 0;
  uint64_t pidfd = 0;
};
// The child is a program of one task with memory of its own. Returns its pid, and the descriptor
// for CLONE_PIDFD. REQUIRES: the turn, if tasks exist.
long fork_program(const Frame& frame, const ForkRequest& request, int& pidfd);
// In a forked child: gives back where it met its parent. Before it makes a process or a task
// itself.
void leave_meeting();
// vfork and posix_spawn: the child borrows this task's memory until it executes another program.
long borrow_program(Frame& frame, const ForkRequest& request, int& pidfd);
// Leaves the original process behind as the monitor; the caller goes on in a child of it, as the
// same task.
void split_monitor();

// Which children a wait is for: __WNOTHREAD (nothing here: children are the program's), __WALL,
// __WCLONE.
inline constexpr int kWaitKinds = static_cast<int>(0xe0000000);

// wait4 and waitid for children that another task made: which (P_ALL, P_PID, P_PGID and an id), and
// for what, in waitid's terms. Returns the pid, 0 (WNOHANG), -ECHILD or -EINTR; fills `found` if a
// child was found. REQUIRES: the turn.
struct FoundChild {
  int status;
  uint32_t user;
  uint8_t usage[144];
};
long wait_child(int kind, int id, int options, FoundChild& found);

}  // namespace weir::tasks
