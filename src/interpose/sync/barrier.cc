// Barriers and spin locks.
//
// A barrier is glibc's: `in` counts arrivals, `current_round` is the arrival number that completed
// the last round. A waiter knows its own arrival number and is free once current_round has reached
// it; so one that was away in a signal handler when its round was completed finds that out.
// Counting begins again at zero before it could wrap round.
//
// A spin lock is an int, 1 free. Nothing tells whether it is shared with another program, so a
// waiter looks again from time to time (virtual time, so that it stays in order).

#include <errno.h>

#include "check/happens_before.h"
#include "interpose/event_call.h"
#include "interpose/real.h"
#include "interpose/sync/lock_balance.h"
#include "interpose/sync/lock_words.h"
#include "record/stream.h"

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

// Who leaves a round is ordered after all who came to it, and not after those who have come to the
// next one meanwhile.
uint64_t round_of(long address, volatile Barrier& barrier, uint32_t mine) {
  return static_cast<uint64_t>(address) + (barrier.count ? (mine - 1) / barrier.count & 1 : 0);
}

// An arrival; true: it completed the round. It is told before the round is over: who waits without
// a turn goes on at once, and knows it then.
bool arrive(long address, volatile Barrier& barrier, uint32_t& mine) {
  mine = barrier.in + 1;
  happens::release(round_of(address, barrier, mine));
  barrier.in = mine;
  if (mine - barrier.current_round != barrier.count) return false;
  const uint32_t round = mine < kStartAgain ? mine : 0;
  barrier.in = round;
  __atomic_store_n(&barrier.current_round, round,
                   __ATOMIC_RELEASE);  // who waits without a turn sees what comes before it
  barrier.out = round;
  return true;
}

bool waits(volatile Barrier& barrier, uint32_t mine) {
  return __atomic_load_n(&barrier.current_round, __ATOMIC_ACQUIRE) < mine &&
         __atomic_load_n(&barrier.in, __ATOMIC_ACQUIRE) >= mine;
}

// Order only: the others' wake-ups need no order either. Who waits looks for a moment, where it
// takes no other task's processor for that, then sleeps in the kernel; after a while, or where a
// signal has come, it waits in turns, where a deadlock is found. Answers as barrier_event does.
long wait_in_order(Task& task, long address, volatile Barrier& barrier, uint32_t mine) {
  const uint32_t looks = shared().order.live <= runtime::g_processors ? 50 : 0;
  constexpr uint64_t kSleep = 50'000'000;
  if (input::replaying() && object::is_interrupted(task)) return static_cast<long>(mine);
  auto* word = const_cast<uint32_t*>(&barrier.current_round);
  bool given_up = false;
  uint64_t since = 0;
  bool sleeps = false;
  for (uint32_t i = 0; waits(barrier, mine) && !given_up; i++) {
    if (i < looks) {
      sys::cpu_relax();
      continue;
    }
    if (!sleeps && !object::g_kept) begin_kernel_sleep(task);
    sleeps = true;
    const uint32_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (!waits(barrier, mine)) break;
    const long result = sys::futex_wait(word, seen, kSleep);
    if (input::replaying() && result == -ETIMEDOUT) recording::look_round(task, since);
    given_up =
        !input::replaying() && (task.pending || result == -ETIMEDOUT) && waits(barrier, mine);
  }
  if (sleeps && !object::g_kept) end_kernel_sleep(task);
  object::note_wait(task, given_up);
  if (!given_up) happens::acquire(round_of(address, barrier, mine));
  return given_up ? static_cast<long>(mine) : 0;
}

long arrive_in_order(Task& task, long address) {
  if (!object::begin(task, static_cast<uint64_t>(address))) return kTakesTurn;
  auto& barrier = *object_at<volatile Barrier>(address);
  if (object::waiting(task)) {
    object::give_up(task, "a barrier where others wait in turns");
    return kTakesTurn;
  }
  uint32_t mine;
  const bool completes = arrive(address, barrier, mine);
  if (completes) happens::acquire(round_of(address, barrier, mine));
  object::end(task);
  if (!completes) return wait_in_order(task, address, barrier, mine);
  sys::futex_wake(const_cast<uint32_t*>(&barrier.current_round), 0x7fffffff);
  return PTHREAD_BARRIER_SERIAL_THREAD;
}

