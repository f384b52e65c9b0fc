// Objects of synchronization begin and end: what the checker is told of it. The C library does it.

#include "check/core/hazards.h"
#include "interpose/real.h"
#include "interpose/sync/lock_balance.h"
#include "sync/sole_section.h"

namespace weir::interpose {

namespace {

using Tell = void (*)(uint64_t object, const Caller& caller);

void tell(Tell what, const volatile void* object, const Caller& caller) {
  const SignalsWait signals;
  if (signals.is_on() && hazards::looks_for(findings::Hazard::kLifetime))
    what(reinterpret_cast<uint64_t>(object), caller);
}

void begins(const volatile void* object, const Caller& caller) {
  tell(hazards::before_begin, object, caller);
}
void ends(const volatile void* object, const Caller& caller) {
  tell(hazards::before_end, object, caller);
}

}  // namespace

}  // namespace weir::interpose

using namespace weir::interpose;

WEIR_EXPORT int pthread_mutex_init(pthread_mutex_t* mutex,
                                   const pthread_mutexattr_t* attributes) noexcept {
  if (checks_locks()) begins(mutex, WEIR_CALLER);
  return real().pthread_mutex_init(mutex, attributes);
}
WEIR_EXPORT int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept {
  if (checks_locks() && !check_destroy(mutex, WEIR_CALLER)) ends(mutex, WEIR_CALLER);
  return real().pthread_mutex_destroy(mutex);
}
WEIR_EXPORT int mtx_init(mtx_t* mutex, int type) {
  if (checks_locks()) begins(mutex, WEIR_CALLER);
  return real().mtx_init(mutex, type);
}
WEIR_EXPORT void mtx_destroy(mtx_t* mutex) {
  if (checks_locks() && !check_destroy(reinterpret_cast<pthread_mutex_t*>(mutex), WEIR_CALLER))
    ends(mutex, WEIR_CALLER);
  real().mtx_destroy(mutex);
}

WEIR_EXPORT int pthread_rwlock_init(pthread_rwlock_t* lock,
                                    const pthread_rwlockattr_t* attributes) noexcept {
  if (checks_locks()) begins(lock, WEIR_CALLER);
  return real().pthread_rwlock_init(lock, attributes);
}
WEIR_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t* lock) noexcept {
  if (checks_locks() && !check_destroy(lock, WEIR_CALLER)) ends(lock, WEIR_CALLER);
  return real().pthread_rwlock_destroy(lock);
}

WEIR_EXPORT int pthread_spin_init(pthread_spinlock_t* lock, int shared) noexcept {
  if (checks_locks()) begins(lock, WEIR_CALLER);
  return real().pthread_spin_init(lock, shared);
}
WEIR_EXPORT int pthread_spin_destroy(pthread_spinlock_t* lock) noexcept {
  if (checks_locks()) ends(lock, WEIR_CALLER);
  return real().pthread_spin_destroy(lock);
}

WEIR_EXPORT int pthread_cond_init(pthread_cond_t* condition,
                                  const pthread_condattr_t* attributes) noexcept {
  if (checks_locks()) begins(condition, WEIR_CALLER);
  return real().pthread_cond_init(condition, attributes);
}
WEIR_EXPORT int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  if (checks_locks()) ends(condition, WEIR_CALLER);
  return real().pthread_cond_destroy(condition);
}
WEIR_EXPORT int cnd_init(cnd_t* condition) {
  if (checks_locks()) begins(condition, WEIR_CALLER);
  return real().cnd_init(condition);
}
WEIR_EXPORT void cnd_destroy(cnd_t* condition) {
  if (checks_locks()) ends(condition, WEIR_CALLER);
  real().cnd_destroy(condition);
}

WEIR_EXPORT int pthread_barrier_init(pthread_barrier_t* barrier,
                                     const pthread_barrierattr_t* attributes,
                                     unsigned count) noexcept {
  if (checks_locks()) begins(barrier, WEIR_CALLER);
  return real().pthread_barrier_init(barrier, attributes, count);
}
WEIR_EXPORT int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  if (checks_locks()) ends(barrier, WEIR_CALLER);
  return real().pthread_barrier_destroy(barrier);
}

WEIR_EXPORT int sem_init(sem_t* semaphore, int shared, unsigned value) noexcept {
  if (checks_locks()) begins(semaphore, WEIR_CALLER);
  return real().sem_init(semaphore, shared, value);
}
WEIR_EXPORT int sem_destroy(sem_t* semaphore) noexcept {
  if (checks_locks()) ends(semaphore, WEIR_CALLER);
  return real().sem_destroy(semaphore);
}
