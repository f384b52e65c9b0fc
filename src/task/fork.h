// Processes that the program makes itself, and the monitor that keeps the program's pid.
#pragma once

#include <stdint.h>

#include "base/frame.h"

namespace weir::tasks {

// fork: the child is a program of one task with memory of its own. REQUIRES: the turn, where tasks exist.
long fork_program(const Frame& frame, uint64_t exit_signal, uint64_t child_tid, uint64_t flags);
// vfork and posix_spawn: the child borrows this task's memory until it executes another program.
long borrow_program(Frame& frame, uint64_t flags, uint64_t stack);
// execveat while tasks exist: all other tasks end, the program keeps its pid. Pointers are the program's. Returns only where it
// cannot be done: -errno, or kAskKernel where the call will fail and the kernel is to say how.
inline constexpr long kAskKernel = -1000;
long execute_program(int directory, long path, long argv, long envp, int flags);

// Leaves the original process behind as the monitor; the caller goes on in a child of it, as the same task.
void split_monitor();

// wait4 and waitid for children that another task made: which (P_ALL, P_PID, P_PGID and an id), and for what, as waitid has it.
// Answers the pid, 0 (WNOHANG), -ECHILD or -EINTR; `found` is filled where a child was found. REQUIRES: the turn.
struct FoundChild {
  int status;
  uint32_t user;
  uint8_t usage[144];
};
long wait_child(int kind, int id, int options, FoundChild& found);

}  // namespace weir::tasks
