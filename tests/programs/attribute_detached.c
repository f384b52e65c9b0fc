// Threads created detached run to their end although nobody joins them, and say so by a semaphore.
#include "program.h"

static sem_t done;
static int finished[kMaxThreads];

static void* body(void* number) {
  pthread_attr_t mine;
  int state = -1;
  CHECK_EQ(pthread_getattr_np(pthread_self(), &mine), 0);
  CHECK_EQ(pthread_attr_getdetachstate(&mine, &state), 0);
  CHECK_EQ(pthread_attr_destroy(&mine), 0);
  CHECK_EQ(state, PTHREAD_CREATE_DETACHED);
  finished[(long)number] = 1;
  CHECK_EQ(sem_post(&done), 0);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), sum = 0;
  pthread_attr_t attributes;
  CHECK_EQ(sem_init(&done, 0, 0), 0);
  CHECK_EQ(pthread_attr_init(&attributes), 0);
  CHECK_EQ(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED), 0);
  for (int round = 0; round < 10; ++round) {
    pthread_t thread;
    for (long i = 0; i < threads; ++i)
      CHECK_EQ(pthread_create(&thread, &attributes, body, (void*)i), 0);
    for (int i = 0; i < threads; ++i) CHECK_EQ(sem_wait(&done), 0);
    for (int i = 0; i < threads; ++i) sum += finished[i];
    memset(finished, 0, sizeof finished);
  }
  CHECK_EQ(sum, 10 * threads);
  printf("finished %d\n", sum);
  return 0;
}
