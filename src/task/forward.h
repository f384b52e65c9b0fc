// In the monitor: signals that were sent to the program as a whole are passed to a task.
#pragma once

#include <stdint.h>

namespace weir::tasks {

// Installs the monitor's handlers and opens its mask.
void forward_signals();
// Before the monitor becomes another program: no tick comes any more, and none is pending.
// REQUIRES: all blocked.
void stop_ticks();
// The signal that tells of a child of the program with this wait status; SIGCHLD where the program
// handles it.
void forward_child(int signal, int pid, uint32_t user, int status);
// The code and status of a siginfo that tells of it.
void describe_child(int status, int& code, int& value);

}  // namespace weir::tasks
