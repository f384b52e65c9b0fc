// A mutex is glibc's: __lock is 0 free, 1 held, 2 held and perhaps waited for; __owner is the
// holder's tid. The queue of waiters is the task queue with the mutex's address as its key, which
// is the same as the futex that glibc's own code sleeps on, so that both may work on one mutex.
//
// Invariants
// 1. __lock changes within a turn or a SoleSection only, and in its holder's own copy where the
//    release is published later (sync/biased_lock.cc, which also says when a lock needs no event at
//    all). (Under View direct glibc's own code may do it at any time with a locked instruction: it
//    does so for no mutex that is used here while it is used here, except before tasks exist.) (not
//    checkable: programs change mutexes by glibc's own code too)
// 2. If a task waits in the queue, __lock is 2, or 0 with the first waiter already woken and on its
//    way, or with a task on its way that makes it 2 (view/coherent/lock_prefetch.cc). Where nothing
//    is logged (weir check) waiters sleep on __lock itself for a while, as glibc's do;
//    has_waiting() (sync/object_buckets.h) counts the queue's. (not checkable: a program may write
//    to a mutex as it likes)
// 3. unlock wakes the first waiter, which tries again in its turn; a task whose turn comes earlier
//    may take the mutex first. Turns are in a fixed order, so who gets it is fixed too, and no task
//    can pass a woken one twice. (not checkable: it is about two runs)
//
// Keeping the turn (Dthreads holds its token from lock to unlock): a section keeps the turn that
// its lock got, so that a short one costs one turn instead of two, nobody ever finds its mutex
// held, and no unlock waits for tasks that compute. TaskTurn::held counts the section's mutexes.
// Any other event inside, an unlock out of order included, releases the turn first (begin_turn),
// and the mutex then does without for its next kBrokenSections locks. Nothing but events decides,
// so it is the same in every run; a long computation inside a section does hold up tasks at other
// mutexes, and no count of events can tell. Under View isolated a kept turn publishes once more at
// its end, with all others waiting.

#include "interpose/sync/mutex.h"

#include <errno.h>

#include "check/core/happens_before.h"
#include "control/phase_timer.h"
#include "interpose/real.h"
#include "interpose/sync/lock_balance.h"
#include "sync/biased_lock.h"
#include "sync/coalesce.h"
#include "sync/turn.h"

namespace weir::interpose {

namespace {

// In __spins: so many sections of the mutex do not try to keep the turn.
constexpr short kBrokenSections = 16;
constexpr uint32_t kPatientTries = 3;
constexpr uint64_t kMaxSpinCycles = 60'000;  // cycles: who has a mutex mostly gives it back sooner
constexpr uint64_t kStepBack = 20'000;       // virtual nanoseconds

// One look. EBUSY: it would have to wait (for itself, where a normal mutex is locked again).
inline int try_take(Mutex& mutex, uint64_t address, int me, bool count_user = true) {
  const int kind = mutex.__kind & kMutexKind;
  if (mutex.__lock) {
    if (mutex.__owner != me) return EBUSY;
    if (kind == kErrorCheck) return EDEADLK;
    if (kind != kRecursive) return EBUSY;
    if (mutex.__count + 1 == 0) return EAGAIN;
    mutex.__count++;
    return 0;
  }
  happens::lock(address);
  mutex.__lock = 1;
  mutex.__owner = me;
  if (count_user) mutex.__nusers++;
  if (kind == kRecursive) mutex.__count = 1;
  return 0;
}

enum class Release { kDone, kNotOwner, kKept };

inline Release give_back(Mutex& mutex, uint64_t address, int me, bool forget_user) {
  const int kind = mutex.__kind & kMutexKind;
  if (kind == kRecursive || kind == kErrorCheck) {
    if (mutex.__owner != me || !mutex.__lock) return Release::kNotOwner;
    if (kind == kRecursive && --mutex.__count) return Release::kKept;
  }
  const bool is_others = mutex.__lock && mutex.__owner && mutex.__owner != me;
  if (!is_others) happens::unlock(address);  // undefined, and nobody may rely on what it orders
  mutex.__lock = 0;
  mutex.__owner = 0;
  if (forget_user) mutex.__nusers--;
  return Release::kDone;
}

// Tasks that hold one mutex, fail to lock another, let go and try again in step (std::lock does)
// would fail in step for ever: before it takes the first one again, each stands aside for a while
// of its own length. Who stood aside with that one in its hands would let the others fail.
bool must_stand_aside(const Task& task) {
  return !plan().is_serial() && task.locks.tried_in_vain && task.locks.failed_tries > kPatientTries;
}

void stand_aside(Task& task) {
  if (!must_stand_aside(task)) return;
  task.locks.tried_in_vain = 0;
  const uint64_t rounds = task.id % 16 + task.locks.failed_tries % 4 + 1;
  block(0, 0, rounds * kStepBack, "mutex, after failing to lock another");
}

// Within the turn, the mutex just taken: whether the section keeps it instead of end_turn().
bool keeps_section_turn(long address) {
  Task& task = self();
  if (is_in_gap(task)) {
    enter_section(task, static_cast<uint64_t>(address));
    return false;
  }
  if (task.turn.depth != 1 || !coalesces_turns()) return false;
  auto& mutex = *object_at<Mutex>(address);
  if (mutex.__spins > 0) {
    mutex.__spins--;
    return false;
  }
  enter_section(task, static_cast<uint64_t>(address));
  note_written();
  see_change(static_cast<uint64_t>(address));
  enter_phase(task, Phase::kSection);
  return true;
}

void wake_sleeper(Task& task, long address) {
  fast_path().wake_word(task, reinterpret_cast<uint32_t*>(&object_at<Mutex>(address)->__lock));
}

// To take a mutex.
class TakeMutex : public LockOperation {
 public:
  static constexpr bool kMayBeBiased = true;
  TakeMutex(const void* mutex, bool count_user)
      : LockOperation(reinterpret_cast<uint64_t>(mutex)), count_user_(count_user) {}

