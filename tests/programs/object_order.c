// Objects of every kind, each used by all threads, some of them side by side in memory, in threads
// that come and go, with signals at any place. Each object has a hash over who came when, which is
// what is printed: another order of operations on one object gives another number.
#include "program.h"

enum { kObjects = 12, kWaves = 3, kRounds = 400, kQueue = 8 };

static int g_threads, g_rounds = kRounds;
static struct Counted {
  pthread_mutex_t lock;
  unsigned hash;
} g_locked[kObjects];
static pthread_mutex_t g_recursive;
static pthread_rwlock_t g_shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t g_queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_filled = PTHREAD_COND_INITIALIZER, g_emptied = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t g_barrier;
static pthread_spinlock_t g_spin;
static sem_t g_semaphore;
static unsigned g_recursive_hash, g_shared_hash, g_queue_hash, g_semaphore_hash, g_spin_hash;
static unsigned g_words[kObjects], g_word_hash;
static int g_queue[kQueue], g_queued;
static unsigned g_handled;
static pthread_t g_thread[kMaxThreads];

static void note(unsigned* hash, unsigned who) { *hash = *hash * 31 + who + 1; }

static void on_signal(int number) {
  (void)number;
  __atomic_add_fetch(&g_handled, 1, __ATOMIC_SEQ_CST);
}

// Every thread puts as many as it takes.
static void exchange(unsigned me) {
  CHECK_EQ(pthread_mutex_lock(&g_queue_lock), 0);
  while (g_queued == kQueue) CHECK_EQ(pthread_cond_wait(&g_emptied, &g_queue_lock), 0);
  g_queue[g_queued++] = (int)me;
  note(&g_queue_hash, me);
  CHECK_EQ(pthread_cond_signal(&g_filled), 0);
  CHECK_EQ(pthread_mutex_unlock(&g_queue_lock), 0);
  CHECK_EQ(pthread_mutex_lock(&g_queue_lock), 0);
  while (!g_queued) CHECK_EQ(pthread_cond_wait(&g_filled, &g_queue_lock), 0);
  note(&g_queue_hash, (unsigned)g_queue[--g_queued]);
  CHECK_EQ(pthread_mutex_unlock(&g_queue_lock), 0);
  CHECK_EQ(pthread_cond_broadcast(&g_emptied), 0);
}

static unsigned step(unsigned me, unsigned chance, unsigned seen) {
  struct Counted* counted = &g_locked[chance / 16 % kObjects];
  unsigned* word = &g_words[chance / 16 % kObjects];
  switch (chance % 12) {
    case 0:
      CHECK_EQ(pthread_mutex_lock(&g_recursive), 0);
      CHECK_EQ(pthread_mutex_lock(&g_recursive), 0);
      note(&g_recursive_hash, me);
      CHECK_EQ(pthread_mutex_unlock(&g_recursive), 0);
      CHECK_EQ(pthread_mutex_unlock(&g_recursive), 0);
      return seen;
    case 1:
      CHECK_EQ(pthread_rwlock_wrlock(&g_shared), 0);
      note(&g_shared_hash, me);
      CHECK_EQ(pthread_rwlock_unlock(&g_shared), 0);
      return seen;
    case 2:
      CHECK_EQ(pthread_rwlock_rdlock(&g_shared), 0);
      seen = seen * 31 + g_shared_hash;
      CHECK_EQ(pthread_rwlock_unlock(&g_shared), 0);
      return seen;
    case 3:
      CHECK_EQ(sem_wait(&g_semaphore), 0);
      note(&g_semaphore_hash, me);
      CHECK_EQ(sem_post(&g_semaphore), 0);
      return seen;
    case 4: return seen * 31 + __atomic_fetch_add(word, me + 1, __ATOMIC_SEQ_CST);
    case 5: return seen * 31 + __atomic_exchange_n(word, me, __ATOMIC_SEQ_CST);
    case 6: {
      unsigned was = me;
      const int done =
          __atomic_compare_exchange_n(word, &was, seen, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      return seen * 31 + (done ? 1 : was);
    }
    case 7: exchange(me); return seen;
    case 8:
      CHECK_EQ(pthread_spin_lock(&g_spin), 0);
      note(&g_spin_hash, me);
      CHECK_EQ(pthread_spin_unlock(&g_spin), 0);
      return seen;
    case 9:
      if (pthread_mutex_trylock(&counted->lock) != 0) return seen * 31 + 7;
      break;
    default: CHECK_EQ(pthread_mutex_lock(&counted->lock), 0);
  }
  note(&counted->hash, me);
  CHECK_EQ(pthread_mutex_unlock(&counted->lock), 0);
  return seen;
}

static void* work(void* number) {
  const unsigned me = (unsigned)(uintptr_t)number;
  unsigned chance = me * 2654435761u + 12345, seen = me;
  g_thread[me] = pthread_self();
  int result = pthread_barrier_wait(&g_barrier);
  CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
  for (int i = 0; i < g_rounds; ++i) {
    chance = chance * 1103515245u + 12345;
    seen = step(me, chance >> 8, seen);
    if (i % 50 == 49) {
      CHECK_EQ(pthread_kill(g_thread[(me + 1) % (unsigned)g_threads], SIGUSR1), 0);
      result = pthread_barrier_wait(&g_barrier);
      CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    }
  }
  __atomic_add_fetch(&g_word_hash, seen * (me + 3), __ATOMIC_SEQ_CST);
  return NULL;
}

static void print(const char* who) {
  unsigned locked = 0, words = 0;
  for (int i = 0; i < kObjects; ++i)
    locked = locked * 131 + g_locked[i].hash, words = words * 131 + g_words[i];
  printf("%s: %08x %08x %08x %08x %08x %08x %08x %08x\n", who, locked, g_recursive_hash,
         g_shared_hash, g_semaphore_hash, g_spin_hash, g_queue_hash, words, g_word_hash);
  fflush(stdout);
}

int main(int argc, char** argv) {
  g_threads = argument(argc, argv, 1, 4);
  g_rounds = argument(argc, argv, 2, kRounds);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  pthread_mutexattr_t attribute;
  CHECK_EQ(pthread_mutexattr_init(&attribute), 0);
  CHECK_EQ(pthread_mutexattr_settype(&attribute, PTHREAD_MUTEX_RECURSIVE), 0);
  CHECK_EQ(pthread_mutex_init(&g_recursive, &attribute), 0);
  CHECK_EQ(pthread_spin_init(&g_spin, PTHREAD_PROCESS_PRIVATE), 0);
  CHECK_EQ(sem_init(&g_semaphore, 0, 1), 0);
  CHECK_EQ(pthread_barrier_init(&g_barrier, NULL, (unsigned)g_threads), 0);
  for (int i = 0; i < kObjects; ++i) CHECK_EQ(pthread_mutex_init(&g_locked[i].lock, NULL), 0);
  for (int wave = 0; wave < kWaves; ++wave) {
    run_threads(g_threads, work);
    print("program");
  }
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    run_threads(g_threads, work);
    print("child");
    _exit(0);
  }
  CHECK_CHILD(child);
  run_threads(g_threads, work);
  print("program");
  return 0;
}
