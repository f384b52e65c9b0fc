// In the monitor: signals that were sent to the program as a whole are passed to a task.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "base/bytes.h"

namespace weir::trap {

// Installs the monitor's handlers and opens its mask.
void forward_signals();
// The code of a SIGCONT that no handler of the program must see.
inline constexpr int kContinuesOnly = -100;
// Before the monitor becomes another program: no tick comes any more, and none is pending.
// REQUIRES: all blocked.
void stop_ticks();
// The signal that tells of a child of the program with this wait status; SIGCHLD where the program
// handles it.
void forward_child(int signal, int pid, uint32_t user, int status);
// The code and status of a siginfo that tells of it.
void describe_child(int status, int& code, int& value);

// A forwarded signal's code; the kernel lets no process but the sender itself use the positive
// ones.
inline constexpr int kForwardedCode = -64;
constexpr int forwarded_code(int code) { return code >= 0 ? kForwardedCode - code : code; }
constexpr int original_code(int code) {
  return code <= kForwardedCode ? kForwardedCode - code : code;
}

// A signal's information (128 bytes) as the kernel takes it from another process, and as a task
// knows that it was chosen for the signal.
struct Forwarded {
  explicit Forwarded(const void* info) {
    copy_bytes(bytes, info, sizeof bytes);
    auto* copy = reinterpret_cast<siginfo_t*>(bytes);
    copy->si_code = forwarded_code(copy->si_code);
  }
  alignas(8) uint8_t bytes[128];
};

}  // namespace weir::trap