  const char* why() const override { return "a mutex that another task holds"; }

  Result make_sole(Task& task) override {
    if (must_stand_aside(task)) return Result::takes_turn();
    const ObjectScope scope(task, object, task.turn.depth != 0);
    const int result =
        try_take(*reinterpret_cast<Mutex*>(object), object, task.identity.virtual_tid);
    if (result == EBUSY) return Result::takes_turn();
    if (result == 0) hold(task, object);
    return result;
  }
  Result make_in_order(Task& task) override {
    const long result = try_take(mutex(), object, task.identity.virtual_tid, count_user_);
    if (result == EBUSY) return Result::takes_turn();
    task.locks.failed_tries = task.locks.tried_in_vain = 0;
    return result;
  }

 protected:
  Mutex& mutex() const { return *object_at<Mutex>(static_cast<long>(object)); }
  bool count_user_;  // as in a lock, not as in a wait for a condition
};

// Waiting for it if need be.
class LockMutex final : public TakeMutex {
 public:
  // `until`: null, or on the program's stack.
  LockMutex(const void* mutex, bool count_user, const Until* until = nullptr)
      : TakeMutex(mutex, count_user), until_(until) {}

  uint64_t patience() const override { return kMaxSpinCycles; }
  bool may_succeed() const override { return !static_cast<volatile Mutex&>(mutex()).__lock; }
  // Until it has the mutex; if it is late, or a signal has come, it waits in turns.
  Result sleep_until_made(Task& task) override {
    if (until_ && until_->is_set) return Result::takes_turn();
    constexpr uint64_t kSleep = 50'000'000;
    Result result = Result::takes_turn();
    begin_kernel_sleep(task);
    for (bool late = false; !late && !task.pending;) {
      Mutex& words = mutex();
      int taken;
      {
        const ObjectScope scope(task, object);
        taken = try_take(words, object, task.identity.virtual_tid, count_user_);
        if (taken == 0 || taken == EBUSY) words.__lock = 2;
      }
      if (taken != EBUSY) {
        result = taken;
        break;
      }
      late = sys::futex_wait(reinterpret_cast<uint32_t*>(&words.__lock), 2, kSleep) == -ETIMEDOUT;
    }
    end_kernel_sleep(task);
    return result;
  }
  long make_event(Task& task) {
    const Until until = until_ ? *until_ : Until{};
    begin_turn(EventKind::kMutex);
    stand_aside(task);
    const auto address = static_cast<long>(object);
    const long result = acquire(address, until, true, false);
    if (result == 0 && keeps_section_turn(address)) return 0;
    end_turn();
    return result;
  }

 private:
  const Until* until_;
};

class TryMutex final : public TakeMutex {
 public:
  explicit TryMutex(const void* mutex) : TakeMutex(mutex, true) {}

