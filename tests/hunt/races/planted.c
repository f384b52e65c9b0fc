// Races, by their number: 1 two plain additions; 2 a plain store against a load under a lock; 3
// bytes that strcpy() writes and another thread reads; 4 a block that is freed while another thread
// reads it; 5 a race that only some schedules show, since a lock orders it in others. And what is
// right: 11 relaxed atomics; 12 a lock; 13 a flag that is released and acquired; 14 pthread_once;
// 15 a barrier; 16 a block that one thread frees and another gets next; 17 a pipe; 18
// pages that one thread unmaps and another maps next; 19 the like of a block of several pages.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPages = 4 * 4096 };

static int kind, counter, guarded, published;
static char text[32];
static int* block;
static atomic_int relaxed, ready, order;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static int ends[2];

static void publish(void) { published = 7; }

static void one(void) {
  switch (kind) {
    case 1: counter++; break;    // RACE 1
    case 2: guarded = 1; break;  // RACE 2
    case 3: strcpy(text, "a text of some length"); break;
    case 4: free(block); break;  // RACE 4
    case 5:
      counter = 1;  // RACE 5
      pthread_mutex_lock(&lock);
      guarded = 1;
      pthread_mutex_unlock(&lock);
      break;
    case 11: atomic_store_explicit(&relaxed, 1, memory_order_relaxed); break;
    case 13:
      published = 3;
      atomic_store_explicit(&ready, 1, memory_order_release);
      break;
    case 17:
      published = 3;
      if (write(ends[1], "x", 1) != 1) abort();
      break;
    default: break;
  }
}

static void other(void) {
  char c;
  switch (kind) {
    case 1: counter++; break;  // RACE 1
    case 2:
      pthread_mutex_lock(&lock);
      if (guarded > 1) abort();  // RACE 2
      pthread_mutex_unlock(&lock);
      break;
    case 3:
      if (text[3] == 'q') abort();  // RACE 3
      break;
    case 4:
      if (*block == 3) abort();  // RACE 4
      break;
    case 5:
      pthread_mutex_lock(&lock);
      guarded++;
      pthread_mutex_unlock(&lock);
      if (counter == 5) abort();  // RACE 5
      break;
    case 11:
      if (atomic_load_explicit(&relaxed, memory_order_relaxed) == 5) abort();
      break;
    case 13:
      if (atomic_load_explicit(&ready, memory_order_acquire) && published != 3) abort();
      break;
    case 17:
      if (read(ends[0], &c, 1) != 1 || published != 3) abort();
      break;
    default: break;
  }
}

static void both(void) {
  switch (kind) {
    case 12:
      pthread_mutex_lock(&lock);
      counter++;
      pthread_mutex_unlock(&lock);
      break;
    case 14:
      pthread_once(&once, publish);
      if (published != 7) abort();
      break;
    case 15: {
      const int me = atomic_fetch_add(&order, 1);
      if (me == 0) counter = 1;
      pthread_barrier_wait(&barrier);
      if (counter != 1) abort();
      pthread_barrier_wait(&barrier);
      if (me == 1) counter = 2;
      break;
    }
    case 16:
      for (int i = 0; i < 20; i++) {
        int* const mine = malloc(sizeof *mine);
        *mine = i;
        if (*mine != i) abort();
        free(mine);
      }
      break;
    case 18:
      for (int i = 0; i < 5; i++) {
        char* const pages =
            mmap(NULL, kPages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) abort();
        pages[kPages / 2] = 1;
        munmap(pages, kPages);
      }
      break;
    case 19:
      for (int i = 0; i < 5; i++) {
        char* const pages = malloc(kPages);
        pages[kPages / 2] = 1;
        free(pages);
      }
      break;
    default: break;
  }
}

static void* first(void* unused) { return one(), both(), unused; }
static void* second(void* unused) { return other(), both(), unused; }

int main(int argc, char** argv) {
  pthread_t threads[2];
  kind = argc > 1 ? atoi(argv[1]) : 0;
  block = calloc(1, sizeof *block);
  pthread_barrier_init(&barrier, NULL, 2);
  if (kind == 17 && pipe(ends) != 0) return 2;
  pthread_create(&threads[0], NULL, first, NULL);
  pthread_create(&threads[1], NULL, second, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
