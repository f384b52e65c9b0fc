// Read-write locks, in glibc's words: __readers is the number of readers times 8 with the bits
// kWritePhase and kWriteLocked, both set while a writer holds the lock; __wrphase_futex and
// __writers_futex repeat them for glibc's sleepers, and their addresses are the queues of readers
// and of writers here. A lock that nobody holds may be left in its write phase.
//
// Who goes first is glibc's: readers may pass waiting writers, except where the attribute
// PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP is set; a writer that unlocks wakes a writer first
// unless readers are preferred, and then all readers.

#include <errno.h>
#include <stddef.h>

#include "check/happens_before.h"
#include "interpose/event_call.h"
#include "interpose/real.h"
#include "interpose/sync/lock_balance.h"
#include "interpose/sync/lock_words.h"

namespace weir::interpose {

namespace {

using Lock = ReadWriteLock;

bool is_ours(const pthread_rwlock_t* lock) { return !beside(lock)->__data.__shared; }

uint64_t reader_queue(long address) {
  return static_cast<uint64_t>(address) + offsetof(Lock, __wrphase_futex);
}
uint64_t writer_queue(long address) {
  return static_cast<uint64_t>(address) + offsetof(Lock, __writers_futex);
}

bool prefers_writers(const Lock& lock) {
  return lock.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

int try_read(Lock& lock, uint64_t address, int me, bool writers_wait) {
  if (written(lock)) return lock.__cur_writer == me ? EDEADLK : EBUSY;
  if (writers_wait && prefers_writers(lock) && readers(lock)) return EBUSY;
  const uint32_t count = readers(lock);
  if (count == ~0u / kReader) return EAGAIN;
  happens::lock(address, true);
  lock.__readers = (count + 1) * kReader;
  lock.__wrphase_futex = 0;
  return 0;
}

int try_write(Lock& lock, uint64_t address, int me) {
  if (written(lock)) return lock.__cur_writer == me ? EDEADLK : EBUSY;
  if (readers(lock)) return EBUSY;
  happens::lock(address);
  lock.__readers = kWritten;
  lock.__wrphase_futex = 1;
  lock.__writers_futex = 1;
  lock.__cur_writer = me;
  return 0;
}

int try_take(Lock& lock, uint64_t address, int me, bool writes, bool writers_wait = false) {
  return writes ? try_write(lock, address, me) : try_read(lock, address, me, writers_wait);
}

// Nothing to wake here.
void give_back(Lock& lock, uint64_t address) {
  happens::unlock(address);
  if (written(lock)) {
    lock.__cur_writer = 0;
    lock.__writers_futex = 0;
    lock.__readers = kWritePhase;
  } else {
    lock.__readers -= kReader;
  }
}

constexpr long kRead = 0, kWrite = 1, kTryRead = 2, kTryWrite = 3, kTried = 4;

// Order only, without a turn, where nobody waits.
long read_in_order(Task& task, long address) {
  return in_order(
      task, static_cast<uint64_t>(address), "a read-write lock that is not free for reading", [&] {
        return !object::waiting(task) &&
                       try_read(*object_at<Lock>(address), static_cast<uint64_t>(address),
                                task.identity.virtual_tid, false) == 0
                   ? 0
                   : kTakesTurn;
      });
}

long write_in_order(Task& task, long address) {
  return in_order(task, static_cast<uint64_t>(address),
                  "a read-write lock that is not free for writing", [&] {
                    return try_write(*object_at<Lock>(address), static_cast<uint64_t>(address),
                                     task.identity.virtual_tid) == 0
                               ? 0
                               : kTakesTurn;
                  });
}

// It was given back: of who waits, those go on that may have it now. `wake`: up to so many of a
// queue; how many.
template <typename Wake>
void wake_next(const Lock& lock, long address, bool was_written, bool has_readers, Wake wake) {
  if (has_readers) return;
  if (was_written && lock.__flags == PTHREAD_RWLOCK_PREFER_READER_NP &&
      wake(reader_queue(address), ~0u))
    return;
  if (!wake(writer_queue(address), 1u)) wake(reader_queue(address), ~0u);
}

// Where nothing is kept, those who sleep without a turn. With the object.
void wake_apart(Task& task, const Lock& lock, long address, bool was_written) {
  if (!object::is_unkept()) return;
  wake_next(lock, address, was_written, readers(lock),
            [&](uint64_t queue, uint32_t count) { return object::wake_apart(task, queue, count); });
}

long unlock_in_order(Task& task, long address) {
  return in_order(task, static_cast<uint64_t>(address), "a read-write lock that others wait for",
                  [&] {
                    if (object::waiting(task)) return kTakesTurn;
                    auto& lock = *object_at<Lock>(address);
                    const bool was_written = written(lock);
                    give_back(lock, static_cast<uint64_t>(address));
                    wake_apart(task, lock, address, was_written);
                    return 0L;
                  });
}

// Nothing is kept: sleeps until it has the lock; where it is late, or a signal has come, it waits
// in turns, where a deadlock is found. So it does where others wait there already, and where
// writers are preferred, who must be known to wait.
long wait_apart(Task& task, long address, bool writes) {
  constexpr uint64_t kSleep = 50'000'000;  // nanoseconds
  constexpr long kSleeps = -101;
  for (;;) {
    const long result =
        in_order(task, static_cast<uint64_t>(address), "a read-write lock that is not free", [&] {
          auto& lock = *object_at<Lock>(address);
          if (object::waiting(task) || prefers_writers(lock)) return kTakesTurn;
          const int tried =
              try_take(lock, static_cast<uint64_t>(address), task.identity.virtual_tid, writes);
          if (tried == 0) return 0L;
          if (tried != EBUSY) return kTakesTurn;
          object::begin_sleep_apart(task, writes ? writer_queue(address) : reader_queue(address));
          return kSleeps;
        });
    if (result != kSleeps) return result;
    object::sleep_apart(task, kSleep, false);
    const object::Scope scope(task, static_cast<uint64_t>(address));
    if (object::end_sleep_apart(task)) return kTakesTurn;
  }
}

// Within a turn, around a wait that is not over: who makes it without one looks at that.
void count_waiting(Task& task, int by) {
  if (object::g_ordered) object::waiting(task) += static_cast<uint32_t>(by);
}

long lock_event(long address, long until_at, long how) {
  const Until until = *reinterpret_cast<const Until*>(until_at);
  const bool writes = how & kWrite;
  const bool only_try = how & kTryRead;
  if (replayed_in_order(writes ? write_in_order : read_in_order, address, how & kTried) !=
      kTakesTurn)
    return 0;
  Task& task = self();
  const int me = task.identity.virtual_tid;
  if ((how & kTried) && object::is_unkept() && !only_try && !until.is_set &&
      wait_apart(task, address, writes) == 0)
    return 0;
  begin_turn(EventKind::kRwlock);
  long result;
  bool waited = false;
  for (;;) {
    bool waits;
    {
      const object::Scope scope(task, static_cast<uint64_t>(address));
      auto& lock = *object_at<Lock>(address);
      result = try_take(lock, static_cast<uint64_t>(address), me, writes,
                        !writes && waiters(writer_queue(address)) > 0);
      waits = result == EBUSY && !only_try && !(until.is_set && !is_valid(until.time));
      if (waits != waited) count_waiting(task, waits ? 1 : -1);
      waited = waits;
    }
    if (only_try && result == EDEADLK) result = EBUSY;
    if (result != EBUSY || only_try) break;
    if (until.is_set && !is_valid(until.time)) {
      result = EINVAL;
      break;
    }
    result = block(writes ? writer_queue(address) : reader_queue(address), ~0u, remaining(until),
                   writes ? "lock for writing" : "lock for reading");
    if (result == EINTR) result = kAgain;
    if (result == 0) continue;
    {
      const object::Scope scope(task, static_cast<uint64_t>(address));
      count_waiting(task, -1);
    }
    // A reader may have kept away for this writer.
    if (writes && !waiters(writer_queue(address))) wake(reader_queue(address), ~0u, ~0u);
    break;
  }
  end_turn();
  return result;
}

long unlock_event(long address, long tried, long) {
  if (replayed_in_order(unlock_in_order, address, tried) != kTakesTurn) return 0;
  begin_turn(EventKind::kRwlock);
  auto& lock = *object_at<Lock>(address);
  bool was_written, has_readers;
  {
    const object::Scope scope(self(), static_cast<uint64_t>(address));
    was_written = written(lock);
    give_back(lock, static_cast<uint64_t>(address));
    wake_apart(self(), lock, address, was_written);
    has_readers = readers(lock);
  }
  wake_next(lock, address, was_written, has_readers,
            [](uint64_t queue, uint32_t count) { return wake(queue, count, ~0u); });
  end_turn();
  return 0;
}

int lock_until(pthread_rwlock_t* lock, const Until& until, long how) {
  bool tried;
  {
    AloneSection section;
    tried = !section.alone();
    if (!tried && !prefers_writers(lock->__data)) {
      const object::Scope scope(self(), reinterpret_cast<uint64_t>(lock), self().turn.depth != 0);
      if (try_take(lock->__data, reinterpret_cast<uint64_t>(lock), section.tid(), how & kWrite) ==
          0)
        return 0;
    }
    if (tried &&
        recorded_in_order(how & kWrite ? write_in_order : read_in_order, lock) != kTakesTurn)
      return 0;
  }
  if (tried) how |= kTried;
  long result;
  do {
    result =
        weir_upcall(lock_event, reinterpret_cast<long>(lock), reinterpret_cast<long>(&until), how);
    how &= ~kTried;
  } while (result == kAgain);
  return static_cast<int>(result);
}

bool is_event(const pthread_rwlock_t* lock) { return interpose::is_event() && is_ours(lock); }

}  // namespace

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  if (!is_event(lock)) return by_library([&] { return real().pthread_rwlock_rdlock(lock); });
  return lock_until(lock, Until{}, kRead);
}

WEIR_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  if (!is_event(lock)) return by_library([&] { return real().pthread_rwlock_wrlock(lock); });
  return lock_until(lock, Until{}, kWrite);
}

