// The kernel's own layouts of signal structures (glibc's differ), and the few numbers that Weir
// keeps for itself.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "sys/syscall_x86_64.h"

namespace weir::sys {

struct KernelSigaction {
  void* handler;
  uint64_t flags;
  void* restorer;
  uint64_t mask;
};

inline constexpr uint64_t kSaRestorer = 0x04000000;
inline constexpr int kSignals = 64;
// Bytes of a ucontext_t that the kernel writes and reads.
inline constexpr uint64_t kContextSize = 304;
// The processor's state that belongs to it: 512 bytes that every processor has, of which some are
// the kernel's. These say whether more follows (then a header comes next), and how much it all is.
inline constexpr uint64_t kStateSoftware = 464, kStateHeader = 512;
inline constexpr uint32_t kStateMagic = 0x46505853;
inline uint64_t size_of_state(const void* state) {
  const auto* own =
      reinterpret_cast<const uint32_t*>(static_cast<const char*>(state) + kStateSoftware);
  return own[0] == kStateMagic ? own[1] : kStateHeader;
}
// That glibc leaves to programs. SIGRTMIN is a call of a function of libc's.
inline constexpr int kFirstRealTime = 34;

inline constexpr uint64_t kTrapFlag = 0x100;  // of rflags: a SIGTRAP after the next instruction

// The signal by which Weir interrupts a running task: SIGSTKFLT, unused by Linux since the
// coprocessor left. gdb does not know that one and cannot pass it on. So if a debugger watches, it
// is SIGSETXID, which no program can use. Set before any handler is.
inline constexpr int kProbeSignal = 16, kProbeSignalDebugged = 33;
inline int g_probe_signal = kProbeSignal;

constexpr uint64_t signal_bit(int signal) { return uint64_t{1} << (signal - 1); }

// Where no signal may come. A fault would kill the process if its signal were blocked, whoever
// handles it. What ends a program by what it does itself, unless somebody sends it; all others only
// come from somebody.
constexpr bool is_own_end(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
         signal == SIGTRAP || signal == SIGSYS || signal == SIGABRT;
}
// What is ignored where the program has said nothing of it.
constexpr bool is_ignored_by_default(int signal) {
  return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}
constexpr uint64_t kAllButFaults = ~(uint64_t{1} << (SIGSEGV - 1) | uint64_t{1} << (SIGBUS - 1));

// The same without those of single steps: for code that may be stepped.
constexpr uint64_t kAllButFaultsAndSteps = kAllButFaults & ~signal_bit(SIGTRAP);

// Signals whose delivery Weir itself needs: no program mask may block them.
inline constexpr int kNeverBlockedCount = 4;
inline uint64_t never_blocked() {
  return signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGTRAP) |
         signal_bit(g_probe_signal);
}

// No signal comes to this thread, not even those of a fault, which others may send, too.
class NoSignals {
 public:
  NoSignals() {
    const uint64_t all = ~uint64_t{0};
    raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
        reinterpret_cast<long>(&before_), 8);
  }
  ~NoSignals() { raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before_), 0, 8); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  uint64_t before_ = 0;
};

}  // namespace weir::sys