  long make_event(Task& task) {
    begin_turn(EventKind::kMutex);
    stand_aside(task);
    fast_path().use(task, object, true);
    int result;
    {
      const ObjectScope scope(task, object);
      result = try_take(mutex(), object, task.identity.virtual_tid);
    }
    if (result == EBUSY) fast_path().note_failed_try(object);
    task.locks.failed_tries = result ? task.locks.failed_tries + 1 : 0;
    task.locks.tried_in_vain = result != 0;
    end_turn();
    return result;
  }
};

class UnlockMutex final : public LockOperation {
 public:
  static constexpr bool kMayBeBiased = true;
  UnlockMutex(const void* mutex, bool forget_user)
      : LockOperation(reinterpret_cast<uint64_t>(mutex)), forget_user_(forget_user) {}

  const char* why() const override { return "a mutex that others wait for"; }

  Result make_sole(Task& task) override {
    if (own().__lock > 1 || !let_go(task)) return Result::takes_turn();
    const ObjectScope scope(task, object, task.turn.depth != 0);
    return give_back(own(), object, task.identity.virtual_tid, true) == Release::kNotOwner ? EPERM
                                                                                           : 0;
  }
  // By the holder, who sees nobody waiting, and for the last time if it has locked it several
  // times.
  Result make_unpublished(Task& task) override {
    Mutex& mutex = own();
    if (task.turn.depth || mutex.__lock != 1 || mutex.__owner != task.identity.virtual_tid)
      return Result::takes_turn();
    if ((mutex.__kind & kMutexKind) == kRecursive && mutex.__count != 1)
      return Result::takes_turn();
    if (!releases_later(task, object)) return Result::takes_turn();
    give_back(mutex, object, task.identity.virtual_tid, true);
    return 0;
  }
  Result make_in_order(Task& task) override {
    auto& mutex = *object_at<Mutex>(static_cast<long>(object));
    if (mutex.__lock > 1 && fast_path().may_wait_in_turns(task)) return Result::takes_turn();
    wakes_ = mutex.__lock > 1;
    switch (give_back(mutex, object, task.identity.virtual_tid, forget_user_)) {
      case Release::kNotOwner: wakes_ = false; return EPERM;
      case Release::kKept: wakes_ = false; break;
      case Release::kDone: break;
    }
    return 0;
  }
  long finish(Task& task, long result) override {
    if (wakes_) wake_sleeper(task, static_cast<long>(object));
    return result;
  }
  long make_event(Task& task) {
    if (is_in_section(task)) begin_section_event(task);
    enter_phase(task, Phase::kTurn);
    begin_turn(EventKind::kMutex);
    const int result = release(static_cast<long>(object), true);
    fast_path().note_release(object);
    if (task.turn.broken_section == object) {
      object_at<Mutex>(static_cast<long>(object))->__spins = kBrokenSections;
      task.turn.broken_section = 0;
    }
    if (task.turn.state == TurnState::kGapSectionEvent) leave_section(task);
    end_turn();
    if (task.turn.state != TurnState::kSectionEvent) return result;
    leave_section(task);
    if (task.turn.held) enter_phase(task, Phase::kSection);
    else end_turn();  // that of its lock
    return result;
  }

 private:
  Mutex& own() const { return *reinterpret_cast<Mutex*>(object); }  // in the task's own mapping

