// One thread creates threads after writing many pages, which needs a turn, while main, whose number
// is lower, is woken in the same round and takes an ended thread off the C library's lists:
// neither's change is lost.
#include "program.h"

enum { kPages = 80, kPage = 4096, kRounds = 48 };

static char pages[kPages][kPage];
static sem_t go[kRounds];
static pthread_t first[kRounds], second[kRounds];

static void* waits(void* number) {
  CHECK_EQ(sem_wait(&go[(long)number]), 0);
  return NULL;
}

static void* child(void* number) { return number; }

static void* creator(void* unused) {
  for (long round = 0; round < kRounds; ++round) {
    for (int k = 0; k < 4; ++k) sched_yield();  // main waits for the thread by now
    CHECK_EQ(sem_post(&go[round]), 0);
    for (int k = 0; k < round % 6; ++k) sched_yield();
    for (int page = 0; page < kPages; ++page) pages[page][round] = 1;
    CHECK_EQ(pthread_create(&second[round], NULL, child, (void*)round), 0);
  }
  return unused;
}

int main(void) {
  pthread_t id;
  for (long i = 0; i < kRounds; ++i) CHECK_EQ(sem_init(&go[i], 0, 0), 0);
  CHECK_EQ(pthread_create(&id, NULL, creator, NULL), 0);
  for (long i = 0; i < kRounds; ++i) {
    CHECK_EQ(pthread_create(&first[i], NULL, waits, (void*)i), 0);
    CHECK_EQ(pthread_join(first[i], NULL), 0);
  }
  CHECK_EQ(pthread_join(id, NULL), 0);
  CHECK_EQ(setgid(getgid()), 0);  // walks the list of stacks in use
  for (long i = 0; i < kRounds; ++i) {
    void* value;
    CHECK_EQ(pthread_join(second[i], &value), 0);
    CHECK_EQ((long)value, i);
  }
  CHECK_EQ(setgid(getgid()), 0);
  const pid_t forked = fork();
  if (forked == 0) _exit(0);
  CHECK_CHILD(forked);
  pthread_exit(NULL);  // the last one: the count of threads ends the program
}
