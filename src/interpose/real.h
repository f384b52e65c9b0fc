// The C library's own functions behind the ones that are interposed here.
#pragma once

#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

namespace weir::interpose {

// The formatter would move these lines further to the right each time.
// clang-format off
#define WEIR_REAL_FUNCTIONS(X)                                                                    \
  X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_timedlock)                       \
  X(pthread_mutex_clocklock)                                                                      \
  X(pthread_mutex_unlock) X(pthread_mutex_destroy) X(mtx_destroy) X(pthread_rwlock_destroy)       \
  X(pthread_mutex_init) X(mtx_init) X(pthread_rwlock_init) X(pthread_barrier_init)                \
  X(pthread_barrier_destroy) X(pthread_spin_init) X(pthread_spin_destroy) X(sem_init)             \
  X(sem_destroy) X(cnd_init) X(cnd_destroy) X(pthread_barrier_wait)                               \
  X(pthread_rwlock_rdlock) X(pthread_rwlock_tryrdlock) X(pthread_rwlock_timedrdlock)              \
  X(pthread_rwlock_clockrdlock) X(pthread_rwlock_wrlock) X(pthread_rwlock_trywrlock)              \
  X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockwrlock) X(pthread_rwlock_unlock)            \
  X(pthread_spin_lock) X(pthread_spin_trylock) X(pthread_spin_unlock)                             \
  X(sem_wait) X(sem_trywait) X(sem_timedwait) X(sem_clockwait) X(sem_post) X(sem_getvalue)        \
  X(pthread_create) X(pthread_join) X(pthread_detach) X(pthread_cancel) X(pthread_testcancel)     \
  X(pthread_timedjoin_np) X(pthread_tryjoin_np) X(pthread_clockjoin_np) X(pthread_once)           \
  X(thrd_create) X(pthread_key_create) X(pthread_key_delete) X(tss_create) X(tss_delete)          \
  X(thrd_join) X(thrd_detach) X(clock_gettime)                                                    \
  X(malloc_usable_size) X(malloc_trim) X(mallopt) X(malloc_stats) X(malloc_info) X(mallinfo2)     \
  X(mallinfo)
// clang-format on

// As old programs call pthread_cleanup_push(): a list that both cancellation and the end of a
// thread walk, without unwinding.
struct CleanupBuffer {
  void (*routine)(void*);
  void* argument;
  int type;
  CleanupBuffer* previous;
};

// Conditions exist in two versions; these are of the one that pthread_cond_t as today's headers
// have it belongs to.
// clang-format off
#define WEIR_REAL_CONDITION_FUNCTIONS(X)                                                          \
  X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_signal) X(pthread_cond_broadcast) \
  X(pthread_cond_init) X(pthread_cond_destroy)
// clang-format on

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Wdeprecated-declarations"  // mallinfo is interposed because programs still call it
struct Real {
#define WEIR_MEMBER(name) decltype(&::name) name;
  WEIR_REAL_FUNCTIONS(WEIR_MEMBER)
  WEIR_REAL_CONDITION_FUNCTIONS(WEIR_MEMBER)
  WEIR_MEMBER(pthread_cond_clockwait)
  void (*cleanup_push)(CleanupBuffer*, void (*)(void*), void*);
  void (*cleanup_pop)(CleanupBuffer*, int);
#undef WEIR_MEMBER
};
#pragma GCC diagnostic pop

extern Real g_real;
extern bool g_real_found;
[[gnu::cold, gnu::noinline]] void find_real();

// Usable before any constructor has run. On the program's stack only.
inline const Real& real() {
  if (__builtin_expect(!g_real_found, 0)) find_real();
  return g_real;
}

}  // namespace weir::interpose

#define WEIR_EXPORT extern "C" [[gnu::visibility("default")]]
