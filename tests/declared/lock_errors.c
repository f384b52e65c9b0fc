/* Calls of locks that POSIX leaves undefined. */
#include <errno.h>
#include <threads.h>

#include "threads.h"

static pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER, held_mutex = PTHREAD_MUTEX_INITIALIZER, kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t read_lock = PTHREAD_RWLOCK_INITIALIZER, write_lock = PTHREAD_RWLOCK_INITIALIZER, free_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static mtx_t c11;

static void *wrong(void *argument) {
  struct timespec past = {1, 0};
  pthread_mutex_unlock(&free_mutex);                          /* REPORT misuse unbalanced-lock access */
  pthread_mutex_unlock(&held_mutex);                          /* REPORT misuse unbalanced-lock access */
  mtx_unlock(&c11);                                           /* REPORT misuse unbalanced-lock access */
  pthread_rwlock_unlock(&free_lock);                          /* REPORT misuse unbalanced-lock access */
  pthread_rwlock_unlock(&write_lock);                         /* REPORT misuse unbalanced-lock access */
  pthread_rwlock_unlock(&read_lock);                          /* REPORT misuse unbalanced-lock access */
  pthread_spin_unlock(&spin);                                 /* REPORT misuse unbalanced-lock access */
  pthread_cond_timedwait(&condition, &free_mutex, &past);     /* REPORT misuse unbalanced-lock access */
  return argument;
}

static void *keeps(void *argument) {
  pthread_mutex_lock(&kept);
  return argument;
}

int main(void) {
  pthread_mutex_t *mutex = (pthread_mutex_t *)malloc(sizeof *mutex), local;
  pthread_rwlock_t lock;
  pthread_mutex_init(mutex, NULL);
  pthread_mutex_unlock(mutex);                                /* REPORT misuse unbalanced-lock access */
  pthread_mutex_init(mutex, NULL);
  pthread_mutex_lock(mutex);
  pthread_mutex_destroy(mutex);                               /* REPORT misuse destroyed-lock access */
  free(mutex);
  mtx_init(&c11, mtx_plain);
  pthread_spin_init(&spin, 0);
  pthread_mutex_lock(&held_mutex);
  pthread_rwlock_wrlock(&write_lock);
  pthread_rwlock_rdlock(&read_lock);
  alone(wrong, NULL);
  /* Whose lock another has given back is not to blame. */
  pthread_mutex_init(&local, NULL);
  pthread_mutex_lock(&local);
  pthread_mutex_unlock(&local);
  pthread_mutex_destroy(&local);
  pthread_mutex_lock(&local);                                 /* REPORT misuse locked-destroyed access */
  pthread_mutex_init(&local, NULL);
  pthread_mutex_lock(&local);
  pthread_mutex_unlock(&local);
  pthread_mutex_destroy(&local);
  local = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&local);
  pthread_mutex_unlock(&local);
  alone(keeps, NULL);
  pthread_mutex_destroy(&kept);                               /* REPORT misuse destroyed-lock access */
  pthread_rwlock_init(&lock, NULL);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_destroy(&lock);                              /* REPORT misuse destroyed-lock access */
  return ok();
}
