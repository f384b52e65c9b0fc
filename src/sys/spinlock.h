// A lock for the runtime's own shared state: held for a few hundred instructions, never across a
// wait.
#pragma once

#include <stdint.h>

#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir {

// Shared: may lie in memory that all tasks see. A holder that is killed takes the whole program
// with it (the monitor ends all tasks), so there is no recovery.
class SpinLock {
 public:
  void lock() {
    unsigned spins = 0;
    while (__atomic_exchange_n(&word_, 1u,
                               __ATOMIC_ACQUIRE)) {  // acquire: sees what the last holder wrote
      while (__atomic_load_n(&word_, __ATOMIC_RELAXED)) {
        sys::cpu_relax();
        if (++spins % 256 != 0) continue;
        if (spins < 2048) {
          sys::raw(SYS_sched_yield);  // the holder may be preempted on this very processor
        } else {  // ... and a waiter of real-time priority yields to nobody: it must sleep
          leave_if_broken();  // a holder whose check failed does not come back
          int64_t pause[2] = {0, 20'000};
          sys::raw(SYS_nanosleep, reinterpret_cast<long>(pause), 0);
        }
      }
    }
  }
  void unlock() { __atomic_store_n(&word_, 0u, __ATOMIC_RELEASE); }
  // By anybody: for checks.
  bool is_held() const { return __atomic_load_n(&word_, __ATOMIC_RELAXED); }
  // In a copy that a forked child got: whoever held the lock is not there.
  void reset() { unlock(); }

 private:
  uint32_t word_ = 0;
};

class SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~SpinGuard() { lock_.unlock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace weir
