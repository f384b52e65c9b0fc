// A thread begins with what its creator has: rounding, name, processors, nice value. Not with what
// a thread that has ended had.
#include <sys/prctl.h>
#include <sys/resource.h>

#include "program.h"

enum { kRounding = 0x6000, kUpward = 0x4000, kRounds = 12, kX87Down = 0x400 };

static int before;  // the nice value that the program was given

static unsigned x87(void) {
  unsigned short control;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  return control;
}

static void* changes_all(void* number) {
  cpu_set_t all, mine;
  char name[16];
  const int tid = (int)syscall(SYS_gettid);
  CHECK_EQ(__builtin_ia32_stmxcsr() & kRounding, 0);
  CHECK_EQ(x87() & 0xc00, 0);
  CHECK_EQ(prctl(PR_GET_NAME, name), 0);
  CHECK(strcmp(name, "creator") == 0);
  CHECK_EQ(pthread_getaffinity_np(pthread_self(), sizeof all, &all), 0);
  CHECK_EQ(CPU_COUNT(&all), *(int*)number);
  CHECK_EQ(getpriority(PRIO_PROCESS, (id_t)tid), before);

  unsigned short down = (unsigned short)(x87() | kX87Down);
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | kUpward);
  __asm__ volatile("fldcw %0" ::"m"(down));
  CHECK_EQ(pthread_setname_np(pthread_self(), "changed"), 0);
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&mine);
  CPU_SET(first, &mine);
  CHECK_EQ(pthread_setaffinity_np(pthread_self(), sizeof mine, &mine), 0);
  CHECK_EQ(setpriority(PRIO_PROCESS, (id_t)tid, before + 5), 0);
  return NULL;
}

static void* changes_rounding(void* unused) {
  CHECK_EQ(__builtin_ia32_stmxcsr() & kRounding, 0);
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | kUpward);
  return unused;
}

static void* inherits(void* unused) {
  CHECK_EQ(__builtin_ia32_stmxcsr() & kRounding, kUpward);
  return unused;
}

int main(void) {
  cpu_set_t all;
  int processors;
  pthread_t thread;
  CHECK_EQ(prctl(PR_SET_NAME, "creator"), 0);
  CHECK_EQ(pthread_getaffinity_np(pthread_self(), sizeof all, &all), 0);
  processors = CPU_COUNT(&all);
  before = getpriority(PRIO_PROCESS, 0);
  for (int round = 0; round < kRounds; ++round) {
    CHECK_EQ(pthread_create(&thread, NULL, round % 2 ? changes_all : changes_rounding, &processors),
             0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | kUpward);
  CHECK_EQ(pthread_create(&thread, NULL, inherits, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  puts("as their creator");
  return 0;
}