  bool forget_user_;  // as in unlock, not as in a wait for a condition
  bool wakes_ = false;
};

}  // namespace

long acquire(long address, const Until& until, bool count_user, bool through_signals) {
  Task& task = self();
  // It waits for pages once only, so that this ends. Others may wait in the queue of a free mutex,
  // which does not say so until the task that takes it does.
  bool waited = false, has_waited_for_pages = false, others_wait = false;
  for (;;) {
    fast_path().use(task, static_cast<uint64_t>(address), true);
    auto& mutex = *object_at<volatile Mutex>(address);
    if (!mutex.__lock && !until.is_set && !has_waited_for_pages) {
      const BeforeLock first = comes_to_lock(static_cast<uint64_t>(address));
      others_wait |= first != BeforeLock::kTakes;
      has_waited_for_pages = first == BeforeLock::kHasWaited;
      if (has_waited_for_pages) continue;
      if (first == BeforeLock::kStandsBack) {
        const int ended = block(static_cast<uint64_t>(address), ~0u, 0, "mutex");
        if (ended == EINTR && !through_signals) return kAgain;
        continue;
      }
    }
    int result;
    {
      const ObjectScope scope(task, static_cast<uint64_t>(address));
      result = try_take(const_cast<Mutex&>(mutex), static_cast<uint64_t>(address),
                        task.identity.virtual_tid, count_user);
      if ((waited || others_wait) && result == 0 && waiters(static_cast<uint64_t>(address)))
        mutex.__lock = 2;
      const bool waits = result == EBUSY && !(until.is_set && !is_valid(until.time));
      if (waits) mutex.__lock = 2;
      if (waits && !waited) fast_path().count_waiting_at_word(task, 1);
      if (result != EBUSY && waited) fast_path().count_waiting_at_word(task, -1);
    }
    if (result != EBUSY) {
      if (result == 0) section_begins(static_cast<uint64_t>(address));
      return result;
    }
    if (until.is_set && !is_valid(until.time)) return EINVAL;
    task.pages.awaits_section = 0;
    waited = true;
    const int ended = block(static_cast<uint64_t>(address), ~0u, remaining(until), "mutex");
    if (ended == ETIMEDOUT || (ended == EINTR && !through_signals)) {
      const ObjectScope scope(task, static_cast<uint64_t>(address), Logging::kUnlogged);
      fast_path().count_waiting_at_word(task, -1);
      return ended == ETIMEDOUT ? ETIMEDOUT : kAgain;
    }
  }
}

int release(long address, bool forget_user) {
  auto& mutex = *object_at<Mutex>(address);
  section_ends();
  bool contended;
  Release released;
  {
    const ObjectScope scope(self(), static_cast<uint64_t>(address));
    contended = mutex.__lock > 1;
    released =
        give_back(mutex, static_cast<uint64_t>(address), self().identity.virtual_tid, forget_user);
  }
  switch (released) {
    case Release::kNotOwner: return EPERM;
    case Release::kKept: return 0;
    case Release::kDone: break;
  }
  if (contended) wake(static_cast<uint64_t>(address), 1, ~0u);
  if (contended) wake_sleeper(self(), address);
  return 0;
}

bool may_be_given_turn_free(const Task& task, const pthread_mutex_t* mutex) {
  const Mutex& words = *object_at<Mutex>(reinterpret_cast<long>(mutex));
  return !(words.__kind & (kMutexKind | kForeignKinds)) && words.__lock &&
         words.__owner == task.identity.virtual_tid;
}

bool give_turn_free(Task& task, const pthread_mutex_t* mutex) {
  UnlockMutex operation(mutex, false);
  const Result result = fast_path().try_in_runtime(task, operation);
  return result.is_made() && result.value() == 0;
}

bool take_turn_free(Task& task, const pthread_mutex_t* mutex) {
  LockMutex operation(mutex, false);
  const Result result = fast_path().try_in_runtime(task, operation);
  return result.is_made() && result.value() == 0;
}

int lock_mutex(pthread_mutex_t* mutex) {
  if (!is_event() || !is_ours(mutex))
    return by_library([&] { return real().pthread_mutex_lock(mutex); });
  return static_cast<int>(make(LockMutex(mutex, true)));
}

int try_mutex(pthread_mutex_t* mutex) {
  if (!is_event() || !is_ours(mutex))
    return by_library([&] { return real().pthread_mutex_trylock(mutex); });
  const auto result = static_cast<int>(make(TryMutex(mutex)));
  return result == EDEADLK ? EBUSY : result;
}

int lock_mutex_until(pthread_mutex_t* mutex, clockid_t clock, const timespec* time) {
  if (!is_event() || !is_ours(mutex))
    return by_library([&] { return real().pthread_mutex_clocklock(mutex, clock, time); });
  if (!is_supported(clock)) return EINVAL;
  const Until until(time, clock);
  return static_cast<int>(make(LockMutex(mutex, true, &until)));
}

int unlock_mutex(pthread_mutex_t* mutex) {
  if (!is_event() || !is_ours(mutex))
    return by_library([&] { return real().pthread_mutex_unlock(mutex); });
  return static_cast<int>(make(UnlockMutex(mutex, true)));
}

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (checks_locks()) check_lock(mutex, WEIR_CALLER);
  return lock_mutex(mutex);
}
WEIR_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (checks_locks()) check_use(mutex, WEIR_CALLER);
  return try_mutex(mutex);
}
WEIR_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (checks_locks()) check_unlock(mutex, WEIR_CALLER);
  return unlock_mutex(mutex);
}

WEIR_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) noexcept {
  if (checks_locks()) check_use(mutex, WEIR_CALLER);
  if (!is_event() || !is_ours(mutex))
    return by_library([&] { return real().pthread_mutex_timedlock(mutex, time); });
  return lock_mutex_until(mutex, CLOCK_REALTIME, time);
}

WEIR_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                        const timespec* time) noexcept {
  if (checks_locks()) check_use(mutex, WEIR_CALLER);
  return lock_mutex_until(mutex, clock, time);
}
