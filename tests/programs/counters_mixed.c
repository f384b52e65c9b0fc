// No write is lost, whatever comes between: counters spread over pages, each group under another
// kind of lock, beside words that one thread alone writes without any; events of all kinds follow
// each other in moods, so that turns are kept for long or given on at once, and threads change
// between waiting, computing and the kernel. Everything follows from the seed. Each thread keeps an
// account. usage: counters_mixed [THREADS [SEED [STEPS]]]
#include "program.h"

enum { kGroups = 12, kPerGroup = 24, kOwn = 40, kMoods = 8 };

// One word a thread and eight counters a page share the pages, so neighbours in a page have
// different writers.
static long counters[kGroups][kPerGroup][64];
static long own[kOwn][kMaxThreads];
static pthread_mutex_t mutexes[kPerGroup], recursive[kPerGroup], priority[4], ticket_mutex;
static pthread_rwlock_t rwlocks[4];
static pthread_spinlock_t spins[4];
static pthread_cond_t tickets_change = PTHREAD_COND_INITIALIZER;
static sem_t semaphores[4];
static int homemade[4];
static long ticket_next, ticket_serving;
static pthread_key_t key;
static int file;
static int count, steps;
static pthread_t threads[kMaxThreads];
static __thread volatile sig_atomic_t signals;
static __thread long thread_word[700];
static long destroyed[kMaxThreads];

typedef struct {
  unsigned long state;
  long number;
  long added[kGroups][kPerGroup];
  long words[kOwn], local[700];
} Account;

static unsigned next(Account* a) {
  a->state = a->state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(a->state >> 33);
}

static void on_signal(int signal) {
  volatile char deep[5000];
  deep[0] = deep[4999] = (char)signal;
  if (signals % 3 == 0) sched_yield();
  CHECK_EQ(deep[0], deep[4999]);
  signals++;
}

static void at_end(void* argument) {
  const long number = (long)argument - 1;
  destroyed[number]++;
  sched_yield();
  destroyed[number]++;
}

static void add(Account* a, int group, unsigned which) {
  counters[group][which][(which * 7) % 64]++;
  a->added[group][which]++;
}

static long compute(Account* a) {
  unsigned long x = a->state;
  for (unsigned i = 0, n = 1u << (next(a) % 15); i < n; ++i)
    x = x * 2862933555777941757u + (x >> 31);
  return (long)(x & 1);
}

static void* short_life(void* argument) {
  Account* a = argument;
  for (int i = 0; i < 3; ++i) {
    const unsigned which = next(a) % kPerGroup;
    CHECK_EQ(pthread_mutex_lock(&mutexes[which]), 0);
    add(a, 0, which);
    CHECK_EQ(pthread_mutex_unlock(&mutexes[which]), 0);
    __atomic_add_fetch(&counters[1][which][3], 1, __ATOMIC_RELAXED);
    a->added[1][which]++;
  }
  thread_word[5] = 9;
  return argument;
}

