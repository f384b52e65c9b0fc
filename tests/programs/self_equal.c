// pthread_self is what pthread_create stored, differs between live threads, and pthread_equal
// agrees.
#include "program.h"

static pthread_t created[kMaxThreads], told[kMaxThreads];
static pthread_barrier_t barrier;

static void* body(void* number) {
  told[(long)number] = pthread_self();
  pthread_barrier_wait(&barrier);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1), 0);
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&created[i], NULL, body, (void*)i), 0);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < threads; ++i) {
    CHECK(pthread_equal(created[i], told[i]));
    CHECK(!pthread_equal(created[i], pthread_self()));
    for (int j = 0; j < i; ++j) CHECK(!pthread_equal(created[i], created[j]));
  }
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(created[i], NULL), 0);
  printf("%d distinct\n", threads);
  return 0;
}
