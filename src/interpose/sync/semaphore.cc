// Unnamed semaphores of one program, glibc's: the value in the low half of `data`, the number of
// waiters in the high half (for glibc's own sem_post), the queue by the address of the value.
// Process-shared and named ones are the C library's.

#include <errno.h>
#include <limits.h>

#include "check/happens_before.h"
#include "interpose/event_call.h"
#include "interpose/real.h"

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

constexpr long kOnlyTry = 1, kIgnoresCancel = 2, kTried = 4;

long take_in_order(Task& task, long address) {
  return in_order(task, static_cast<uint64_t>(address), "a semaphore that is zero", [&] {
    auto& value = object_at<Semaphore>(address)->value;
    if (!value) return kTakesTurn;
    happens::acquire(static_cast<uint64_t>(address));
    value--;
    return 0L;
  });
}

long post_in_order(Task& task, long address) {
  return in_order(task, static_cast<uint64_t>(address), "a semaphore that others wait for", [&] {
    auto& semaphore = *object_at<Semaphore>(address);
    if (semaphore.waiters || semaphore.value == SEM_VALUE_MAX) return kTakesTurn;
    happens::release(static_cast<uint64_t>(address));
    semaphore.value++;
    return 0L;
  });
}

// Within a turn. Where it is zero and `waits`, the task counts as a waiter from here on.
bool take_one(long address, bool waits) {
  const object::Scope scope(self(), static_cast<uint64_t>(address));
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
  const object::Scope scope(self(), static_cast<uint64_t>(address));
  auto& semaphore = *object_at<volatile Semaphore>(address);
  semaphore.waiters = semaphore.waiters - 1;
}

long wait_event(long address, long until_at, long how) {
  if (replayed_in_order(take_in_order, address, how & kTried) != kTakesTurn) return 0;
  const Until until = *reinterpret_cast<const Until*>(until_at);
  begin_turn(EventKind::kSemaphore);
  long result = 0;
  while (result == 0) {
    const bool waits = !(how & kOnlyTry) && !(until.is_set && !is_valid(until.time)) &&
                       !(is_cancelled() && !(how & kIgnoresCancel));
    if (take_one(address, waits)) break;
    if (how & kOnlyTry) {
      result = EAGAIN;
    } else if (until.is_set && !is_valid(until.time)) {
      result = EINVAL;
    } else if (!waits) {
      result = kAgain;
    } else {
      result = block_cancellable(static_cast<uint64_t>(address), remaining(until), "semaphore",
                                 how & kIgnoresCancel);
      wait_no_more(address);
      if (result == EINTR && !ends_wait()) result = kAgain;
    }
  }
  end_turn();
  return result;
}

bool put_one(long address) {
  const object::Scope scope(self(), static_cast<uint64_t>(address));
  auto& semaphore = *object_at<Semaphore>(address);
  if (semaphore.value == SEM_VALUE_MAX) return false;
  happens::release(static_cast<uint64_t>(address));
  semaphore.value++;
  return true;
}

long post_event(long address, long tried, long) {
  if (replayed_in_order(post_in_order, address, tried) != kTakesTurn) return 0;
  begin_turn(EventKind::kSemaphore);
  long result = 0;
  if (put_one(address)) {
    wake(static_cast<uint64_t>(address), 1, ~0u);
  } else {
    result = EOVERFLOW;
  }
  end_turn();
  return result;
}

long value_event(long address, long, long) {
  begin_turn(EventKind::kSemaphore);
  long value;
  {
    const object::Scope scope(self(), static_cast<uint64_t>(address));
    value = object_at<Semaphore>(address)->value;
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
  bool tried;
  {
    AloneSection section;
    auto& value = reinterpret_cast<Semaphore*>(semaphore)->value;
    tried = !section.alone();
    if (!tried && value) {
      const object::Scope scope(self(), reinterpret_cast<uint64_t>(semaphore),
                                self().turn.depth != 0);
      happens::acquire(reinterpret_cast<uint64_t>(semaphore));
      value--;
      return 0;
    }
    if (tried && recorded_in_order(take_in_order, semaphore) != kTakesTurn) return 0;
  }
  for (long how = (only_try ? kOnlyTry : 0) | (tried ? kTried : 0);;
       how = (how | kIgnoresCancel) & ~kTried) {
    long result = weir_upcall(wait_event, reinterpret_cast<long>(semaphore),
                              reinterpret_cast<long>(&until), how);
    if (result != kAgain && result != EINTR) return answer(result);
    real().pthread_testcancel();
    if (result == EINTR) return answer(result);
  }
}

}  // namespace

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT int sem_wait(sem_t* semaphore) {
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_wait(semaphore); }, kCancellable);
  return wait(semaphore, Until{}, false);
}

WEIR_EXPORT int sem_trywait(sem_t* semaphore) noexcept {
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_trywait(semaphore); });
  return wait(semaphore, Until{}, true);
}

WEIR_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* time) {
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_timedwait(semaphore, time); }, kCancellable);
  if (!is_valid(*time)) return answer(EINVAL);
  return wait(semaphore, Until{time, CLOCK_REALTIME}, false);
}

WEIR_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_clockwait(semaphore, clock, time); }, kCancellable);
  if (!is_supported(clock) || !is_valid(*time)) return answer(EINVAL);
  return wait(semaphore, Until{time, clock}, false);
}

WEIR_EXPORT int sem_post(sem_t* semaphore) noexcept {
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_post(semaphore); });
  bool tried;
  if (makes_in_order(post_in_order, semaphore, tried)) return 0;
  return answer(weir::weir_upcall(post_event, reinterpret_cast<long>(semaphore), tried, 0));
}

WEIR_EXPORT int sem_getvalue(sem_t* semaphore, int* value) noexcept {
  if (!is_event() || !is_ours(semaphore))
    return by_library([&] { return real().sem_getvalue(semaphore, value); });
  *value =
      static_cast<int>(weir::weir_upcall(value_event, reinterpret_cast<long>(semaphore), 0, 0));
  return 0;
}
