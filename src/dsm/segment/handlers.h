// The program's own handlers of the signals that the library handles.
#pragma once

#include <signal.h>

#include <atomic>

namespace weir::dsm {

class ProgramHandler {
 public:
  void set(const struct sigaction& action);
  struct sigaction get() const;
  // Runs the program's handler for a signal that is none of the library's, as if the kernel had
  // called it. By default the process ends.
  void run(int number, siginfo_t* info, void* context);

 private:
  static constexpr unsigned kKept = 16;  // so many may be set while a handler reads one
  struct sigaction actions_[kKept] = {};
  std::atomic<unsigned> current_{0}, next_{1};
};

// SIGSEGV's, or SIGSYS's.
ProgramHandler& program_handler(int number);
// libc's own function, for the library's handlers.
int sigaction_of_libc(int number, const struct sigaction* action, struct sigaction* before);
// A mask without these two: blocked, the kernel would end the process at the next use of shared
// memory.
sigset_t without_faults(const sigset_t& mask);
// From here on what the program installs for these two is kept, and the library's handlers stay.
void keep_handlers();

}  // namespace weir::dsm
