// Read-write locks, in glibc's words. __readers is the number of readers times 8 with the bits
// kWritePhase and kWriteLocked, both set while a writer holds the lock. __wrphase_futex and
// __writers_futex repeat them for glibc's sleepers, and their addresses are the queues of readers
// and of writers here. A lock that no task holds may be left in its write phase.
//
// glibc decides who goes first: readers may pass waiting writers, except if the attribute
// PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP is set. A writer that unlocks wakes a writer first
// unless readers are preferred, and then all readers.

#include <errno.h>
#include <stddef.h>

#include "check/core/happens_before.h"
#include "interpose/event_call.h"
#include "interpose/real.h"
#include "interpose/sync/lock_balance.h"
#include "interpose/sync/lock_words.h"
#include "sync/object_buckets.h"
#include "sync/object_order.h"

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
void give_back(Lock& lock, uint64_t address, int me) {
  if (!written(lock) || lock.__cur_writer == me)
    happens::unlock(address);  // else it is undefined, and nobody may rely on what it orders
  if (written(lock)) {
    lock.__cur_writer = 0;
    lock.__writers_futex = 0;
    lock.__readers = kWritePhase;
  } else {
    lock.__readers -= kReader;
  }
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

// Those who sleep without a turn. REQUIRES: the object.
void wake_sleepers(Task& task, const Lock& lock, long address, bool was_written) {
  wake_next(lock, address, was_written, readers(lock), [&](uint64_t queue, uint32_t count) {
    return fast_path().wake_sleepers(task, queue, count);
  });
}

enum class Access : uint8_t { kRead, kWrite };

class TakeLock final : public LockOperation {
 public:
  TakeLock(pthread_rwlock_t* lock, Access access, bool only_try, const Until& until = Until{})
      : LockOperation(reinterpret_cast<uint64_t>(lock)),
        until_(until),
        writes_(access == Access::kWrite),
        only_try_(only_try) {}

  const char* why() const override {
    return writes_ ? "a read-write lock that is not free for writing"
                   : "a read-write lock that is not free for reading";
  }
  Result make_sole(Task& task) override {
    auto& own = *reinterpret_cast<Lock*>(object);
    if (prefers_writers(own)) return Result::takes_turn();
    const ObjectScope scope(task, object, task.turn.depth != 0);
    return if_taken(try_take(own, object, task.identity.virtual_tid, writes_));
  }
  // Where nobody waits, or for writing: nobody can wait for a free lock for long.
  Result make_in_order(Task& task) override {
    if (!writes_ && object::has_waiting(task)) return Result::takes_turn();
    return if_taken(try_take(lock(), object, task.identity.virtual_tid, writes_));
  }
  // Until it has the lock; if it is late, or a signal has come, it waits in turns. So it does where
  // others wait there already, and where writers are preferred, who must be known to wait.
  Result sleep_until_made(Task& task) override;
  long make_event(Task& task);

 private:
  static Result if_taken(int result) { return result ? Result::takes_turn() : Result(0); }
  Lock& lock() const { return *object_at<Lock>(static_cast<long>(object)); }
  uint64_t queue() const {
    const auto address = static_cast<long>(object);
    return writes_ ? writer_queue(address) : reader_queue(address);
  }
  bool has_wrong_time() const { return until_.is_set && !is_valid(until_.time); }

  Until until_;
  bool writes_, only_try_;
};

// One attempt: has the lock, or is among those who sleep for it.
class TakeOrSleep final : public Operation {
 public:
  static constexpr long kSleeps = 1;
  TakeOrSleep(uint64_t lock, uint64_t queue, bool writes)
      : Operation(lock), queue_(queue), writes_(writes) {}

  Result make_in_order(Task& task) override {
    auto& lock = *object_at<Lock>(static_cast<long>(object));
    if (object::has_waiting(task) || prefers_writers(lock)) return Result::takes_turn();
    const int taken = try_take(lock, object, task.identity.virtual_tid, writes_);
    if (taken == 0) return 0;
    if (taken != EBUSY) return Result::takes_turn();
    object::begin_turn_free_sleep(task, queue_);
    return kSleeps;
  }

 private:
  uint64_t queue_;
  bool writes_;
};

Result TakeLock::sleep_until_made(Task& task) {
  constexpr uint64_t kSleep = 50'000'000;  // nanoseconds
  if (only_try_ || until_.is_set) return Result::takes_turn();
  for (;;) {
    TakeOrSleep attempt(object, queue(), writes_);
    const Result result = fast_path().try_once(task, attempt);
    if (!result.is_made() || result.value() != TakeOrSleep::kSleeps) return result;
    object::sleep_turn_free(task, kSleep, false);
    const ObjectScope scope(task, object);
    if (object::end_turn_free_sleep(task)) return Result::takes_turn();
  }
}

long TakeLock::make_event(Task& task) {
  begin_turn(EventKind::kRwlock);
  long result;
  bool waited = false;
  for (;;) {
    bool waits;
    {
      const ObjectScope scope(task, object);
      const bool writers_wait = !writes_ && waiters(writer_queue(static_cast<long>(object))) > 0;
      result = try_take(lock(), object, task.identity.virtual_tid, writes_, writers_wait);
      waits = result == EBUSY && !only_try_ && !has_wrong_time();
      if (waits != waited) fast_path().count_waiting(task, waits ? 1 : -1);
      waited = waits;
    }
    if (only_try_ && result == EDEADLK) result = EBUSY;
    if (result != EBUSY || only_try_) break;
    if (has_wrong_time()) {
      result = EINVAL;
      break;
    }
    result =
        block(queue(), ~0u, remaining(until_), writes_ ? "lock for writing" : "lock for reading");
    if (result == EINTR) result = kAgain;
    if (result == 0) continue;
    {
      const ObjectScope scope(task, object);
      fast_path().count_waiting(task, -1);
    }
    // A reader may have kept away for this writer.
    const auto address = static_cast<long>(object);
    if (writes_ && !waiters(writer_queue(address))) wake(reader_queue(address), ~0u, ~0u);
    break;
  }
  end_turn();
  return result;
}

class UnlockLock final : public LockOperation {
 public:
  explicit UnlockLock(pthread_rwlock_t* lock) : LockOperation(reinterpret_cast<uint64_t>(lock)) {}

  const char* why() const override { return "a read-write lock that others wait for"; }

  Result make_in_order(Task& task) override {
    if (object::has_waiting(task)) return Result::takes_turn();
    const auto address = static_cast<long>(object);
    auto& lock = *object_at<Lock>(address);
    const bool was_written = written(lock);
    give_back(lock, object, task.identity.virtual_tid);
    wake_sleepers(task, lock, address, was_written);
    return 0;
  }
  long make_event(Task& task) {
    begin_turn(EventKind::kRwlock);
    const auto address = static_cast<long>(object);
    auto& lock = *object_at<Lock>(address);
    bool was_written, has_readers;
    {
      const ObjectScope scope(task, object);
      was_written = written(lock);
      give_back(lock, object, task.identity.virtual_tid);
      wake_sleepers(task, lock, address, was_written);
      has_readers = readers(lock);
    }
    wake_next(lock, address, was_written, has_readers,
              [](uint64_t queue, uint32_t count) { return wake(queue, count, ~0u); });
    end_turn();
    return 0;
  }
};

int take(pthread_rwlock_t* lock, Access access, const Until& until = Until{}) {
  return static_cast<int>(make(TakeLock(lock, access, false, until)));
}
int try_to_take(pthread_rwlock_t* lock, Access access) {
  return static_cast<int>(make(TakeLock(lock, access, true)));
}

bool is_event(const pthread_rwlock_t* lock) { return interpose::is_event() && is_ours(lock); }

}  // namespace

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  if (checks_locks()) check_use(lock, WEIR_CALLER);
  if (checks_locks()) check_order(lock, true, WEIR_CALLER);
  if (!is_event(lock)) return by_library([&] { return real().pthread_rwlock_rdlock(lock); });
  return take(lock, Access::kRead);
}

