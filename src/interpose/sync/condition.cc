// Condition variables: nothing is stored in the object; who waits is in the task queue with its
// address as key.
//
// A wait releases the mutex and queues the task in one turn, so no signal falls between; then it
// takes the mutex as a lock does. glibc's own code waits on the same object where the mutex is not
// one of ours (robust, say): it counts itself in a word of it, and a signal that finds no task in
// the queue is passed to it.
//
// In a section that keeps the turn (mutex.cc) neither releases it: a signal is part of the section,
// and so is a wait, which passes the turn on while it lasts and has it again when it is over.
//
// The checked View, where nothing is logged: a wait sleeps without a turn for 50 ms, in its
// object's bucket (sync/object_order.h), and goes on in turns then, where signals, cancellation,
// time limits and deadlocks are looked at. Who signals wakes sleepers of the bucket first, and
// those in the queue, who are counted in the bucket, in its turn. Nobody is lost between: a task is
// among the sleepers before it gives the mutex back, and goes from there to the queue with the
// bucket held.
//
// A signal while nobody waits has no effect, and under View isolated it is no event: who waits
// changes in turns only, so in a parallel phase the answer is fixed. A task that begins to wait in
// the turns after it has looked at what it waits for before it saw what this task wrote; if that
// was written under the mutex, the lock of the mutex orders the two.
//
// Cancellation: a wait is a cancellation point. Where the program calls pthread_cancel (create.cc),
// or glibc's signal for it comes, the wait ends, the mutex is taken again, and pthread_testcancel()
// acts when the runtime has been left. A signal on the condition that the cancelled task has
// received meanwhile goes to the next waiter.

#include <errno.h>
#include <stddef.h>

#include "check/core/happens_before.h"
#include "interpose/real.h"
#include "interpose/sync/lock_balance.h"
#include "interpose/sync/mutex.h"
#include "sync/object_buckets.h"
#include "sync/object_order.h"
#include "sync/turn.h"
#include "sys/libc.h"

