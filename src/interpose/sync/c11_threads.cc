// mtx_* and cnd_*: in glibc the same objects as pthread_mutex_t and pthread_cond_t, and the same
// code; only what they answer is named differently.

#include <errno.h>
#include <threads.h>

#include "interpose/real.h"
#include "interpose/sync/lock_balance.h"
#include "interpose/sync/mutex.h"

namespace weir::interpose {

namespace {

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));

pthread_mutex_t* mutex_of(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* condition_of(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

int answer(int error) {
  switch (error) {
    case 0: return thrd_success;
    case ENOMEM: return thrd_nomem;
    case ETIMEDOUT: return thrd_timedout;
    case EBUSY: return thrd_busy;
    default: return thrd_error;
  }
}

}  // namespace

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT int mtx_lock(mtx_t* mutex) {
  if (checks_locks()) check_lock(mutex_of(mutex), WEIR_CALLER);
  return answer(lock_mutex(mutex_of(mutex)));
}
WEIR_EXPORT int mtx_trylock(mtx_t* mutex) {
  if (checks_locks()) check_use(mutex, WEIR_CALLER);
  return answer(try_mutex(mutex_of(mutex)));
}
WEIR_EXPORT int mtx_unlock(mtx_t* mutex) {
  if (checks_locks()) check_unlock(mutex_of(mutex), WEIR_CALLER);
  return answer(unlock_mutex(mutex_of(mutex)));
}
WEIR_EXPORT int mtx_timedlock(mtx_t* mutex, const timespec* time) {
  if (checks_locks()) check_use(mutex, WEIR_CALLER);
  return answer(lock_mutex_until(mutex_of(mutex), CLOCK_REALTIME, time));
}
WEIR_EXPORT int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  if (checks_locks()) check_use(condition, WEIR_CALLER);
  return answer(pthread_cond_wait(condition_of(condition), mutex_of(mutex)));
}
WEIR_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* time) {
  if (checks_locks()) check_use(condition, WEIR_CALLER);
  return answer(pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), time));
}
WEIR_EXPORT int cnd_signal(cnd_t* condition) {
  if (checks_locks()) check_use(condition, WEIR_CALLER);
  return answer(pthread_cond_signal(condition_of(condition)));
}
WEIR_EXPORT int cnd_broadcast(cnd_t* condition) {
  if (checks_locks()) check_use(condition, WEIR_CALLER);
  return answer(pthread_cond_broadcast(condition_of(condition)));
}
