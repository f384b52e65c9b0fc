// Who gets a lock after whom is the same on every run, also where locks pass from being one task's
// to being all tasks' and back: each lock writes down who held it.
#include "program.h"

enum { kLocks = 6, kSteps = 400 };
static struct {
  pthread_mutex_t lock;
  unsigned long history;
  long uses;
  char apart[64];
} locks[kLocks];
static unsigned long racy;

static void* body(void* number) {
  const unsigned me = (unsigned)(long)number;
  unsigned x = me * 40503u + 1;
  for (int step = 0; step < kSteps; ++step) {
    x = x * 1103515245 + 12345;
    const unsigned which =
        step / 100 % 2 ? (x >> 16) % kLocks : me % kLocks;  // now all, now one's own
    if ((x >> 24) % 3 == 0) {
      if (pthread_mutex_trylock(&locks[which].lock)) continue;
    } else {
      pthread_mutex_lock(&locks[which].lock);
    }
    locks[which].history = locks[which].history * 31 + me + 1 + racy;
    locks[which].uses++;
    pthread_mutex_unlock(&locks[which].lock);
    racy = racy * 3 + me;
  }
  return NULL;
}

int main(int argc, char** argv) {
  for (int i = 0; i < kLocks; ++i) pthread_mutex_init(&locks[i].lock, NULL);
  run_threads(argument(argc, argv, 1, 4), body);
  for (int i = 0; i < kLocks; ++i)
    printf("lock %d: %ld uses, history %lx\n", i, locks[i].uses, locks[i].history);
  printf("racy %lx\n", racy);
  return 0;
}