namespace weir::interpose {

namespace {

constexpr unsigned kShared = 1, kMonotonic = 2, kOneWaiter = 8;  // of the word that flags_of reads

constexpr long kRelock = -2;       // the mutex is not held: handle signals, then lock
constexpr long kInterrupted = -3;  // the mutex is held: the wait is over, perhaps cancelled
constexpr long kCancelled = -4;    // the mutex is held: it has not begun to wait

struct Wait {
  pthread_cond_t* condition;
  pthread_mutex_t* mutex;
  Until until;
  bool ignores_cancel = false;
};

const unsigned* flags_in(const pthread_cond_t* condition) {
  return reinterpret_cast<const unsigned*>(reinterpret_cast<uint64_t>(condition) +
                                           libc::layout().condition_flags);
}

unsigned flags_of(const pthread_cond_t* condition) {
  return __atomic_load_n(flags_in(beside(condition)), __ATOMIC_RELAXED);
}

bool is_event(const pthread_cond_t* condition) {
  return interpose::is_event() && !(flags_of(condition) & kShared);
}

// The object whose order a condition has (sync/object_order.h): the word in which libc's own
// waiters count themselves, so that they are in it, too.
uint64_t object_of(uint64_t condition) { return condition + libc::layout().condition_flags; }

// What who signals without a turn looks at.
void count_waiting(uint64_t condition, int by) {
  Task& task = self();
  const ObjectScope scope(task, object_of(condition));
  fast_path().count_waiting(task, by);
}

enum class TurnFreeWait {
  kNot,    // it has done nothing
  kHeld,   // the wait is over, and the mutex still held
  kWoken,  // the wait is over, and the mutex is not held
  kLate,   // it is still among the sleepers
};

// Without a turn, for a while.
TurnFreeWait wait_turn_free(Task& task, const Wait& wait) {
  // Nanoseconds: then it waits in turns, where deadlocks are found.
  constexpr uint64_t kWhile = 50'000'000;
  const auto key = reinterpret_cast<uint64_t>(wait.condition);
  if (!may_be_given_turn_free(task, wait.mutex) || (is_cancelled() && !wait.ignores_cancel))
    return TurnFreeWait::kNot;
  // Before others can have the mutex, and signal.
  if (!fast_path().begin_sleep(task, object_of(key), key)) return TurnFreeWait::kNot;
  if (!give_turn_free(task, wait.mutex)) {
    const ObjectScope scope(task, object_of(key));
    return object::end_turn_free_sleep(task) ? TurnFreeWait::kNot : TurnFreeWait::kHeld;
  }
  const uint64_t rest = remaining(wait.until);
  const bool is_short = rest && rest < kWhile;
  object::sleep_turn_free(task, is_short ? rest : kWhile, is_short);
  return __atomic_load_n(&task.point.sleeps_turn_free, __ATOMIC_ACQUIRE) ? TurnFreeWait::kLate
                                                                         : TurnFreeWait::kWoken;
}

// Who has slept without a turn goes on waiting in its turn, or has been woken: what block()
// answers. The mutex is not held.
long go_on_waiting(Task& task, const Wait& wait) {
  const auto key = reinterpret_cast<uint64_t>(wait.condition);
  {
    const ObjectScope scope(task, object_of(key));
    if (!object::end_turn_free_sleep(task)) return 0;
    fast_path().count_waiting(task, 1);
  }
  const bool is_over = is_cancelled() && !wait.ignores_cancel;
  const long result =
      is_over ? EINTR
              : block_cancellable(key, remaining(wait.until), "condition", wait.ignores_cancel);
  count_waiting(key, -1);
  return result;
}

// Within a turn: how many have been woken.
uint32_t wake_any(uint64_t condition, uint32_t count) {
  uint32_t woken;
  {
    Task& task = self();
    const ObjectScope scope(task, object_of(condition), Logging::kUnlogged);
    woken = fast_path().wake_sleepers(task, condition, count);
  }
  return woken < count ? woken + wake(condition, count - woken, ~0u) : woken;
}

// Within a turn, after a wait that ended with `result`: the mutex is taken again.
long end_wait(const Wait& wait, long result) {
  const bool cancelled = is_cancelled() && !wait.ignores_cancel;
  if (result == 0 && cancelled) {
    wake_any(reinterpret_cast<uint64_t>(wait.condition), 1);
    result = EINTR;
  }
  if (result == EINTR && !cancelled) return kRelock;
  if (const long locked = acquire(reinterpret_cast<long>(wait.mutex), Until{}, false, true))
    return locked;
  return result == EINTR ? kInterrupted : result;
}

long wait_event(long wait_at, long, long) {
  const Wait wait = *reinterpret_cast<const Wait*>(wait_at);
  const auto key = reinterpret_cast<uint64_t>(wait.condition);
  const auto mutex = reinterpret_cast<long>(wait.mutex);
  Task& task = self();
  const TurnFreeWait wait_result = wait_turn_free(task, wait);
  if (wait_result == TurnFreeWait::kHeld ||
      (wait_result == TurnFreeWait::kWoken && !is_cancelled() && take_turn_free(task, wait.mutex)))
    return 0;
  SectionEvent section(task);
  if (section.of_more_than(static_cast<uint64_t>(mutex)))
    release_turn(task, ReleaseReason::kSectionIsOver);
  begin_turn(EventKind::kCondition);
  long result;
  if (wait_result != TurnFreeWait::kNot) {
    result = end_wait(wait, wait_result == TurnFreeWait::kWoken ? 0 : go_on_waiting(task, wait));
  } else if (is_cancelled() && !wait.ignores_cancel) {
    result = kCancelled;
  } else {
    count_waiting(key, 1);  // before others can have the mutex, and signal without a turn
    const int error = release(mutex, false);
    result = error
                 ? error
                 : block_cancellable(key, remaining(wait.until), "condition", wait.ignores_cancel);
    count_waiting(key, -1);
    if (!error) result = end_wait(wait, result);
  }
  end_turn();
  if (result == kRelock) release_turn(task, ReleaseReason::kSectionIsOver);
  if (section.goes_on()) publish_and_go_on();
  return result;
}

long relock_event(long mutex, long, long) {
  begin_turn(EventKind::kMutex);
  const long result = acquire(mutex, Until{}, false, is_cancelled());
  end_turn();
  return result;
}

int wait(Wait wait) {
  long result;
  while ((result = weir_upcall(wait_event, reinterpret_cast<long>(&wait), 0, 0)) == kCancelled) {
    real().pthread_testcancel();
    wait.ignores_cancel = true;
  }
  if (result == kRelock) {
    do {
      result = weir_upcall(relock_event, reinterpret_cast<long>(wait.mutex), 0, 0);
    } while (result == kAgain);
    if (result == 0) result = kInterrupted;
  }
  if (result == kInterrupted) {
    real().pthread_testcancel();
    result = 0;  // a spurious wake-up
  }
  return static_cast<int>(result);
}

class WakeWaiters final : public LockOperation {
 public:
  WakeWaiters(const pthread_cond_t* condition, uint32_t count)
      : LockOperation(object_of(reinterpret_cast<uint64_t>(condition))),
        condition_(condition),
        count_(count) {}

