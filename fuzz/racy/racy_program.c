// A program with races of all kinds, drawn from a seed: its threads load and store the same memory
// in all widths, over page boundaries, by plain, atomic, vector and repeated instructions, between
// locks, calls, signals, forks and threads that come and go. What a thread has read goes into its
// hash, and the hash decides what it does next. So what is printed is another in each native run;
// under an order that is exact it must be the same in all (fuzz/racy.py).
//
// Usage: racy_program SEED THREADS STEPS [ACTION,...]   only these actions
// TELL=1 in the environment: each action is named on standard error.
#include <errno.h>
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPages = 6, kBytes = kPages * 4096, kWords = kBytes / 8, kThreads = 16, kSlots = 24 };

struct Thread {
  uint64_t hash, drawn;
  int number, steps;
  pthread_t self;
};

static struct Thread g_threads[kThreads];
static int g_count;
static _Alignas(4096) unsigned char g_static[kBytes];
static unsigned char *g_heap, *g_mapped;
static _Atomic(uint64_t*) g_slots[kSlots];
static pthread_mutex_t g_locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t g_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t g_spin;
static sem_t g_semaphore;
static int g_pipe[2];
static _Thread_local struct Thread* t_self;
static _Thread_local volatile uint64_t t_signals;

static uint64_t scramble(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static void mix(struct Thread* t, uint64_t value) { t->hash = scramble(t->hash * 31 + value); }

// What the thread draws depends on what it has read.
static uint64_t draw(struct Thread* t, uint64_t below) {
  t->drawn++;
  return scramble(t->hash + t->drawn * 0x9e3779b97f4a7c15) % below;
}

static unsigned char* region(struct Thread* t) {
  unsigned char* const all[] = {g_static, g_heap, g_mapped};
  return all[draw(t, 3)];
}

// A few words are met often; else anywhere, now and then across a page's end.
static void* place(struct Thread* t, uint64_t size, uint64_t alignment) {
  unsigned char* base = region(t);
  uint64_t at;
  switch (draw(t, 4)) {
    case 0: at = draw(t, 8) * 8; break;
    case 1: at = (1 + draw(t, kPages - 1)) * 4096 - 16 + draw(t, 32); break;
    default: at = draw(t, kBytes - size);
  }
  if (at + size > kBytes) at = kBytes - size;
  return base + at / alignment * alignment;
}

static void load_some(struct Thread* t) {
  switch (draw(t, 4)) {
    case 0: mix(t, *(volatile uint8_t*)place(t, 1, 1)); break;
    case 1: mix(t, *(volatile uint16_t*)place(t, 2, 1)); break;
    case 2: mix(t, *(volatile uint32_t*)place(t, 4, 1)); break;
    default: mix(t, *(volatile uint64_t*)place(t, 8, 1));
  }
}

static void store_some(struct Thread* t) {
  const uint64_t value = t->hash;
  switch (draw(t, 5)) {
    case 0: *(volatile uint8_t*)place(t, 1, 1) = (uint8_t)value; break;
    case 1: *(volatile uint16_t*)place(t, 2, 1) = (uint16_t)value; break;
    case 2: *(volatile uint32_t*)place(t, 4, 1) = (uint32_t)value; break;
    case 3: *(volatile uint64_t*)place(t, 8, 1) = value; break;
    default: ++*(volatile uint64_t*)place(t, 8, 8);
  }
}

static void atomic_some(struct Thread* t) {
  _Atomic uint64_t* word = place(t, 8, 8);
  _Atomic uint32_t* half = place(t, 4, 4);
  uint64_t expected = atomic_load_explicit(word, memory_order_relaxed);
  switch (draw(t, 9)) {
    case 0: mix(t, atomic_fetch_add(word, 3)); break;
    case 1: mix(t, atomic_exchange(half, (uint32_t)t->hash)); break;
    case 2:
      mix(t, atomic_compare_exchange_strong(word, &expected, t->hash)), mix(t, expected);
      break;
    case 3: mix(t, atomic_fetch_or(word, 1ull << draw(t, 64))); break;
    case 4: mix(t, atomic_fetch_and(half, ~(1u << draw(t, 32)))); break;
    case 5: mix(t, atomic_fetch_xor(word, t->hash)); break;
    case 6: atomic_fetch_add((_Atomic uint16_t*)half, 1); break;
    case 7: atomic_store(word, t->hash); break;
    default: {
      unsigned char changed;
      uint64_t* pair = place(t, 16, 16);
      uint64_t low = pair[0], high = pair[1];
      __asm__ volatile("lock cmpxchg16b %1\n\tsete %0"
                       : "=q"(changed), "+m"(*pair), "+a"(low), "+d"(high)
                       : "b"(t->hash), "c"(t->drawn)
                       : "memory", "cc");
      mix(t, low ^ high ^ changed);
    }
  }
}

static void copy_some(struct Thread* t) {
  const uint64_t size = 1 + draw(t, draw(t, 8) ? 200 : 9000);
  void* to = place(t, size, 1);
  const void* from = place(t, size, 1);
  if (draw(t, 2)) {
    memmove(to, from, size);
  } else {
    uint64_t left = size;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
  }
}

static void fill_some(struct Thread* t) {
  const uint64_t size = 1 + draw(t, draw(t, 8) ? 300 : 9000);
  memset(place(t, size, 1), (int)t->hash, size);
}

static void compare_some(struct Thread* t) {
  const uint64_t size = 1 + draw(t, 64);
  const void* a = place(t, size, 1);
  mix(t, memcmp(a, place(t, size, 1), size) < 0);
}

static void vector_some(struct Thread* t) {
  __m128i got = _mm_loadu_si128(place(t, 16, 1));
  mix(t, (uint64_t)_mm_cvtsi128_si64(got));
  got = _mm_add_epi64(got, _mm_set1_epi64x((long long)t->hash));
  if (draw(t, 2)) _mm_storeu_si128(place(t, 16, 1), got);
  else _mm_maskmoveu_si128(got, _mm_set1_epi16((short)0x80ff), place(t, 16, 1));
}

static void some_accesses(struct Thread* t) {
  static void (*const kAccesses[])(struct Thread*) = {load_some, load_some,    store_some,
                                                      copy_some, compare_some, vector_some};
  for (uint64_t i = 1 + draw(t, 12); i > 0; i--) kAccesses[draw(t, 6)](t);
}

static void in_locks(struct Thread* t) {
  const uint64_t first = draw(t, 3), last = first + draw(t, 3 - first);
  for (uint64_t i = first; i <= last; i++) pthread_mutex_lock(&g_locks[i]);
  some_accesses(t);
  for (uint64_t i = first; i <= last; i++) pthread_mutex_unlock(&g_locks[i]);
}

static void in_rwlock(struct Thread* t) {
  if (draw(t, 3)) pthread_rwlock_rdlock(&g_rwlock);
  else pthread_rwlock_wrlock(&g_rwlock);
  some_accesses(t);
  pthread_rwlock_unlock(&g_rwlock);
}

static void in_spin_lock(struct Thread* t) {
  pthread_spin_lock(&g_spin);
  load_some(t);
  store_some(t);
  pthread_spin_unlock(&g_spin);
}

static void try_lock(struct Thread* t) {
  const int got = pthread_mutex_trylock(&g_locks[0]);
  mix(t, (uint64_t)got);
  if (got == 0) pthread_mutex_unlock(&g_locks[0]);
}

static void wait_condition(struct Thread* t) {
  struct timespec until;
  pthread_mutex_lock(&g_locks[1]);
  if (draw(t, 2)) {
    pthread_cond_broadcast(&g_condition);
  } else {
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 200000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    mix(t, pthread_cond_timedwait(&g_condition, &g_locks[1], &until) == 0);
  }
  some_accesses(t);
  pthread_mutex_unlock(&g_locks[1]);
}

static void use_semaphore(struct Thread* t) {
  if (draw(t, 2)) sem_post(&g_semaphore);
  else mix(t, (uint64_t)sem_trywait(&g_semaphore));
}

// Whoever takes a block out of a slot has it alone.
static void exchange_block(struct Thread* t) {
  const uint64_t words = 1 + draw(t, draw(t, 8) ? 40 : 20000);
  uint64_t* block = malloc(words * 8);
  for (uint64_t i = 0; i < words; i += 100) block[i] = t->hash + i;
  uint64_t* other = atomic_exchange(&g_slots[draw(t, kSlots)], block);
  if (!other) return;
  mix(t, *other);
  free(other);
}

static void use_pipe(struct Thread* t) {
  uint64_t value = t->hash;
  if (draw(t, 2)) mix(t, (uint64_t)write(g_pipe[1], &value, 8));
  else if (read(g_pipe[0], &value, 8) == 8) mix(t, value);
}

static void read_file(struct Thread* t) {
  const int file = open("/proc/self/exe", O_RDONLY);
  const uint64_t size = 1 + draw(t, 5000);
  mix(t, (uint64_t)pread(file, place(t, size, 1), size, (off_t)draw(t, 4096)));
  close(file);
}

static void on_signal(int number) {
  struct Thread* t = t_self;
  t_signals = t_signals * 5 + (uint64_t)number;
  *(volatile uint64_t*)(g_static + 8 * (t_signals % 8)) += t ? t->hash : 1;
}

// Only those that are sure to be there.
static void send_signal(struct Thread* t) {
  if (draw(t, 2)) raise(SIGUSR2);
  else pthread_kill(g_threads[0].self, SIGUSR1);
  mix(t, t_signals);
}

static void block_signals(struct Thread* t) {
  sigset_t set, old;
  sigfillset(&set);
  pthread_sigmask(SIG_BLOCK, &set, &old);
  some_accesses(t);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  mix(t, t_signals);
}

static void spin(struct Thread* t) {
  _Atomic uint32_t* word = place(t, 4, 4);
  const uint32_t before = atomic_load_explicit(word, memory_order_relaxed);
  uint64_t rounds = 0, most = 1 + draw(t, 3000);
  while (rounds < most && atomic_load_explicit(word, memory_order_acquire) == before) {
    rounds++;
    _mm_pause();
  }
  mix(t, rounds);
}

static void compute(struct Thread* t) {
  uint64_t x = t->hash;
  for (uint64_t i = draw(t, 30000); i > 0; i--) x = x * 6364136223846793005 + 1442695040888963407;
  mix(t, x);
}

static void* brief(void* given) {
  struct Thread* t = given;
  t_self = t;
  some_accesses(t);
  atomic_some(t);
  in_locks(t);
  return NULL;
}

static void make_thread(struct Thread* t) {
  struct Thread child = {.hash = scramble(t->hash), .number = -1};
  if (pthread_create(&child.self, NULL, brief, &child) != 0) return;
  some_accesses(t);
  pthread_join(child.self, NULL);
  mix(t, child.hash);
}

static void make_process(struct Thread* t) {
  if (draw(t, 4)) return;
  const pid_t child = fork();
  if (child == 0) {
    some_accesses(t);
    atomic_some(t);
    _exit((int)(t->hash & 0x3f));
  }
  int status = 0;
  waitpid(child, &status, 0);
  mix(t, (uint64_t)status);
}

static void map_and_unmap(struct Thread* t) {
  unsigned char* at =
      mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(at + 4000, place(t, 200, 1), 200);
  mprotect(at + 4096, 4096, PROT_READ);
  mix(t, at[4100]);
  munmap(at, 3 * 4096);
}

static void stand_aside(struct Thread* t) {
  if (draw(t, 3)) sched_yield();
  else usleep((unsigned)draw(t, 100));
}

struct Action {
  const char* name;
  void (*act)(struct Thread*);
};
static const struct Action kActions[] = {
    {"some_accesses", some_accesses},
    {"atomic_some", atomic_some},
    {"fill_some", fill_some},
    {"in_locks", in_locks},
    {"in_rwlock", in_rwlock},
    {"in_spin_lock", in_spin_lock},
    {"try_lock", try_lock},
    {"wait_condition", wait_condition},
    {"use_semaphore", use_semaphore},
    {"exchange_block", exchange_block},
    {"use_pipe", use_pipe},
    {"read_file", read_file},
    {"send_signal", send_signal},
    {"block_signals", block_signals},
    {"spin", spin},
    {"compute", compute},
    {"make_thread", make_thread},
    {"make_process", make_process},
    {"map_and_unmap", map_and_unmap},
    {"stand_aside", stand_aside},
};
enum { kActionCount = sizeof kActions / sizeof kActions[0] };
static const struct Action* g_chosen[kActionCount];
static int g_chosen_count;

static void* run(void* given) {
  struct Thread* t = given;
  const int tells = getenv("TELL") != NULL;
  t_self = t;
  for (int i = 0; i < t->steps; i++) {
    const struct Action* action = g_chosen[draw(t, (uint64_t)g_chosen_count)];
    if (tells) dprintf(2, "thread %d step %d %s %016lx\n", t->number, i, action->name, t->hash);
    action->act(t);
  }
  return NULL;
}

static void choose(const char* names) {
  for (int i = 0; i < kActionCount; i++) {
    const char* at = names ? strstr(names, kActions[i].name) : kActions[i].name;
    if (at) g_chosen[g_chosen_count++] = &kActions[i];
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const uint64_t seed = strtoull(argv[1], NULL, 10);
  g_count = atoi(argv[2]);
  choose(argc > 4 ? argv[4] : NULL);
  if (g_count < 1 || g_count > kThreads || g_chosen_count == 0) return 2;
  g_heap = malloc(kBytes);
  g_mapped = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(g_heap, 0, kBytes);
  pthread_spin_init(&g_spin, PTHREAD_PROCESS_PRIVATE);
  sem_init(&g_semaphore, 0, 1);
  if (pipe2(g_pipe, O_NONBLOCK) != 0) return 2;
  const struct sigaction handler = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &handler, NULL);
  sigaction(SIGUSR2, &handler, NULL);
  for (int i = 0; i < g_count; i++) {
    g_threads[i] = (struct Thread){
        .hash = scramble(seed * 1000 + (uint64_t)i), .number = i, .steps = atoi(argv[3])};
  }
  g_threads[0].self = pthread_self();
  for (int i = 1; i < g_count; i++)
    if (pthread_create(&g_threads[i].self, NULL, run, &g_threads[i]) != 0) return 2;
  run(&g_threads[0]);
  for (int i = 1; i < g_count; i++) pthread_join(g_threads[i].self, NULL);
  struct Thread all = {.hash = t_signals};
  for (int i = 0; i < g_count; i++) mix(&all, g_threads[i].hash);
  const uint64_t of_threads = all.hash;
  const unsigned char* const regions[] = {g_static, g_heap, g_mapped};
  for (int r = 0; r < 3; r++)
    for (int i = 0; i < kWords; i++) mix(&all, ((const uint64_t*)regions[r])[i]);
  printf("threads %016lx, memory %016lx\n", of_threads, all.hash);
  return 0;
}
