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

#include "check/core/happens_before.h"
#include "interpose/event_call.h"
#include "interpose/real.h"
#include "interpose/sync/lock_balance.h"
#include "interpose/sync/lock_words.h"
#include "sync/object_buckets.h"

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

// The round in which the task has arrived as number `mine`.
class RoundWait final : public WordWait {
 public:
  RoundWait(volatile Barrier& barrier, uint32_t mine)
      : WordWait(const_cast<uint32_t*>(&barrier.current_round)), barrier_(barrier), mine_(mine) {}
  bool goes_on() const override { return waits(barrier_, mine_); }

 private:
  volatile Barrier& barrier_;
  uint32_t mine_;
};

// Without a turn. Returns as make_event() does.
long wait_for_round(Task& task, long address, volatile Barrier& barrier, uint32_t mine) {
  if (!fast_path().wait_at_word(task, RoundWait(barrier, mine))) return mine;
  happens::acquire(round_of(address, barrier, mine));
  return 0;
}

// Those who wait without a turn.
void wake_round(volatile Barrier& barrier) {
  sys::futex_wake(const_cast<uint32_t*>(&barrier.current_round), 0x7fffffff);
}

// Makes an arrival, and waits. It returns 0, SERIAL_THREAD, or the task's arrival number if it is
// to come again.
class AwaitRound final : public LockOperation {
 public:
  explicit AwaitRound(pthread_barrier_t* barrier)
      : LockOperation(reinterpret_cast<uint64_t>(barrier)) {}

  const char* why() const override { return "a barrier where others wait in turns"; }

