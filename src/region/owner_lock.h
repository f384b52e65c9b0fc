// A lock that knows its holder, since a signal's handler may interrupt the holder and trap on a region: it then goes on without the lock (see state.h,
// invariant 4). Held for a few hundred instructions, never across a call of the program's code.
#pragma once

#include <stdint.h>

#include "sys/syscall_x86_64.h"

namespace weir::region {

// The thread pointer: one for each thread, the same in a forked child, and read without a call.
inline uint64_t this_thread() { return reinterpret_cast<uint64_t>(__builtin_thread_pointer()); }

class OwnerLock {
 public:
  // False: the calling thread holds it already.
  bool lock() {
    const uint64_t me = this_thread();
    uint64_t holder = 0;
    // acquire: sees what the last holder wrote
    if (__builtin_expect(__atomic_compare_exchange_n(&holder_, &holder, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED), 1)) return true;
    if (holder == me) return false;
    for (unsigned spins = 1;; spins++) {
      sys::cpu_relax();
      if (__atomic_load_n(&holder_, __ATOMIC_RELAXED) == 0) {
        holder = 0;
        if (__atomic_compare_exchange_n(&holder_, &holder, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return true;
      }
      if (spins % 256) continue;
      if (spins < 2048) {
        sys::raw(SYS_sched_yield);  // the holder may be preempted on this very processor
      } else {  // ... and a waiter of real-time priority yields to nobody
        int64_t pause[2] = {0, 20'000};
        sys::raw(SYS_nanosleep, reinterpret_cast<long>(pause), 0);
      }
    }
  }
  void unlock() { __atomic_store_n(&holder_, uint64_t{0}, __ATOMIC_RELEASE); }
  bool is_mine() const { return __atomic_load_n(&holder_, __ATOMIC_RELAXED) == this_thread(); }
  // In a forked child: whether somebody held it who is not there.
  bool was_held() const { return holder_ != 0; }

 private:
  uint64_t holder_ = 0;
};

class OwnerGuard {
 public:
  explicit OwnerGuard(OwnerLock& lock) : lock_(lock), taken_(lock.lock()) {}
  ~OwnerGuard() {
    if (taken_) lock_.unlock();
  }
  OwnerGuard(const OwnerGuard&) = delete;
  OwnerGuard& operator=(const OwnerGuard&) = delete;
  bool taken() const { return taken_; }  // false: by a frame of this thread that a signal has interrupted

 private:
  OwnerLock& lock_;
  const bool taken_;
};

}  // namespace weir::region