  uint64_t address() const { return reinterpret_cast<uint64_t>(condition_); }

  const char* why() const override { return "a condition that others wait for"; }
  // Who waits changes in turns only.
  bool is_idle() const override { return !has_real_waiters() && !waiters(address()); }
  Result make_sole(Task& task) override { return leave_out(task, true); }
  Result make_unpublished(Task& task) override { return leave_out(task, false); }
  // Who sleeps without a turn is woken without one; if nobody waits, that is all that there is to
  // it.
  Result make_in_order(Task& task) override {
    if (fast_path().wake_sleepers(task, address(), count_) == count_) return 0;
    if (object::has_waiting(task) || has_real_waiters()) return Result::takes_turn();
    return 0;
  }
  // Returns whether libc's own waiters are to be woken, too.
  long make_event(Task& task) {
    SectionEvent section(task);
    begin_turn(EventKind::kCondition);
    const uint32_t woken = wake_any(address(), count_);
    const auto* words = object_at<pthread_cond_t>(static_cast<long>(address()));
    const bool others = *flags_in(words) >= kOneWaiter;
    end_turn();
    return others && (count_ > 1 || woken == 0);
  }

 private:
  bool has_real_waiters() const { return flags_of(condition_) >= kOneWaiter; }
  Result leave_out(Task& task, bool is_sole) {
    return fast_path().leaves_out(task, *this, is_sole) ? Result(0) : Result::takes_turn();
  }

  const pthread_cond_t* condition_;
  uint32_t count_;
};

// Returns whether libc's own waiters are to be woken, too.
bool wakes_others(pthread_cond_t* condition, uint32_t count) {
  return make(WakeWaiters(condition, count)) != 0;
}

bool uses_real(const pthread_cond_t* condition, const pthread_mutex_t* mutex) {
  return !is_event(condition) || !is_ours(mutex);
}

}  // namespace

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (checks_locks()) check_use(condition, WEIR_CALLER);
  if (checks_locks()) check_unlock(mutex, WEIR_CALLER);
  if (uses_real(condition, mutex))
    return by_library([&] { return real().pthread_cond_wait(condition, mutex); }, kCancellable);
  return wait({condition, mutex, Until{}});
}

WEIR_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                       const timespec* time) {
  if (checks_locks()) check_use(condition, WEIR_CALLER);
  if (checks_locks()) check_unlock(mutex, WEIR_CALLER);
  if (uses_real(condition, mutex))
    return by_library([&] { return real().pthread_cond_timedwait(condition, mutex, time); },
                      kCancellable);
  if (!is_valid(*time)) return EINVAL;
  return wait({condition, mutex,
               Until{time, flags_of(condition) & kMonotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME}});
}

WEIR_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                       clockid_t clock, const timespec* time) {
  if (checks_locks()) check_use(condition, WEIR_CALLER);
  if (checks_locks()) check_unlock(mutex, WEIR_CALLER);
  if (uses_real(condition, mutex))
    return by_library([&] { return real().pthread_cond_clockwait(condition, mutex, clock, time); },
                      kCancellable);
  if (!is_valid(*time) || !is_supported(clock)) return EINVAL;
  return wait({condition, mutex, Until{time, clock}});
}

WEIR_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (checks_locks()) check_use(condition, WEIR_CALLER);
  if (!is_event(condition) || wakes_others(condition, 1)) {
    return by_library([&] { return real().pthread_cond_signal(condition); });
  }
  return 0;
}

WEIR_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (checks_locks()) check_use(condition, WEIR_CALLER);
  if (!is_event(condition) || wakes_others(condition, ~0u)) {
    return by_library([&] { return real().pthread_cond_broadcast(condition); });
  }
  return 0;
}
