// Each task works long on an object of its own and now and then on its neighbour's, at times that
// differ: nobody finds an object half changed, or loses a change, whoever has used its lock alone
// before.
#include "program.h"

enum { kObjects = 8, kVisits = 24, kWords = 24 };
typedef struct {
  pthread_mutex_t lock;
  long count;
  volatile long inside;
  long words[kWords];
} Object;
static Object objects[kObjects];
static int threads;

static void use(Object* object, unsigned pause) {
  CHECK_EQ(pthread_mutex_lock(&object->lock), 0);
  CHECK_EQ(++object->inside, 1);
  for (int i = 0; i < kWords; ++i) {
    CHECK_EQ(object->words[i], object->count);
    object->words[i]++;
    if (pause % 61 == 0 && i == kWords / 2) sched_yield();  // an event in the middle of the section
  }
  for (volatile unsigned i = 0; i < pause % 64 * 16; ++i) {}
  object->count++;
  CHECK_EQ(--object->inside, 0);
  CHECK_EQ(pthread_mutex_unlock(&object->lock), 0);
}

static void* body(void* number) {
  const int me = (int)(long)number;
  unsigned x = (unsigned)me * 2654435761u + 7;
  for (int visit = 0; visit < kVisits; ++visit) {
    x = x * 1103515245 + 12345;
    for (unsigned i = 0; i < 20 + (x >> 16) % 90; ++i) use(&objects[me], x >> 8 ^ i);
    x = x * 1103515245 + 12345;
    use(&objects[(me + 1 + (x >> 20) % 2) % threads], x >> 8);
  }
  return NULL;
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 4);
  CHECK(threads <= kObjects);
  for (int i = 0; i < kObjects; ++i) CHECK_EQ(pthread_mutex_init(&objects[i].lock, NULL), 0);
  run_threads(threads, body);
  long sum = 0, expected = 0;
  for (int i = 0; i < threads; ++i) sum += objects[i].count;
  for (int me = 0; me < threads; ++me) {
    unsigned x = (unsigned)me * 2654435761u + 7;
    for (int visit = 0; visit < kVisits; ++visit) {
      x = x * 1103515245 + 12345;
      expected += 20 + (x >> 16) % 90 + 1;
      x = x * 1103515245 + 12345;
    }
  }
  CHECK_EQ(sum, expected);
  printf("used %ld times\n", sum);
  return 0;
}