WEIR_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  if (!is_event(lock)) return by_library([&] { return real().pthread_rwlock_tryrdlock(lock); });
  return lock_until(lock, Until{}, kTryRead);
}

WEIR_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  if (!is_event(lock)) return by_library([&] { return real().pthread_rwlock_trywrlock(lock); });
  return lock_until(lock, Until{}, kTryWrite | kWrite);
}

WEIR_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  if (!is_event(lock))
    return by_library([&] { return real().pthread_rwlock_timedrdlock(lock, time); });
  if (!is_valid(*time)) return EINVAL;
  return lock_until(lock, Until{time, CLOCK_REALTIME}, kRead);
}

WEIR_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  if (!is_event(lock))
    return by_library([&] { return real().pthread_rwlock_timedwrlock(lock, time); });
  if (!is_valid(*time)) return EINVAL;
  return lock_until(lock, Until{time, CLOCK_REALTIME}, kWrite);
}

WEIR_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                           const timespec* time) noexcept {
  if (!is_event(lock))
    return by_library([&] { return real().pthread_rwlock_clockrdlock(lock, clock, time); });
  if (!is_supported(clock) || !is_valid(*time)) return EINVAL;
  return lock_until(lock, Until{time, clock}, kRead);
}

WEIR_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                           const timespec* time) noexcept {
  if (!is_event(lock))
    return by_library([&] { return real().pthread_rwlock_clockwrlock(lock, clock, time); });
  if (!is_supported(clock) || !is_valid(*time)) return EINVAL;
  return lock_until(lock, Until{time, clock}, kWrite);
}

WEIR_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  if (checks_locks()) check_unlock(lock, WEIR_CALLER);
  if (!is_event(lock)) return by_library([&] { return real().pthread_rwlock_unlock(lock); });
  bool tried;
  if (makes_in_order(unlock_in_order, lock, tried)) return 0;
  return static_cast<int>(weir::weir_upcall(unlock_event, reinterpret_cast<long>(lock), tried, 0));
}
