// Actions that order threads.
#include <linux/futex.h>
#include <stdatomic.h>

#include "random_program.h"

static uint64_t lock_mutex(struct worker* w) {
  static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
  static uint64_t counts[3][kMostThreads];
  const unsigned which = below(w, 3), times = 1 + below(w, 40);
  uint64_t before = 0;
  for (unsigned i = 0; i < times; ++i) {
    CHECK_EQ(pthread_mutex_lock(&locks[which]), 0);
    if (which == 2) CHECK_EQ(pthread_mutex_lock(&locks[which]), 0);
    before = counts[which][w->number]++;
    if (which == 2) CHECK_EQ(pthread_mutex_unlock(&locks[which]), 0);
    CHECK_EQ(pthread_mutex_unlock(&locks[which]), 0);
  }
  return before;
}

static uint64_t try_mutex(struct worker* w) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static int holder = -1;
  for (unsigned i = 0; i < 8; ++i) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    if (pthread_mutex_trylock(&lock) != 0) CHECK_EQ(pthread_mutex_timedlock(&lock, &until), 0);
    CHECK_EQ(holder, -1);
    holder = w->number;
    CHECK_EQ(holder, w->number);
    holder = -1;
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  }
  return 1;
}

static uint64_t lock_rwlock(struct worker* w) {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  static long first, second;
  for (unsigned i = 1 + below(w, 20); i; --i) {
    if (below(w, 3) == 0) {
      CHECK_EQ(pthread_rwlock_wrlock(&lock), 0);
      ++first;
      ++second;
    } else {
      CHECK_EQ(pthread_rwlock_rdlock(&lock), 0);
    }
    CHECK_EQ(first, second);
    CHECK_EQ(pthread_rwlock_unlock(&lock), 0);
  }
  return 2;
}

static uint64_t lock_spin(struct worker* w) {
  static atomic_flag lock = ATOMIC_FLAG_INIT;
  static long first, second;
  for (unsigned i = 1 + below(w, 20); i; --i) {
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) sched_yield();
    CHECK_EQ(first++, second++);
    atomic_flag_clear_explicit(&lock, memory_order_release);
  }
  return 3;
}

// One total for all threads, of which each subtracts what it has added.
static uint64_t add_atomically(struct worker* w) {
  static _Atomic uint8_t bytes[8];
  static _Atomic uint16_t halves[8];
  static _Atomic uint32_t words[8];
  static _Atomic uint64_t longs[8];
  const unsigned at = below(w, 8), times = 1 + below(w, 50);
  for (unsigned i = 0; i < times; ++i) {
    atomic_fetch_add(&bytes[at], 3);
    atomic_fetch_add(&halves[at], 5);
    atomic_fetch_or(&words[at], 1u << w->number);
    uint64_t old = atomic_load(&longs[at]);
    while (!atomic_compare_exchange_weak(&longs[at], &old, old + 7)) continue;
    CHECK(atomic_load(&words[at]) >> w->number & 1);
    atomic_fetch_and(&words[at], ~(1u << w->number));
    atomic_fetch_sub(&halves[at], 5);
    atomic_fetch_sub(&bytes[at], 3);
    atomic_fetch_sub(&longs[at], 7);
  }
  return times;
}

// Blocks of memory go from thread to thread by a queue; the thread that takes one frees it.
static pthread_mutex_t g_queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_filled = PTHREAD_COND_INITIALIZER;
static unsigned char* g_queue[64];
static unsigned g_queued;