WEIR_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  if (checks_locks()) check_use(lock, WEIR_CALLER);
  if (checks_locks()) check_order(lock, false, WEIR_CALLER);
  if (!is_event(lock)) return by_library([&] { return real().pthread_rwlock_wrlock(lock); });
  return take(lock, Access::kWrite);
}

WEIR_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  if (checks_locks()) check_use(lock, WEIR_CALLER);
  if (!is_event(lock)) return by_library([&] { return real().pthread_rwlock_tryrdlock(lock); });
  return try_to_take(lock, Access::kRead);
}

WEIR_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  if (checks_locks()) check_use(lock, WEIR_CALLER);
  if (!is_event(lock)) return by_library([&] { return real().pthread_rwlock_trywrlock(lock); });
  return try_to_take(lock, Access::kWrite);
}

WEIR_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  if (checks_locks()) check_use(lock, WEIR_CALLER);
  if (!is_event(lock))
    return by_library([&] { return real().pthread_rwlock_timedrdlock(lock, time); });
  if (!is_valid(*time)) return EINVAL;
  return take(lock, Access::kRead, Until{time, CLOCK_REALTIME});
}

WEIR_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  if (checks_locks()) check_use(lock, WEIR_CALLER);
  if (!is_event(lock))
    return by_library([&] { return real().pthread_rwlock_timedwrlock(lock, time); });
  if (!is_valid(*time)) return EINVAL;
  return take(lock, Access::kWrite, Until{time, CLOCK_REALTIME});
}

WEIR_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                           const timespec* time) noexcept {
  if (checks_locks()) check_use(lock, WEIR_CALLER);
  if (!is_event(lock))
    return by_library([&] { return real().pthread_rwlock_clockrdlock(lock, clock, time); });
  if (!is_supported(clock) || !is_valid(*time)) return EINVAL;
  return take(lock, Access::kRead, Until{time, clock});
}

WEIR_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                           const timespec* time) noexcept {
  if (checks_locks()) check_use(lock, WEIR_CALLER);
  if (!is_event(lock))
    return by_library([&] { return real().pthread_rwlock_clockwrlock(lock, clock, time); });
  if (!is_supported(clock) || !is_valid(*time)) return EINVAL;
  return take(lock, Access::kWrite, Until{time, clock});
}

WEIR_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  if (checks_locks()) check_unlock(lock, WEIR_CALLER);
  if (!is_event(lock)) return by_library([&] { return real().pthread_rwlock_unlock(lock); });
  return static_cast<int>(make(UnlockLock(lock)));
}
