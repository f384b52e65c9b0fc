// How signals look that the monitor (task/forward.h) or a task passes to a task.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "base/bytes.h"

namespace weir::trap {

// The code of a SIGCONT that no handler of the program must see.
inline constexpr int kContinuesOnly = -100;

// A forwarded signal's code; the kernel lets no process but the sender itself use the positive
// ones.
inline constexpr int kForwardedCode = -64;
constexpr int forwarded_code(int code) { return code >= 0 ? kForwardedCode - code : code; }
constexpr int original_code(int code) {
  return code <= kForwardedCode ? kForwardedCode - code : code;
}

// Whether a process has sent it, of which si_pid tells; of an original code.
constexpr bool has_sender(int code) {
  return code == SI_USER || code == SI_QUEUE || code == SI_TKILL || code == SI_MESGQ;
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