static uint64_t hand_over(struct worker* w) {
  const unsigned size = 1 + below(w, 5000);
  unsigned char* const block = malloc(size + 8);
  CHECK(block != NULL);
  memcpy(block, &size, sizeof size);
  memset(block + 8, (int)(size & 0xff), size);
  CHECK_EQ(pthread_mutex_lock(&g_queue_lock), 0);
  g_queue[g_queued++] = block;
  CHECK_EQ(pthread_cond_signal(&g_filled), 0);
  CHECK_EQ(pthread_mutex_unlock(&g_queue_lock), 0);
  sched_yield();
  CHECK_EQ(pthread_mutex_lock(&g_queue_lock), 0);
  while (!g_queued) CHECK_EQ(pthread_cond_wait(&g_filled, &g_queue_lock), 0);
  unsigned char* const taken = g_queue[--g_queued];
  CHECK_EQ(pthread_mutex_unlock(&g_queue_lock), 0);
  unsigned taken_size;
  memcpy(&taken_size, taken, sizeof taken_size);
  for (unsigned i = 0; i < taken_size; ++i) CHECK_EQ(taken[8 + i], taken_size & 0xff);
  free(taken);
  return size;
}

static uint64_t wait_until_late(struct worker* w) {
  (void)w;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 300000;
  if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  int ended;
  while ((ended = pthread_cond_timedwait(&never, &lock, &until)) == 0) continue;
  CHECK_EQ(ended, ETIMEDOUT);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  return 5;
}

static uint64_t use_semaphore(struct worker* w) {
  sem_t own;
  CHECK_EQ(sem_init(&own, 0, below(w, 3)), 0);
  CHECK_EQ(sem_post(&own), 0);
  CHECK_EQ(sem_wait(&own), 0);
  int left;
  CHECK_EQ(sem_getvalue(&own, &left), 0);
  for (int i = 0; i < left; ++i) CHECK_EQ(sem_trywait(&own), 0);
  CHECK(sem_trywait(&own) != 0 && errno == EAGAIN);
  CHECK_EQ(sem_destroy(&own), 0);
  return (uint64_t)left;
}

struct pair {
  _Atomic int word;
  int answer;
};

static void* wake_by_futex(void* at) {
  struct pair* const pair = at;
  pair->answer = 42;
  atomic_store(&pair->word, 1);
  syscall(SYS_futex, &pair->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  return NULL;
}

static uint64_t wait_by_futex(struct worker* w) {
  (void)w;
  struct pair pair = {0, 0};
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, wake_by_futex, &pair), 0);
  while (atomic_load(&pair.word) == 0)
    syscall(SYS_futex, &pair.word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  const int answer = pair.answer;
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return (uint64_t)answer;
}

static void* end_holding(void* lock) {
  CHECK_EQ(pthread_mutex_lock(lock), 0);
  return NULL;
}

static uint64_t inherit_robust(struct worker* w) {
  (void)w;
  pthread_mutexattr_t kind;
  pthread_mutex_t lock;
  CHECK_EQ(pthread_mutexattr_init(&kind), 0);
  CHECK_EQ(pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST), 0);
  CHECK_EQ(pthread_mutex_init(&lock, &kind), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, end_holding, &lock), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(pthread_mutex_lock(&lock), EOWNERDEAD);
  CHECK_EQ(pthread_mutex_consistent(&lock), 0);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  CHECK_EQ(pthread_mutex_destroy(&lock), 0);
  return 6;
}

static uint64_t yield(struct worker* w) {
  for (unsigned i = below(w, 5); i; --i) sched_yield();
  return 7;
}

static uint64_t compute(struct worker* w) {
  uint64_t hash = 1;
  for (unsigned i = below(w, 200000); i; --i) hash = (hash ^ i) * UINT64_C(0x100000001b3);
  return hash;
}

const struct named_action g_sync_actions[] = {{"lock_mutex", lock_mutex},
                                              {"try_mutex", try_mutex},
                                              {"lock_rwlock", lock_rwlock},
                                              {"lock_spin", lock_spin},
                                              {"add_atomically", add_atomically},
                                              {"hand_over", hand_over},
                                              {"wait_until_late", wait_until_late},
                                              {"use_semaphore", use_semaphore},
                                              {"wait_by_futex", wait_by_futex},
                                              {"inherit_robust", inherit_robust},
                                              {"yield", yield},
                                              {"compute", compute},
                                              {NULL, NULL}};
