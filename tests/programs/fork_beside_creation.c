// Threads fork while others are being made, end, and are joined or detached: glibc's list of stacks
// is whole in each child, which makes threads itself, forks again, and ends by itself.
// usage: fork_beside_creation [THREADS [ROUNDS]]
#include "program.h"

static int rounds;
static long ended, children;
static pthread_barrier_t all_made;

static void* short_life(void* argument) {
  volatile char stack[3000];
  stack[0] = stack[2999] = 1;
  __atomic_add_fetch(&ended, stack[0], __ATOMIC_SEQ_CST);
  return argument;
}

static void two_threads(void) {
  pthread_t ids[2];
  for (long i = 0; i < 2; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, short_life, (void*)i), 0);
  for (long i = 0; i < 2; ++i) {
    void* value;
    CHECK_EQ(pthread_join(ids[i], &value), 0);
    CHECK_EQ((long)value, i);
  }
}

static void wait_for(pid_t child) {
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 6);
}

static void fork_once(int kind) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(
        15);  // SIGALRM ends a child that does not end by itself, whatever has become of its parent
    if (kind % 2) two_threads();
    if (kind % 4 == 3) {
      const pid_t second = fork();
      if (second == 0) {
        two_threads();
        _exit(6);
      }
      wait_for(second);
    }
    if (kind % 3 == 0) exit(6);
    _exit(6);
  }
  __atomic_add_fetch(&children, 1, __ATOMIC_SEQ_CST);
  wait_for(child);
}

static void* body(void* argument) {
  const long number = (long)argument;
  pthread_attr_t detached, large;
  CHECK_EQ(pthread_attr_init(&detached), 0);
  CHECK_EQ(pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED), 0);
  CHECK_EQ(pthread_attr_init(&large), 0);
  CHECK_EQ(pthread_attr_setstacksize(&large, (size_t)64 << 20),
           0);  // not kept by glibc when it ends
  pthread_barrier_wait(&all_made);
  for (long round = 0; round < rounds; ++round) {
    pthread_t id;
    switch ((number + round) % 4) {
      case 0: two_threads(); break;
      case 1: fork_once((int)(number * 5 + round)); break;
      case 2:
        CHECK_EQ(pthread_create(&id, &large, short_life, NULL), 0);
        if (round % 3 == 0) sched_yield();
        CHECK_EQ(pthread_join(id, NULL), 0);
        break;
      case 3: CHECK_EQ(pthread_create(&id, &detached, short_life, NULL), 0); break;
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  rounds = argument(argc, argv, 2, 12);
  CHECK_EQ(pthread_barrier_init(&all_made, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  printf("%ld children\n", children);
  return 0;
}