static void locked_step(Account* a) {
  const unsigned which = next(a) % kPerGroup, few = which % 4;
  switch (next(a) % 12) {
    case 0:
    case 1:
      CHECK_EQ(pthread_mutex_lock(&mutexes[which]), 0);
      add(a, 0, which);
      if (next(a) % 8 == 0) sched_yield();
      add(a, 0, which);
      CHECK_EQ(pthread_mutex_unlock(&mutexes[which]), 0);
      break;
    case 2:
      __atomic_add_fetch(&counters[1][which][3], 1, __ATOMIC_SEQ_CST);
      a->added[1][which]++;
      break;
    case 3: {
      long old = __atomic_load_n(&counters[1][which][3], __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(&counters[1][which][3], &old, old + 1, 0,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
      a->added[1][which]++;
      break;
    }
    case 4:
      CHECK_EQ(pthread_rwlock_wrlock(&rwlocks[few]), 0);
      add(a, 2, few);
      CHECK_EQ(pthread_rwlock_unlock(&rwlocks[few]), 0);
      CHECK_EQ(pthread_rwlock_rdlock(&rwlocks[few]), 0);
      if (next(a) % 16 == 0) compute(a);
      CHECK(counters[2][few][(few * 7) % 64] >= a->added[2][few]);
      CHECK_EQ(pthread_rwlock_unlock(&rwlocks[few]), 0);
      break;
    case 5:
      CHECK_EQ(pthread_spin_lock(&spins[few]), 0);
      add(a, 3, few);
      CHECK_EQ(pthread_spin_unlock(&spins[few]), 0);
      break;
    case 6:
      while (sem_wait(&semaphores[few])) CHECK_EQ(errno, EINTR);
      add(a, 4, few);
      CHECK_EQ(sem_post(&semaphores[few]), 0);
      break;
    case 7: {
      CHECK_EQ(pthread_mutex_lock(&ticket_mutex), 0);
      const long mine = ticket_next++;
      while (ticket_serving != mine) CHECK_EQ(pthread_cond_wait(&tickets_change, &ticket_mutex), 0);
      add(a, 5, few);
      ticket_serving++;
      CHECK_EQ(pthread_cond_broadcast(&tickets_change), 0);
      CHECK_EQ(pthread_mutex_unlock(&ticket_mutex), 0);
      break;
    }
    case 8:
      while (__atomic_exchange_n(&homemade[few], 1, __ATOMIC_ACQUIRE)) sched_yield();
      add(a, 6, few);
      __atomic_store_n(&homemade[few], 0, __ATOMIC_SEQ_CST);
      break;
    case 9:
      CHECK_EQ(pthread_mutex_lock(&recursive[which]), 0);
      CHECK_EQ(pthread_mutex_lock(&recursive[which]), 0);
      add(a, 7, which);
      CHECK_EQ(pthread_mutex_unlock(&recursive[which]), 0);
      add(a, 7, which);
      CHECK_EQ(pthread_mutex_unlock(&recursive[which]), 0);
      break;
    case 10:
      CHECK_EQ(pthread_mutex_lock(&priority[few]), 0);
      add(a, 8, few);
      if (next(a) % 4 == 0) sched_yield();
      add(a, 8, few);
      CHECK_EQ(pthread_mutex_unlock(&priority[few]), 0);
      break;
    case 11: {
      int tries = 0;
      while (pthread_mutex_trylock(&mutexes[which]) && ++tries < 4) {}
      if (tries == 4) break;
      add(a, 0, which);
      // Two at once, taken in an order or not at all.
      const unsigned other = (which + 1) % kPerGroup;
      if (other && pthread_mutex_trylock(&mutexes[other]) == 0) {
        add(a, 0, other);
        CHECK_EQ(pthread_mutex_unlock(&mutexes[which]), 0);
        add(a, 0, other);
        CHECK_EQ(pthread_mutex_unlock(&mutexes[other]), 0);
      } else {
        CHECK_EQ(pthread_mutex_unlock(&mutexes[which]), 0);
      }
      break;
    }
  }
}

static void kernel_step(Account* a) {
  char words[64], back[64];
  const long at = (a->number * 100 + next(a) % 100) * (long)sizeof words;
  switch (next(a) % 8) {
    case 0: sched_yield(); break;
    case 1:
      snprintf(words, sizeof words, "%ld %u", a->number, next(a));
      CHECK_EQ(pwrite(file, words, sizeof words, at), sizeof words);
      CHECK_EQ(pread(file, back, sizeof back, at), sizeof back);
      CHECK_EQ(strcmp(words, back), 0);
      break;
    case 2: {
      int ends[2];
      CHECK_EQ(pipe(ends), 0);
      CHECK_EQ(write(ends[1], "abcd", 4), 4);
      memset(back, 0, sizeof back);
      CHECK_EQ(read(ends[0], back, sizeof back), 4);
      CHECK_EQ(strcmp(back, "abcd"), 0);
      close(ends[0]);
      close(ends[1]);
      break;
    }
    case 3: {
      const size_t size = 1 + next(a) % 3 * 4096;
      char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      CHECK(memory != MAP_FAILED);
      CHECK_EQ(memory[size - 1], 0);
      memory[size - 1] = 5;
      sched_yield();
      CHECK_EQ(memory[size - 1], 5);
      CHECK_EQ(munmap(memory, size), 0);
      break;
    }
    case 4: nanosleep(&(struct timespec){0, 1000 + next(a) % 20000}, NULL); break;
    case 5: CHECK_EQ(lseek(file, 0, SEEK_CUR), 0); break;
    case 6: CHECK_EQ(pthread_kill(threads[next(a) % (unsigned)count], SIGUSR1), 0); break;
    case 7: CHECK_EQ(raise(SIGUSR1), 0); break;
  }
}

static void rare_step(Account* a) {
  switch (next(a) % 3) {
    case 0: {
      pthread_t id;
      void* value;
      CHECK_EQ(pthread_create(&id, NULL, short_life, a), 0);
      CHECK_EQ(pthread_join(id, &value), 0);
      CHECK(value == a);
      break;
    }
    case 1: {
      const pid_t child = fork();
      if (child == 0) {
        for (int i = 0; i < kOwn; ++i) CHECK_EQ(own[i][a->number], a->words[i]);
        for (int i = 0; i < 700; ++i) CHECK_EQ(thread_word[i], a->local[i]);
        if (next(a) % 2) {
          pthread_t id;
          long before[4];
          for (int i = 0; i < 4; ++i) before[i] = counters[1][i][3];
          memset(a->added, 0, sizeof a->added);
          for (int i = 0; i < kPerGroup; ++i) pthread_mutex_init(&mutexes[i], NULL);
          CHECK_EQ(pthread_create(&id, NULL, short_life, a), 0);
          CHECK_EQ(pthread_join(id, NULL), 0);
          for (int i = 0; i < 4; ++i) CHECK_EQ(counters[1][i][3], before[i] + a->added[1][i]);
        }
        _exit(7);
      }
      int status = 0;
      while (waitpid(child, &status, 0) == -1) CHECK_EQ(errno, EINTR);
      CHECK(WIFEXITED(status));
      CHECK_EQ(WEXITSTATUS(status), 7);
      break;
    }
    case 2: {
      char* text = malloc(100 + next(a) % 9000);
      text[99] = 'x';
      sched_yield();
      text = realloc(text, 12000);
      CHECK_EQ(text[99], 'x');
      free(text);
      break;
    }
  }
}

static void own_step(Account* a) {
  const unsigned word = next(a) % kOwn, local = next(a) % 700;
  CHECK_EQ(own[word][a->number], a->words[word]);
  own[word][a->number] = a->words[word] = (long)next(a);
  CHECK_EQ(thread_word[local], a->local[local]);
  thread_word[local] = a->local[local] = (long)next(a);
}

static void body(Account* a) {
  volatile long on_stack[900];
  for (int i = 0; i < 900; ++i) on_stack[i] = a->number + i;
  CHECK_EQ(pthread_setspecific(key, (void*)(a->number + 1)), 0);
  unsigned mood = 0;
  for (int step = 0; step < steps; ++step) {
    if (next(a) % 40 == 0) mood = next(a) % kMoods;
    own_step(a);
    switch (mood) {
      case 0:
      case 1:
      case 2: locked_step(a); break;
      case 3:
        locked_step(a);
        compute(a);
        break;
      case 4: kernel_step(a); break;
      case 5: next(a) % 2 ? kernel_step(a) : locked_step(a); break;
      case 6:
        if (next(a) % 8 == 0) rare_step(a);
        break;
      case 7: {  // one counter again and again
        const unsigned which = (unsigned)a->number % 3;
        for (int i = 0; i < 20; ++i) {
          CHECK_EQ(pthread_mutex_lock(&mutexes[which]), 0);
          add(a, 0, which);
          CHECK_EQ(pthread_mutex_unlock(&mutexes[which]), 0);
        }
        break;
      }
    }
    const unsigned at = next(a) % 900;
    CHECK_EQ(on_stack[at], a->number + at);
  }
  for (int i = 0; i < kOwn; ++i) CHECK_EQ(own[i][a->number], a->words[i]);
}

static pthread_barrier_t all_made;

static void* begin(void* argument) {
  pthread_barrier_wait(&all_made);
  body(argument);
  pthread_barrier_wait(&all_made);  // nobody is signalled after its end
  return argument;
}

int main(int argc, char** argv) {
  count = argument(argc, argv, 1, 4);
  const long seed = argument(argc, argv, 2, 1);
  steps = argument(argc, argv, 3, 300);
  CHECK(count >= 1 && count <= kMaxThreads);
  pthread_mutexattr_t kind;
  CHECK_EQ(pthread_mutexattr_init(&kind), 0);
  for (int i = 0; i < kPerGroup; ++i) CHECK_EQ(pthread_mutex_init(&mutexes[i], NULL), 0);
  CHECK_EQ(pthread_mutex_init(&ticket_mutex, NULL), 0);
  CHECK_EQ(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE), 0);
  for (int i = 0; i < kPerGroup; ++i) CHECK_EQ(pthread_mutex_init(&recursive[i], &kind), 0);
  CHECK_EQ(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_NORMAL), 0);
  CHECK_EQ(pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT), 0);
  for (int i = 0; i < 4; ++i) {
    CHECK_EQ(pthread_mutex_init(&priority[i], &kind), 0);
    CHECK_EQ(pthread_rwlock_init(&rwlocks[i], NULL), 0);
    CHECK_EQ(pthread_spin_init(&spins[i], 0), 0);
    CHECK_EQ(sem_init(&semaphores[i], 0, 1), 0);
  }
  CHECK_EQ(pthread_key_create(&key, at_end), 0);
  CHECK_EQ(pthread_barrier_init(&all_made, NULL, (unsigned)count), 0);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  char path[] = "/tmp/counters_mixed.XXXXXX";
  file = mkstemp(path);
  CHECK(file >= 0);
  unlink(path);
  static Account accounts[kMaxThreads];
  for (long i = 0; i < count; ++i)
    accounts[i] = (Account){.state = (unsigned long)(seed * 1000003 + i), .number = i};
  threads[0] = pthread_self();
  for (int i = 1; i < count; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, begin, &accounts[i]), 0);
  begin(&accounts[0]);
  for (int i = 1; i < count; ++i) {
    void* value = NULL;
    CHECK_EQ(pthread_join(threads[i], &value), 0);
    CHECK(value == &accounts[i]);
    CHECK_EQ(destroyed[i], 2);
  }
  for (int group = 0; group < kGroups; ++group) {
    for (int i = 0; i < kPerGroup; ++i) {
      long want = 0;
      for (int k = 0; k < count; ++k) want += accounts[k].added[group][i];
      CHECK_EQ(counters[group][i][group == 1 ? 3 : (i * 7) % 64], want);
    }
  }
  puts("every counter holds");
  return 0;
}
