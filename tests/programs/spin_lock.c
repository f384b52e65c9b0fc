// pthread spin locks exclude each other's holders, and a held one answers EBUSY to a try.
#include "program.h"

static pthread_spinlock_t lock;
static long total;

static void* tries(void* unused) {
  CHECK_EQ(pthread_spin_trylock(&lock), EBUSY);
  return unused;
}

static void* body(void* unused) {
  for (int i = 0; i < 200; ++i) {
    CHECK_EQ(pthread_spin_lock(&lock), 0);
    ++total;
    CHECK_EQ(pthread_spin_unlock(&lock), 0);
  }
  return unused;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  CHECK_EQ(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE), 0);
  CHECK_EQ(pthread_spin_trylock(&lock), 0);
  run_threads(2, tries);
  CHECK_EQ(pthread_spin_unlock(&lock), 0);
  run_threads(threads, body);
  CHECK_EQ(total, threads * 200L);
  CHECK_EQ(pthread_spin_destroy(&lock), 0);
  printf("total %ld\n", total);
  return 0;
}
