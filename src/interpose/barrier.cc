// Barriers and spin locks.
//
// A barrier is glibc's: `in` counts arrivals, `current_round` is the arrival number that completed the last round. A
// waiter knows its own arrival number and is free once current_round has reached it; so one that was away in a signal
// handler when its round was completed finds that out. Counting begins again at zero before it could wrap round.
//
// A spin lock is an int, 1 free. Nothing tells whether it is shared with another program, so a waiter looks again from
// time to time (virtual time, so that it stays in order).

#include <errno.h>

#include "interpose/event_call.h"
#include "interpose/real.h"

namespace weir::interpose {

namespace {

struct Barrier {
  uint32_t in;
  uint32_t current_round;
  uint32_t count;
  int32_t shared;
  uint32_t out;
};
static_assert(sizeof(Barrier) <= sizeof(pthread_barrier_t));

constexpr uint32_t kStartAgain = 1u << 30;

// `number`: this task's arrival number, 0 before it has one. Answers 0, SERIAL_THREAD, or the number: come again.
long barrier_event(long address, long number, long) {
  const auto key = static_cast<uint64_t>(address);
  begin_turn(EventKind::kBarrier);
  auto& barrier = *object_at<volatile Barrier>(address);
  auto mine = static_cast<uint32_t>(number);
  long result = 0;
  if (!mine) {
    mine = barrier.in + 1;
    barrier.in = mine;
    if (mine - barrier.current_round == barrier.count) {
      const uint32_t round = mine < kStartAgain ? mine : 0;
      barrier.in = round;
      barrier.current_round = round;
      barrier.out = round;
      wake(key, ~0u, ~0u);
      end_turn();
      return PTHREAD_BARRIER_SERIAL_THREAD;
    }
  }
  while (barrier.current_round < mine && barrier.in >= mine && result == 0) result = block(key, ~0u, 0, "barrier");
  end_turn();
  return result ? static_cast<long>(mine) : 0;
}

constexpr int kSpinFree = 1, kSpinHeld = 0;
constexpr uint64_t kSpinPatience = 200'000;

long spin_event(long address, long only_try, long) {
  begin_turn(EventKind::kSpin);
  long result = 0;
  for (;;) {
    auto& lock = *object_at<volatile int>(address);
    if (lock == kSpinFree) {
      lock = kSpinHeld;
      break;
    }
    result = EBUSY;
    if (only_try) break;
    if (block(static_cast<uint64_t>(address), ~0u, kSpinPatience, "spin lock") == EINTR) {
      result = kAgain;
      break;
    }
    result = 0;
  }
  end_turn();
  return result;
}

long unspin_event(long address, long, long) {
  begin_turn(EventKind::kSpin);
  *object_at<volatile int>(address) = kSpinFree;
  wake(static_cast<uint64_t>(address), 1, ~0u);
  end_turn();
  return 0;
}

int spin(pthread_spinlock_t* lock, bool only_try) {
  if (*lock == kSpinFree) {
    AloneSection section;
    if (section.alone() && *lock == kSpinFree) {
      *lock = kSpinHeld;
      return 0;
    }
  }
  long result;
  do {
    result = weir_upcall(spin_event, reinterpret_cast<long>(lock), only_try, 0);
  } while (result == kAgain);
  return static_cast<int>(result);
}

}  // namespace

}  // namespace weir::interpose

using namespace weir;
using namespace weir::interpose;

WEIR_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  if (!is_event() || reinterpret_cast<Barrier*>(barrier)->shared) return real().pthread_barrier_wait(barrier);
  long result = 0;
  do {
    result = weir_upcall(barrier_event, reinterpret_cast<long>(barrier), result, 0);
  } while (result > 0);
  return static_cast<int>(result);
}

WEIR_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  return is_event() ? spin(const_cast<pthread_spinlock_t*>(lock), false) : real().pthread_spin_lock(lock);
}

WEIR_EXPORT int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  return is_event() ? spin(lock, true) : real().pthread_spin_trylock(lock);
}

WEIR_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  if (!is_event()) return real().pthread_spin_unlock(lock);
  return static_cast<int>(weir_upcall(unspin_event, reinterpret_cast<long>(lock), 0, 0));
}
