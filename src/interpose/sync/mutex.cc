// A mutex is glibc's: __lock is 0 free, 1 held, 2 held and perhaps waited for; __owner is the
// holder's tid. The queue of waiters is the task queue with the mutex's address as its key, which
// is the same as the futex that glibc's own code sleeps on, so that both may work on one mutex.
//
// Invariants
// 1. __lock changes within a turn or an AloneSection only, and in its holder's own copy where the
//    release is published later (sync/biased_lock.cc, which also says when a lock needs no event at
//    all). (Under View direct glibc's own code may do it at any time with a locked instruction: it
//    does so for no mutex that is used here while it is used here, except before tasks exist.) (not
//    checkable: programs change mutexes by glibc's own code too)
// 2. If a task waits in the queue, __lock is 2, or 0 with the first waiter already woken and on its
//    way. Where nothing is kept (sync/object_order.h) waiters sleep on __lock itself for a while,
//    as glibc's do; object::waiting() counts the queue's. (not checkable: a program may write to a
//    mutex as it likes)
// 3. unlock wakes the first waiter, which tries again in its turn; a task whose turn comes earlier
//    may take the mutex first. Turns are in a fixed order, so who gets it is fixed too, and no task
//    can pass a woken one twice. (not checkable: it is about two runs)
//
// Keeping the turn (Dthreads holds its token from lock to unlock): a section keeps the turn that
// its lock got, so that a short one costs one turn instead of two, nobody ever finds its mutex
// held, and no unlock waits for tasks that compute. TaskTurn::held counts the section's mutexes.
// Any other event inside, an unlock out of order included, gives the turn on first (begin_turn),
// and the mutex then does without for its next kBrokenSections locks. Nothing but events decides,
// so it is the same in every run; a long computation inside a section does hold up tasks at other
// mutexes, and no count of events can tell. Under View isolated a kept turn publishes once more at
// its end, with all others waiting.

#include "interpose/sync/mutex.h"

#include <errno.h>

#include "check/happens_before.h"
#include "control/phase_timer.h"
#include "interpose/real.h"
#include "interpose/sync/lock_balance.h"
#include "memory/backing.h"

