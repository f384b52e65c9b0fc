// A counter under one mutex loses no increment, and a mutex per slot guards slots that share a
// page.
#include "program.h"

enum { kRounds = 300, kSlots = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, slot_locks[kSlots];
static long total, slots[kSlots];

static void* body(void* number) {
  for (int i = 0; i < kRounds; ++i) {
    int slot = (int)((long)number * 3 + i) % kSlots;
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    ++total;
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
    CHECK_EQ(pthread_mutex_lock(&slot_locks[slot]), 0);
    ++slots[slot];
    CHECK_EQ(pthread_mutex_unlock(&slot_locks[slot]), 0);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  long sum = 0;
  for (int i = 0; i < kSlots; ++i) CHECK_EQ(pthread_mutex_init(&slot_locks[i], NULL), 0);
  run_threads(threads, body);
  for (int i = 0; i < kSlots; ++i) sum += slots[i];
  for (int i = 0; i < kSlots; ++i) CHECK_EQ(pthread_mutex_destroy(&slot_locks[i]), 0);
  CHECK_EQ(total, (long)threads * kRounds);
  CHECK_EQ(sum, total);
  printf("total %ld\n", total);
  return 0;
}