  Result make_in_order(Task& task) override {
    if (object::has_waiting(task)) return Result::takes_turn();
    completes_ = arrive(at(), barrier(), number);
    if (completes_) happens::acquire(round_of(at(), barrier(), number));
    return 0;
  }
  long finish(Task& task, long) override {
    if (!completes_) return wait_for_round(task, at(), barrier(), number);
    wake_round(barrier());
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  long make_event(Task& task);

  uint32_t number = 0;  // the task's arrival number, 0 before it has one

 private:
  long at() const { return static_cast<long>(object); }
  volatile Barrier& barrier() const { return *object_at<volatile Barrier>(at()); }

  bool completes_ = false;
};

long AwaitRound::make_event(Task& task) {
  begin_turn(EventKind::kBarrier);
  auto& words = barrier();
  const bool is_back = number != 0;
  long result = 0;
  bool completes = false, stays;
  {
    const ObjectScope scope(task, object);
    if (!is_back) completes = arrive(at(), words, number);
    stays = is_back && waits(words, number);
    if (stays) fast_path().count_waiting(task, 1);
  }
  if (completes) {
    happens::acquire(round_of(at(), words, number));
    wake(object, ~0u, ~0u);
    end_turn();
    if (fast_path().waits_without_turn()) wake_round(words);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  if (!is_back && fast_path().waits_without_turn()) {
    end_turn();
    return wait_for_round(task, at(), words, number);
  }
  while (result == 0 && waits(words, number)) result = block(object, ~0u, 0, "barrier");
  if (stays) {
    const ObjectScope scope(task, object);
    fast_path().count_waiting(task, -1);
  }
  if (result == 0) happens::acquire(round_of(at(), words, number));
  end_turn();
  return result ? static_cast<long>(number) : 0;
}

constexpr uint64_t kBarrierSpinCycles = 200'000;  // virtual nanoseconds, of who waits in turns
constexpr uint64_t kMaxSpinCycles = 60'000;       // cycles

// A spin lock's operations have no points in a recording: it keeps their order by turns.
class SpinOperation : public LockOperation {
 public:
  bool is_logged() const override { return false; }

 protected:
  explicit SpinOperation(const volatile int* lock)
      : LockOperation(reinterpret_cast<uint64_t>(lock)) {}
  volatile int& lock() const { return *object_at<volatile int>(static_cast<long>(object)); }
  bool take(volatile int& lock) const {
    if (lock != kSpinFree) return false;
    happens::lock(object);
    lock = kSpinHeld;
    return true;
  }
};

class TakeSpin final : public SpinOperation {
 public:
  TakeSpin(pthread_spinlock_t* lock, bool only_try) : SpinOperation(lock), only_try_(only_try) {}

  Result make_sole(Task&) override {
    return if_taken(take(*reinterpret_cast<volatile int*>(object)));
  }
  Result make_in_order(Task&) override { return if_taken(take(lock())); }
  uint64_t patience() const override { return only_try_ ? 0 : kMaxSpinCycles; }
  bool may_succeed() const override { return lock() == kSpinFree; }
  long make_event(Task& task) {
    begin_turn(EventKind::kSpin);
    long result = 0;
    for (;;) {
      {
        const ObjectScope scope(task, object, Logging::kUnlogged);
        if (take(lock())) break;
      }
      result = EBUSY;
      if (only_try_) break;
      if (block(object, ~0u, kBarrierSpinCycles, "spin lock") == EINTR) {
        result = kAgain;
        break;
      }
      result = 0;
    }
    end_turn();
    return result;
  }

 private:
  static Result if_taken(bool taken) { return taken ? Result(0) : Result::takes_turn(); }

  bool only_try_;
};

class ReleaseSpin final : public SpinOperation {
 public:
  explicit ReleaseSpin(pthread_spinlock_t* lock) : SpinOperation(lock) {}

  Result make_in_order(Task&) override {
    give_back();
    return 0;
  }
  // Who waits looks again by itself before long.
  long make_event(Task& task) {
    begin_turn(EventKind::kSpin);
    {
      const ObjectScope scope(task, object, Logging::kUnlogged);
      give_back();
    }
    wake(object, 1, ~0u);
    end_turn();
    return 0;
  }

 private:
  void give_back() const {
    happens::unlock(object);
    lock() = kSpinFree;
  }
};

// Where it needs no turn though a recording has no points of it, it is tried in the runtime by a
// task that is alone, too.
template <typename Made>
int make_pending(Made& operation) {
  long result;
  do {
    operation.is_pending = true;
    result = make_in_runtime(operation);
  } while (result == kAgain);
  return static_cast<int>(result);
}

int spin(pthread_spinlock_t* lock, bool only_try) {
  TakeSpin take(lock, only_try);
  if (*lock == kSpinFree && try_without_turn(take).is_made()) return 0;
  return make_pending(take);
}

}  // namespace

}  // namespace weir::interpose

using namespace weir;
using namespace weir::interpose;

WEIR_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  if (checks_locks()) check_use(barrier, WEIR_CALLER);
  if (!is_event() || beside(reinterpret_cast<Barrier*>(barrier))->shared)
    return by_library([&] { return real().pthread_barrier_wait(barrier); });
  AwaitRound await(barrier);
  Result made = try_without_turn(await);
  long result = made.is_made() ? made.value() : 0;
  if (made.is_made() && result <= 0) return static_cast<int>(result);
  do {
    await.number = static_cast<uint32_t>(result);
    result = make_in_runtime(await);
  } while (result > 0);
  return static_cast<int>(result);
}

WEIR_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  if (checks_locks()) check_use(lock, WEIR_CALLER);
  if (checks_locks()) check_order(lock, false, WEIR_CALLER);
  return is_event() ? spin(const_cast<pthread_spinlock_t*>(lock), false)
                    : weir::happens::by_library([&] { return real().pthread_spin_lock(lock); });
}

WEIR_EXPORT int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  if (checks_locks()) check_use(lock, WEIR_CALLER);
  return is_event() ? spin(lock, true)
                    : weir::happens::by_library([&] { return real().pthread_spin_trylock(lock); });
}

WEIR_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  if (checks_locks()) check_unlock(lock, WEIR_CALLER);
  if (!is_event())
    return weir::happens::by_library([&] { return real().pthread_spin_unlock(lock); });
  ReleaseSpin release(lock);
  return make_pending(release);
}