namespace weir::interpose {

namespace {

// In __spins: so many sections of the mutex do not try to keep the turn.
constexpr short kBrokenSections = 16;
constexpr uint32_t kPatientTries = 3;
constexpr uint64_t kStepBack = 20'000;  // virtual nanoseconds

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

// Within the turn, before each look: afterwards the store has what the mutex's owner did
// (sync/biased_lock.h).
void use(long address) {
  if (!plan().is_isolated()) return;
  const auto mutex = static_cast<uint64_t>(address);
  use_object(mutex,
             page::store_extent(mutex) != 0);  // what is none of the store's is seen by all at once
}

enum class Release { kDone, kNotOwner, kKept };

inline Release give_back(Mutex& mutex, uint64_t address, int me, bool forget_user) {
  const int kind = mutex.__kind & kMutexKind;
  if (kind == kRecursive || kind == kErrorCheck) {
    if (mutex.__owner != me || !mutex.__lock) return Release::kNotOwner;
    if (kind == kRecursive && --mutex.__count) return Release::kKept;
  }
  happens::unlock(address);
  mutex.__lock = 0;
  mutex.__owner = 0;
  if (forget_user) mutex.__nusers--;
  return Release::kDone;
}

// Tasks that hold one mutex, fail to lock another, let go and try again in step (std::lock does)
// would fail in step for ever: before it tries again, each stands aside for a while of its own
// length.
void stand_aside(Task& task) {
  if (!task.locks.tried_in_vain || task.locks.failed_tries <= kPatientTries) return;
  task.locks.tried_in_vain = 0;
  const uint64_t rounds = task.id % 16 + task.locks.failed_tries % 4 + 1;
  block(0, 0, rounds * kStepBack, "mutex, after failing to lock another");
}

// Within the turn, the mutex just taken: whether the section keeps it.
bool keep_turn(long address) {
  Task& task = self();
  if (task.turn.keeps_for == kKeptForGap) {
    if (!task.turn.held++) task.turn.section = static_cast<uint64_t>(address);
    return false;
  }
  if (task.turn.depth != 1 || !keeps_turns()) return false;
  auto& mutex = *object_at<Mutex>(address);
  if (mutex.__spins > 0) {
    mutex.__spins--;
    return false;
  }
  task.turn.held = 1;
  task.turn.section = static_cast<uint64_t>(address);
  note_written();
  see_change(static_cast<uint64_t>(address));
  enter_phase(task, Phase::kSection);
  return true;
}

// Order only, without a turn: answers as the operation does, or kTakesTurn. `kCounts`: as in a
// lock, not as in a wait for a condition.
template <bool kCounts>
long try_in_order(Task& task, long address) {
  return in_order(task, static_cast<uint64_t>(address), "a mutex that another task holds", [&] {
    const long result = try_take(*object_at<Mutex>(address), static_cast<uint64_t>(address),
                                 task.identity.virtual_tid, kCounts);
    if (result == EBUSY) return kTakesTurn;
    task.locks.failed_tries = task.locks.tried_in_vain = 0;
    return result;
  });
}

// By protection keys: it may lie where its holder only can touch it.
void wake_sleeper(Task& task, long address) {
  if (!object::is_unkept()) return;
  let_kernel_in(task);
  sys::futex_wake(reinterpret_cast<uint32_t*>(&object_at<Mutex>(address)->__lock));
}

template <bool kCounts>
long unlock_in_order(Task& task, long address) {
  bool wakes = false;
  const long result =
      in_order(task, static_cast<uint64_t>(address), "a mutex that others wait for", [&] {
        auto& mutex = *object_at<Mutex>(address);
        if (mutex.__lock > 1 && (object::g_kept || object::waiting(task))) return kTakesTurn;
        wakes = mutex.__lock > 1;
        switch (
            give_back(mutex, static_cast<uint64_t>(address), task.identity.virtual_tid, kCounts)) {
          case Release::kNotOwner: wakes = false; return long{EPERM};
          case Release::kKept: wakes = false; break;
          case Release::kDone: break;
        }
        return 0L;
      });
  if (wakes) wake_sleeper(task, address);
  return result;
}

// Nothing is kept: sleeps until it has the mutex; where it is late, or a signal has come, it waits
// in turns, where a deadlock is found.
long wait_apart(Task& task, long address, bool count_user) {
  constexpr uint64_t kSleep = 50'000'000;
  long result = kTakesTurn;
  begin_kernel_sleep(task);
  for (bool late = false; !late && !task.pending;) {
    auto& mutex = *object_at<Mutex>(address);
    {
      const object::Scope scope(task, static_cast<uint64_t>(address));
      result =
          try_take(mutex, static_cast<uint64_t>(address), task.identity.virtual_tid, count_user);
      if (result == 0 || result == EBUSY) mutex.__lock = 2;
    }
    if (result != EBUSY) break;
    result = kTakesTurn;
    late = sys::futex_wait(reinterpret_cast<uint32_t*>(&mutex.__lock), 2, kSleep) == -ETIMEDOUT;
  }
  end_kernel_sleep(task);
  return result;
}

// `tried`, of this event and those that follow: recorded, it was to be made without a turn.
long lock_event(long address, long until_at, long tried) {
  if (const long result = replayed_in_order(try_in_order<true>, address, tried);
      result != kTakesTurn)
    return result;
  const auto is_free = [&] { return !object_at<volatile Mutex>(address)->__lock; };
  if (const long result = tried ? made_apart(try_in_order<true>, address, is_free) : kTakesTurn;
      result != kTakesTurn)
    return result;
  const Until until = *reinterpret_cast<const Until*>(until_at);
  if (tried && object::is_unkept() && !until.is_set) {
    if (const long result = wait_apart(self(), address, true); result != kTakesTurn) return result;
  }
  begin_turn(EventKind::kMutex);
  stand_aside(self());
  const long result = acquire(address, until, true, false);
  if (result == 0 && keep_turn(address)) return 0;
  end_turn();
  return result;
}

long try_event(long address, long tried, long) {
  if (const long result = replayed_in_order(try_in_order<true>, address, tried);
      result != kTakesTurn)
    return result;
  Task& task = self();
  begin_turn(EventKind::kMutex);
  stand_aside(task);
  use(address);
  int result;
  {
    const object::Scope scope(task, static_cast<uint64_t>(address));
    result = try_take(*object_at<Mutex>(address), static_cast<uint64_t>(address),
                      task.identity.virtual_tid);
  }
  task.locks.failed_tries = result ? task.locks.failed_tries + 1 : 0;
  task.locks.tried_in_vain = result != 0;
  end_turn();
  return result;
}

long unlock_event(long address, long tried, long) {
  if (const long result = replayed_in_order(unlock_in_order<true>, address, tried);
      result != kTakesTurn)
    return result;
  Task& task = self();
  const uint32_t held = task.turn.held;
  task.turn.held = 0;  // this event belongs to the section
  enter_phase(task, Phase::kTurn);
  begin_turn(EventKind::kMutex);
  const bool in_gap = task.turn.keeps_for == kKeptForGap;
  if (in_gap && held > 1) task.turn.held = held - 1;
  const int result = release(address, true);
  if (plan().is_isolated()) note_release(static_cast<uint64_t>(address));
  if (task.turn.broken_section == static_cast<uint64_t>(address)) {
    object_at<Mutex>(address)->__spins = kBrokenSections;
    task.turn.broken_section = 0;
  }
  end_turn();
  if (in_gap) return result;
  if (held == 1) end_turn();
  if (held > 1) task.turn.held = held - 1;
  if (held > 1) enter_phase(task, Phase::kSection);
  return result;
}

int lock_until(pthread_mutex_t* mutex, const Until& until) {
  bool tried;
  {
    AloneSection section(mutex);
    tried = !section.alone();
    if (!tried) {
      const object::Scope scope(self(), reinterpret_cast<uint64_t>(mutex), self().turn.depth != 0);
      const int result = try_take(mutex->__data, reinterpret_cast<uint64_t>(mutex), section.tid());
      if (result == 0) section.hold(mutex);
      if (result != EBUSY) return result;
    } else if (const long result = recorded_in_order(try_in_order<true>, mutex);
               result != kTakesTurn) {
      return static_cast<int>(result);
    }
  }
  long result;
  do {
    result = weir_upcall(lock_event, reinterpret_cast<long>(mutex), reinterpret_cast<long>(&until),
                         tried);
    tried = false;
  } while (result == kAgain);
  return static_cast<int>(result);
}

}  // namespace

long acquire(long address, const Until& until, bool count_user, bool through_signals) {
  Task& task = self();
  bool waited = false;
  const auto count_waiting = [&](int by) {
    if (object::is_unkept()) object::waiting(task) += static_cast<uint32_t>(by);
  };
  for (;;) {
    use(address);
    auto& mutex = *object_at<volatile Mutex>(address);
    int result;
    {
      const object::Scope scope(task, static_cast<uint64_t>(address));
      result = try_take(const_cast<Mutex&>(mutex), static_cast<uint64_t>(address),
                        task.identity.virtual_tid, count_user);
      if (waited && result == 0 && waiters(static_cast<uint64_t>(address))) mutex.__lock = 2;
      const bool waits = result == EBUSY && !(until.is_set && !is_valid(until.time));
      if (waits) mutex.__lock = 2;
      if (waits && !waited) count_waiting(1);
      if (result != EBUSY && waited) count_waiting(-1);
    }
    if (result != EBUSY) {
      if (result == 0) section_begins(static_cast<uint64_t>(address));
      return result;
    }
    if (until.is_set && !is_valid(until.time)) return EINVAL;
    waited = true;
    const int ended = block(static_cast<uint64_t>(address), ~0u, remaining(until), "mutex");
    if (ended == ETIMEDOUT || (ended == EINTR && !through_signals)) {
      const object::Scope scope(task, static_cast<uint64_t>(address), !object::g_kept);
      count_waiting(-1);
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
    const object::Scope scope(self(), static_cast<uint64_t>(address));
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

bool may_be_given_apart(const Task& task, const pthread_mutex_t* mutex) {
  const Mutex& words = *object_at<Mutex>(reinterpret_cast<long>(mutex));
  return !(words.__kind & (kMutexKind | kForeignKinds)) && words.__lock &&
         words.__owner == task.identity.virtual_tid;
}

bool give_apart(Task& task, const pthread_mutex_t* mutex) {
  return unlock_in_order<false>(task, reinterpret_cast<long>(mutex)) == 0;
}

bool take_apart(Task& task, const pthread_mutex_t* mutex) {
  const auto address = reinterpret_cast<long>(mutex);
  const auto is_free = [&] { return !object_at<volatile Mutex>(address)->__lock; };
  return try_in_order<false>(task, address) == 0 ||
         made_apart(try_in_order<false>, address, is_free) == 0 ||
         wait_apart(task, address, false) == 0;
}

int lock_mutex(pthread_mutex_t* mutex) {
  if (!is_event() || !is_ours(mutex))
    return by_library([&] { return real().pthread_mutex_lock(mutex); });
  return lock_until(mutex, Until{});
}

int try_mutex(pthread_mutex_t* mutex) {
  if (!is_event() || !is_ours(mutex))
    return by_library([&] { return real().pthread_mutex_trylock(mutex); });
  int result = -1;
  bool tried;
  {
    AloneSection section(mutex);
    tried = !section.alone();
    if (!tried) {
      const object::Scope scope(self(), reinterpret_cast<uint64_t>(mutex), self().turn.depth != 0);
      result = try_take(mutex->__data, reinterpret_cast<uint64_t>(mutex), section.tid());
      if (result == 0) section.hold(mutex);
    } else if (const long taken = recorded_in_order(try_in_order<true>, mutex);
               taken != kTakesTurn) {
      result = static_cast<int>(taken);
    }
  }
  if (result == -1 || result == EBUSY)
    result = static_cast<int>(weir_upcall(try_event, reinterpret_cast<long>(mutex), tried, 0));
  return result == EDEADLK ? EBUSY : result;
}

int lock_mutex_until(pthread_mutex_t* mutex, clockid_t clock, const timespec* time) {
  if (!is_event() || !is_ours(mutex))
    return by_library([&] { return real().pthread_mutex_clocklock(mutex, clock, time); });
  if (!is_supported(clock)) return EINVAL;
  return lock_until(mutex, Until{time, clock});
}

// By the holder, who sees nobody waiting, and for the last time where it has locked it several
// times.
bool may_release_later(Task& task, const Mutex& mutex) {
  if (task.turn.depth || mutex.__lock != 1 || mutex.__owner != task.identity.virtual_tid)
    return false;
  if ((mutex.__kind & kMutexKind) == kRecursive && mutex.__count != 1) return false;
  return releases_later(task, reinterpret_cast<uint64_t>(&mutex));
}

int unlock_mutex(pthread_mutex_t* mutex) {
  if (!is_event() || !is_ours(mutex))
    return by_library([&] { return real().pthread_mutex_unlock(mutex); });
  bool tried;
  {
    AloneSection section(mutex);
    tried = !section.alone();
    if (!tried && mutex->__data.__lock <= 1 && section.let_go()) {
      const object::Scope scope(self(), reinterpret_cast<uint64_t>(mutex), self().turn.depth != 0);
      return give_back(mutex->__data, reinterpret_cast<uint64_t>(mutex), section.tid(), true) ==
                     Release::kNotOwner
                 ? EPERM
                 : 0;
    }
    if (const long result = tried ? recorded_in_order(unlock_in_order<true>, mutex) : kTakesTurn;
        result != kTakesTurn)
      return static_cast<int>(result);
  }
  if (plan().is_isolated()) {
    AloneSection section;
    if (may_release_later(self(), mutex->__data)) {
      give_back(mutex->__data, reinterpret_cast<uint64_t>(mutex), section.tid(), true);
      return 0;
    }
  }
  return static_cast<int>(weir_upcall(unlock_event, reinterpret_cast<long>(mutex), tried, 0));
}

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (checks_locks()) check_lock(mutex, WEIR_CALLER);
  return lock_mutex(mutex);
}
WEIR_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept { return try_mutex(mutex); }
WEIR_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (checks_locks()) check_unlock(mutex, WEIR_CALLER);
  return unlock_mutex(mutex);
}

WEIR_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) noexcept {
  if (!is_event() || !is_ours(mutex))
    return by_library([&] { return real().pthread_mutex_timedlock(mutex, time); });
  return lock_mutex_until(mutex, CLOCK_REALTIME, time);
}

WEIR_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                        const timespec* time) noexcept {
  return lock_mutex_until(mutex, clock, time);
}
