/* Calls of locks that look odd, and are none of POSIX's errors: nothing is reported. */
#include <errno.h>

#include "threads.h"

static pthread_mutex_t checks, recursive, plain = PTHREAD_MUTEX_INITIALIZER, early = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER, early_read = PTHREAD_RWLOCK_INITIALIZER, early_write = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin, early_spin;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t many[40];

static void *use(void *argument) {
  struct timespec past = {1, 0};
  int i;
  if (pthread_mutex_unlock(&checks) != EPERM || pthread_mutex_unlock(&recursive) != EPERM) exit(2);
  pthread_mutex_lock(&checks);
  if (pthread_mutex_lock(&checks) != EDEADLK) exit(3);
  pthread_mutex_unlock(&checks);
  pthread_mutex_lock(&recursive);
  pthread_mutex_lock(&recursive);
  pthread_mutex_unlock(&recursive);
  pthread_mutex_unlock(&recursive);
  pthread_mutex_lock(&plain);
  if (pthread_mutex_trylock(&plain) != EBUSY || pthread_mutex_timedlock(&plain, &past) != ETIMEDOUT) exit(4);
  pthread_cond_timedwait(&condition, &plain, &past);
  pthread_mutex_unlock(&plain);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_wrlock(&lock);
  pthread_rwlock_unlock(&lock);
  pthread_spin_lock(&spin);
  pthread_spin_unlock(&spin);
  for (i = 0; i < 40; i++) pthread_mutex_lock(&many[i]);
  for (i = 0; i < 20; i++) pthread_rwlock_rdlock(&lock);
  for (i = 0; i < 40; i++) pthread_mutex_unlock(&many[i]);
  for (i = 0; i < 20; i++) pthread_rwlock_unlock(&lock);
  return argument;
}

static void *destroy(void *argument) {
  pthread_mutex_destroy((pthread_mutex_t *)argument);
  return argument;
}

int main(void) {
  pthread_mutexattr_t attribute;
  pthread_t threads[3];
  int i;
  pthread_mutexattr_init(&attribute);
  pthread_mutexattr_settype(&attribute, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checks, &attribute);
  pthread_mutexattr_settype(&attribute, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attribute);
  for (i = 0; i < 40; i++) pthread_mutex_init(&many[i], NULL);
  pthread_spin_init(&spin, 0);
  pthread_spin_init(&early_spin, 0);
  pthread_mutex_lock(&early);
  pthread_rwlock_rdlock(&early_read);
  pthread_rwlock_wrlock(&early_write);
  pthread_spin_lock(&early_spin);
  use(NULL);
  for (i = 0; i < 3; i++) pthread_create(&threads[i], NULL, use, NULL);
  pthread_mutex_unlock(&early);
  pthread_rwlock_unlock(&early_read);
  pthread_rwlock_unlock(&early_write);
  pthread_spin_unlock(&early_spin);
  for (i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  alone(destroy, &early);
  return ok();
}
