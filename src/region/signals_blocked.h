// While this lives, no handler of a signal that is sent interrupts the calling thread.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "sys/syscall_x86_64.h"

namespace weir::region {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    const uint64_t every = ~uint64_t{0};
    sys::raw(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&every),
             reinterpret_cast<long>(&mask_), sizeof mask_);
  }
  ~SignalsBlocked() {
    sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask_), 0, sizeof mask_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t mask_ = 0;
};

}  // namespace weir::region
