// Unnamed semaphores of one program, glibc's: the value in the low half of `data`, the number of waiters in the high half
// (for glibc's own sem_post), the queue by the address of the value. Process-shared and named ones are the C library's.

#include <errno.h>
#include <limits.h>

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

bool is_ours(const sem_t* semaphore) { return !beside(reinterpret_cast<const Semaphore*>(semaphore))->shared; }

constexpr long kOnlyTry = 1, kIgnoresCancel = 2;

long wait_event(long address, long until_at, long how) {
  const Until until = *reinterpret_cast<const Until*>(until_at);
  begin_turn(EventKind::kSemaphore);
  long result = 0;
  while (result == 0) {
    auto& semaphore = *object_at<volatile Semaphore>(address);
    if (semaphore.value) {
      semaphore.value = semaphore.value - 1;
      break;
    }
    if (how & kOnlyTry) {
      result = EAGAIN;
    } else if (until.is_set && !is_valid(until.time)) {
      result = EINVAL;
    } else if (is_cancelled() && !(how & kIgnoresCancel)) {
      result = kAgain;
    } else {
      semaphore.waiters = semaphore.waiters + 1;
      result = block_cancellable(static_cast<uint64_t>(address), remaining(until), "semaphore", how & kIgnoresCancel);
      semaphore.waiters = semaphore.waiters - 1;
      if (result == EINTR && !ends_wait()) result = kAgain;
    }
  }
  end_turn();
  return result;
}

long post_event(long address, long, long) {
  begin_turn(EventKind::kSemaphore);
  auto& semaphore = *object_at<Semaphore>(address);
  long result = 0;
  if (semaphore.value == SEM_VALUE_MAX) {
    result = EOVERFLOW;
  } else {
    semaphore.value++;
    wake(static_cast<uint64_t>(address), 1, ~0u);
  }
  end_turn();
  return result;
}

long value_event(long address, long, long) {
  begin_turn(EventKind::kSemaphore);
  const long value = object_at<Semaphore>(address)->value;
  end_turn();
  return value;
}

int answer(long error) {
  if (!error) return 0;
  errno = static_cast<int>(error);
  return -1;
}

int wait(sem_t* semaphore, const Until& until, bool only_try) {
  if (!only_try) pthread_testcancel();
  {
    AloneSection section;
    auto& value = reinterpret_cast<Semaphore*>(semaphore)->value;
    if (section.alone() && value) {
      value--;
      return 0;
    }
  }
  for (long how = only_try ? kOnlyTry : 0;; how |= kIgnoresCancel) {
    long result = weir_upcall(wait_event, reinterpret_cast<long>(semaphore), reinterpret_cast<long>(&until), how);
    if (result != kAgain && result != EINTR) return answer(result);
    pthread_testcancel();
    if (result == EINTR) return answer(result);
  }
}

}  // namespace

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT int sem_wait(sem_t* semaphore) {
  if (!is_event() || !is_ours(semaphore)) return real().sem_wait(semaphore);
  return wait(semaphore, Until{}, false);
}

WEIR_EXPORT int sem_trywait(sem_t* semaphore) noexcept {
  if (!is_event() || !is_ours(semaphore)) return real().sem_trywait(semaphore);
  return wait(semaphore, Until{}, true);
}

WEIR_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* time) {
  if (!is_event() || !is_ours(semaphore)) return real().sem_timedwait(semaphore, time);
  if (!is_valid(*time)) return answer(EINVAL);
  return wait(semaphore, Until{time, CLOCK_REALTIME}, false);
}

WEIR_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  if (!is_event() || !is_ours(semaphore)) return real().sem_clockwait(semaphore, clock, time);
  if (!is_supported(clock) || !is_valid(*time)) return answer(EINVAL);
  return wait(semaphore, Until{time, clock}, false);
}

WEIR_EXPORT int sem_post(sem_t* semaphore) noexcept {
  if (!is_event() || !is_ours(semaphore)) return real().sem_post(semaphore);
  return answer(weir::weir_upcall(post_event, reinterpret_cast<long>(semaphore), 0, 0));
}

WEIR_EXPORT int sem_getvalue(sem_t* semaphore, int* value) noexcept {
  if (!is_event() || !is_ours(semaphore)) return real().sem_getvalue(semaphore, value);
  *value = static_cast<int>(weir::weir_upcall(value_event, reinterpret_cast<long>(semaphore), 0, 0));
  return 0;
}
