// A lock that knows its holder, because a signal's handler may interrupt the holder and trap on a
// region. The handler then goes on without the lock (see state.h, invariant 4). The lock is held
// for a few hundred instructions, never across a call of the program's code.
//
// Two threads may be interrupted so, each in a section that the other's handler needs. Code that is
// not interrupted takes locks in the order of their ranks. So a thread that waits for a lock while
// it holds one of that rank or a higher one is in a handler. It waits for a while; then it takes
// the holder for interrupted too, and goes on as if it had interrupted that section itself. A
// thread that holds only lower ranks waits until it has the lock. Such threads never wait for each
// other in a circle.
#pragma once

#include <stdint.h>

#include "sys/syscall_x86_64.h"

namespace weir::region {

// The thread pointer: one for each thread, the same in a forked child, and read without a call.
inline uint64_t this_thread() { return reinterpret_cast<uint64_t>(__builtin_thread_pointer()); }

// In the order in which they are taken. A region's is what zeroed memory has.
enum LockRank : int8_t { kStartRank = -2, kRegistryRank, kRegionRank, kUnboundedRank };

// How many of these locks the calling thread holds, by rank.
extern __thread uint8_t t_locks_held[4] __attribute__((tls_model("initial-exec")));

class OwnerLock {
 public:
  constexpr explicit OwnerLock(LockRank rank = kRegionRank) : rank_(rank) {}
  // Returns false if the calling thread already holds the lock, or (in a handler) if an interrupted
  // thread does.
  bool lock() { return lock_as(rank_); }
  void unlock() { unlock_as(rank_); }
  // lock() for a caller that knows the rank: the path of a change of level.
  [[gnu::always_inline]] bool lock_as(LockRank rank) {
    const uint64_t me = this_thread();
    uint64_t holder = 0;
    // acquire: sees what the last holder wrote
    if (__builtin_expect(__atomic_compare_exchange_n(&holder_, &holder, me, false, __ATOMIC_ACQUIRE,
                                                     __ATOMIC_RELAXED),
                         1)) {
      t_locks_held[rank - kStartRank]++;
      return true;
    }
    return holder != me && wait(me);
  }
  [[gnu::always_inline]] void unlock_as(LockRank rank) {
    __atomic_store_n(&holder_, uint64_t{0}, __ATOMIC_RELEASE);
    t_locks_held[rank - kStartRank]--;
  }
  bool is_mine() const { return __atomic_load_n(&holder_, __ATOMIC_RELAXED) == this_thread(); }
  // In a forked child, alone: whether somebody held it who is not there. It is free then.
  bool release_orphan() {
    if (!holder_ || is_mine()) return false;
    holder_ = 0;
    return true;
  }

 private:
  [[gnu::noinline]] bool wait(uint64_t me) {
    constexpr unsigned kMaxSpins = 2048 + 50;  // some 4 ms
    for (unsigned spins = 1;; spins++) {
      sys::cpu_relax();
      if (__atomic_load_n(&holder_, __ATOMIC_RELAXED) == 0) {
        uint64_t nobody = 0;
        if (__atomic_compare_exchange_n(&holder_, &nobody, me, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
          t_locks_held[rank_ - kStartRank]++;
          return true;
        }
      }
      if (spins > kMaxSpins && is_in_handler()) return false;
      if (spins < 2048 && spins % 256) continue;
      if (spins < 2048) {
        sys::raw(SYS_sched_yield);  // the holder may be preempted on this very processor
      } else {                      // ... and a waiter of real-time priority yields to nobody
        int64_t pause[2] = {0, 20'000};
        sys::raw(SYS_nanosleep, reinterpret_cast<long>(pause), 0);
      }
    }
  }
  bool is_in_handler() const {
    for (int rank = rank_; rank <= kUnboundedRank; rank++) {
      if (t_locks_held[rank - kStartRank]) return true;
    }
    return false;
  }

  uint64_t holder_ = 0;
  LockRank rank_;
};

class RegionGuard {
 public:
  [[gnu::always_inline]] explicit RegionGuard(OwnerLock& lock)
      : lock_(lock), taken_(lock.lock_as(kRegionRank)) {}
  [[gnu::always_inline]] ~RegionGuard() {
    if (taken_) lock_.unlock_as(kRegionRank);
  }
  RegionGuard(const RegionGuard&) = delete;
  RegionGuard& operator=(const RegionGuard&) = delete;

 private:
  OwnerLock& lock_;
  const bool taken_;
};

class OwnerGuard {
 public:
  explicit OwnerGuard(OwnerLock& lock) : lock_(lock), taken_(lock.lock()) {}
  ~OwnerGuard() {
    if (taken_) lock_.unlock();
  }
  OwnerGuard(const OwnerGuard&) = delete;
  OwnerGuard& operator=(const OwnerGuard&) = delete;
  bool taken() const {
    return taken_;
  }  // false: by a frame of this thread that a signal has interrupted

 private:
  OwnerLock& lock_;
  const bool taken_;
};

}  // namespace weir::region