// `number`: this task's arrival number, 0 before it has one. Answers 0, SERIAL_THREAD, or the
// number: come again.
long barrier_event(long address, long number, long tried) {
  if (const long result = replayed_in_order(arrive_in_order, address, tried); result != kTakesTurn)
    return result;
  const auto key = static_cast<uint64_t>(address);
  Task& task = self();
  begin_turn(EventKind::kBarrier);
  auto& barrier = *object_at<volatile Barrier>(address);
  auto mine = static_cast<uint32_t>(number);
  long result = 0;
  bool completes = false, stays;
  {
    const object::Scope scope(task, key);
    if (!mine) completes = arrive(address, barrier, mine);
    stays = number && !completes && waits(barrier, mine);
    if (stays && object::g_ordered) object::waiting(task)++;
  }
  if (completes) {
    happens::acquire(round_of(address, barrier, mine));
    wake(key, ~0u, ~0u);
    end_turn();
    if (object::g_ordered)
      sys::futex_wake(const_cast<uint32_t*>(&barrier.current_round), 0x7fffffff);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  if (!number && object::g_ordered) {
    end_turn();
    return wait_in_order(task, address, barrier, mine);
  }
  while (result == 0 && waits(barrier, mine)) result = block(key, ~0u, 0, "barrier");
  if (stays && object::g_ordered) {
    const object::Scope scope(task, key);
    object::waiting(task)--;
  }
  if (result == 0) happens::acquire(round_of(address, barrier, mine));
  end_turn();
  return result ? static_cast<long>(mine) : 0;
}

constexpr uint64_t kSpinPatience = 200'000;

// View guarded, without a turn.
long take_apart(Task& task, long address) {
  return in_order(task, static_cast<uint64_t>(address), "a spin lock that another task holds", [&] {
    auto& lock = *object_at<volatile int>(address);
    if (lock != kSpinFree) return kTakesTurn;
    happens::lock(static_cast<uint64_t>(address));
    lock = kSpinHeld;
    return 0L;
  });
}

long give_back_apart(Task& task, long address) {
  return in_order(task, static_cast<uint64_t>(address), "a spin lock that others wait for", [&] {
    happens::unlock(static_cast<uint64_t>(address));
    *object_at<volatile int>(address) = kSpinFree;
    return 0L;
  });
}

long spin_event(long address, long only_try, long) {
  const auto is_free = [&] { return *object_at<volatile int>(address) == kSpinFree; };
  if (const long result = made_apart(take_apart, address, is_free, only_try ? 0 : kPatience);
      result != kTakesTurn)
    return result;
  begin_turn(EventKind::kSpin);
  long result = 0;
  for (;;) {
    {
      const object::Scope scope(self(), static_cast<uint64_t>(address), !object::g_kept);
      auto& lock = *object_at<volatile int>(address);
      if (lock == kSpinFree) {
        happens::lock(static_cast<uint64_t>(address));
        lock = kSpinHeld;
        break;
      }
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

// Who waits looks again by itself before long.
long unspin_event(long address, long, long) {
  if (made_apart(give_back_apart, address, [] { return true; }) != kTakesTurn) return 0;
  begin_turn(EventKind::kSpin);
  {
    const object::Scope scope(self(), static_cast<uint64_t>(address), !object::g_kept);
    happens::unlock(static_cast<uint64_t>(address));
    *object_at<volatile int>(address) = kSpinFree;
  }
  wake(static_cast<uint64_t>(address), 1, ~0u);
  end_turn();
  return 0;
}

int spin(pthread_spinlock_t* lock, bool only_try) {
  if (*lock == kSpinFree) {
    AloneSection section;
    if (section.alone() && *lock == kSpinFree) {
      happens::lock(reinterpret_cast<uint64_t>(lock));
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
  if (!is_event() || beside(reinterpret_cast<Barrier*>(barrier))->shared)
    return by_library([&] { return real().pthread_barrier_wait(barrier); });
  long result = 0;
  bool tried = false;
  if (object::g_ordered) {
    const AloneSection section;
    tried = !section.alone();
    const long here = tried ? recorded_in_order(arrive_in_order, barrier) : kTakesTurn;
    if (here != kTakesTurn) {
      if (here <= 0) return static_cast<int>(here);
      result = here;
      tried = false;
    }
  }
  do {
    result = weir_upcall(barrier_event, reinterpret_cast<long>(barrier), result, tried);
    tried = false;
  } while (result > 0);
  return static_cast<int>(result);
}

WEIR_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  return is_event() ? spin(const_cast<pthread_spinlock_t*>(lock), false)
                    : weir::happens::by_library([&] { return real().pthread_spin_lock(lock); });
}

WEIR_EXPORT int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  return is_event() ? spin(lock, true)
                    : weir::happens::by_library([&] { return real().pthread_spin_trylock(lock); });
}

WEIR_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  if (checks_locks()) check_unlock(lock, WEIR_CALLER);
  if (!is_event())
    return weir::happens::by_library([&] { return real().pthread_spin_unlock(lock); });
  return static_cast<int>(weir_upcall(unspin_event, reinterpret_cast<long>(lock), 0, 0));
}
