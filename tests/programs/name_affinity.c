// Threads keep the names they are given, by themselves and by others, by pthread calls and prctl
// alike, and affinity calls work on each of them.
#include <sys/prctl.h>
#include "program.h"

static pthread_barrier_t barrier;

static void* body(void* number) {
  char name[16], want[16];
  cpu_set_t all, one;
  snprintf(want, sizeof want, "worker-%ld", (long)number);
  CHECK_EQ(pthread_setname_np(pthread_self(), want), 0);
  CHECK_EQ(prctl(PR_GET_NAME, name), 0);
  CHECK(strcmp(name, want) == 0);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  CHECK_EQ(pthread_getaffinity_np(pthread_self(), sizeof all, &all), 0);
  CHECK(CPU_COUNT(&all) >= 1);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK_EQ(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
  CHECK_EQ(sched_getaffinity(0, sizeof one, &one), 0);
  CHECK_EQ(CPU_COUNT(&one), 1);
  CPU_ZERO(&one);
  CHECK_EQ(pthread_setaffinity_np(pthread_self(), sizeof one, &one), EINVAL);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  pthread_t ids[kMaxThreads];
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1), 0);
  CHECK_EQ(pthread_setname_np(pthread_self(), "a-name-that-is-too-long"), ERANGE);
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, body, (void*)i), 0);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < threads; ++i) {
    char name[16], want[16];
    snprintf(want, sizeof want, "worker-%d", i);
    CHECK_EQ(pthread_getname_np(ids[i], name, sizeof name), 0);
    CHECK(strcmp(name, want) == 0);
    CHECK_EQ(pthread_setname_np(ids[i], "set-from-outside"), ERANGE);
    CHECK_EQ(pthread_setname_np(ids[i], "set-by-main"), 0);
    CHECK_EQ(pthread_getname_np(ids[i], name, sizeof name), 0);
    CHECK(strcmp(name, "set-by-main") == 0);
  }
  // The process has the name of its first thread.
  char line[32] = "";
  CHECK_EQ(prctl(PR_SET_NAME, "first"), 0);
  FILE* const file = fopen("/proc/self/comm", "r");
  CHECK(file && fgets(line, sizeof line, file));
  CHECK_EQ(fclose(file), 0);
  CHECK(strcmp(line, "first\n") == 0);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  puts("named and placed");
  return 0;
}
