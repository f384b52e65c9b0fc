// Unnamed semaphores of one program, glibc's: the value in the low half of `data`, the number of
// waiters in the high half (for glibc's own sem_post), the queue by the address of the value.
// Process-shared and named ones are the C library's.

#include <errno.h>
#include <limits.h>

#include "check/core/happens_before.h"
#include "interpose/event_call.h"
#include "interpose/libc/library.h"
#include "interpose/real.h"
#include "interpose/sync/lock_balance.h"

namespace weir::interpose {

namespace {

struct Semaphore {
  uint32_t value;
  uint32_t waiters;
  int32_t shared;  // 0, or FUTEX flags of a shared one
  int32_t unused;
};
static_assert(sizeof(Semaphore) <= sizeof(sem_t));

bool is_ours(const sem_t* semaphore) {
  return !beside(reinterpret_cast<const Semaphore*>(semaphore))->shared;
}

// Within a turn. Where it is zero and `waits`, the task counts as a waiter from here on.
bool take_one(long address, bool waits) {
  const ObjectScope scope(self(), static_cast<uint64_t>(address));
  auto& semaphore = *object_at<volatile Semaphore>(address);
  if (semaphore.value) {
    happens::acquire(static_cast<uint64_t>(address));
    semaphore.value = semaphore.value - 1;
    return true;
  }
  if (waits) semaphore.waiters = semaphore.waiters + 1;
  return false;
}

void wait_no_more(long address) {
  const ObjectScope scope(self(), static_cast<uint64_t>(address));
  auto& semaphore = *object_at<volatile Semaphore>(address);
  semaphore.waiters = semaphore.waiters - 1;
}

class TakeSemaphore final : public LockOperation {
 public:
  TakeSemaphore(sem_t* semaphore, const Until& until, bool only_try)
      : LockOperation(reinterpret_cast<uint64_t>(semaphore)), until_(until), only_try_(only_try) {}

  const char* why() const override { return "a semaphore that is zero"; }

  Result make_sole(Task& task) override {
    auto& own = *reinterpret_cast<Semaphore*>(object);
    if (!own.value) return Result::takes_turn();
    const ObjectScope scope(task, object, task.turn.depth != 0);
    return take_from(own);
  }
  Result make_in_order(Task&) override {
    return take_from(*object_at<Semaphore>(static_cast<long>(object)));
  }
  long make_event(Task&);

  bool ignores_cancel = false;  // pthread_testcancel has been asked, and declined

 private:
  Result take_from(Semaphore& semaphore) const {
    if (!semaphore.value) return Result::takes_turn();
    happens::acquire(object);
    semaphore.value--;
    return 0;
  }

  Until until_;
  bool only_try_;
};

long TakeSemaphore::make_event(Task&) {
  const auto address = static_cast<long>(object);
  begin_turn(EventKind::kSemaphore);
  long result = 0;
  while (result == 0) {
    const bool has_wrong_time = until_.is_set && !is_valid(until_.time);
    const bool waits = !only_try_ && !has_wrong_time && !(is_cancelled() && !ignores_cancel);
    if (take_one(address, waits)) break;
    if (only_try_) {
      result = EAGAIN;
    } else if (has_wrong_time) {
      result = EINVAL;
    } else if (!waits) {
      result = kAgain;
    } else {
      result = block_cancellable(object, remaining(until_), "semaphore", ignores_cancel);
      wait_no_more(address);
      // With a time limit a handler ends it, SA_RESTART or not (signal(7)).
      if (result == EINTR && !until_.is_set && !ends_wait()) result = kAgain;
    }
  }
  end_turn();
  return result;
}

bool put_one(long address) {
  const ObjectScope scope(self(), static_cast<uint64_t>(address));
  auto& semaphore = *object_at<Semaphore>(address);
  if (semaphore.value == SEM_VALUE_MAX) return false;
  happens::release(static_cast<uint64_t>(address));
  semaphore.value++;
  return true;
}

class PostSemaphore final : public LockOperation {
 public:
  explicit PostSemaphore(sem_t* semaphore) : LockOperation(reinterpret_cast<uint64_t>(semaphore)) {}

  const char* why() const override { return "a semaphore that others wait for"; }

  Result make_in_order(Task&) override {
    auto& semaphore = *object_at<Semaphore>(static_cast<long>(object));
    if (semaphore.waiters || semaphore.value == SEM_VALUE_MAX) return Result::takes_turn();
    happens::release(object);
    semaphore.value++;
    return 0;
  }
  long make_event(Task&) {
    begin_turn(EventKind::kSemaphore);
    long result = 0;
    if (put_one(static_cast<long>(object))) {
      wake(object, 1, ~0u);
    } else {
      result = EOVERFLOW;
    }
    end_turn();
    return result;
  }
};

long value_event(long address, long, long) {
  begin_turn(EventKind::kSemaphore);
  long value;
  {
    const ObjectScope scope(self(), static_cast<uint64_t>(address));
    value = object_at<Semaphore>(address)->value;
    happens::acquire(static_cast<uint64_t>(address));  // a program may wait for that
  }
  end_turn();
  return value;
}

int answer(long error) {
  if (!error) return 0;
  errno = static_cast<int>(error);
  return -1;
}

int wait(sem_t* semaphore, const Until& until, bool only_try) {
  if (!only_try) real().pthread_testcancel();
  TakeSemaphore take(semaphore, until, only_try);
  if (try_without_turn(take).is_made()) return 0;
  for (;; take.ignores_cancel = true) {
    const long result = make_in_runtime(take);
    if (result != kAgain && result != EINTR) return answer(result);
    real().pthread_testcancel();
    if (result == EINTR) return answer(result);
  }
}

}  // namespace

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT int sem_wait(sem_t* semaphore) {
  if (checks_locks()) check_use(semaphore, WEIR_CALLER);
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_wait(semaphore); }, kCancellable);
  return wait(semaphore, Until{}, false);
}

WEIR_EXPORT int sem_trywait(sem_t* semaphore) noexcept {
  if (checks_locks()) check_use(semaphore, WEIR_CALLER);
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_trywait(semaphore); });
  return wait(semaphore, Until{}, true);
}

WEIR_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* time) {
  if (checks_locks()) check_use(semaphore, WEIR_CALLER);
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_timedwait(semaphore, time); }, kCancellable);
  if (!is_valid(*time)) return answer(EINVAL);
  return wait(semaphore, Until{time, CLOCK_REALTIME}, false);
}

WEIR_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  if (checks_locks()) check_use(semaphore, WEIR_CALLER);
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_clockwait(semaphore, clock, time); }, kCancellable);
  if (!is_supported(clock) || !is_valid(*time)) return answer(EINVAL);
  return wait(semaphore, Until{time, clock}, false);
}

WEIR_EXPORT int sem_post(sem_t* semaphore) noexcept {
  if (checks_locks()) check_use(semaphore, WEIR_CALLER);
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_post(semaphore); });
  return answer(make(PostSemaphore(semaphore)));
}

WEIR_EXPORT int sem_getvalue(sem_t* semaphore, int* value) noexcept {
  library::tell_stored(value, sizeof *value, WEIR_CALLER);
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_getvalue(semaphore, value); });
  *value =
      static_cast<int>(weir::weir_upcall(value_event, reinterpret_cast<long>(semaphore), 0, 0));
  return 0;
}
