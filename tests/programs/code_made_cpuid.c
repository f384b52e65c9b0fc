// Code that the program has made itself asks the processor who it is, while the task goes to and
// fro between processors. The answers are kept where cpuid can be made to fault; elsewhere nobody
// can see it executed there.
#include "code_made.h"
#include "program.h"

enum { kThreads = 2, kLooks = 40 };

// unsigned made(unsigned leaf): ebx of cpuid
static const unsigned char made[] = {0x53, 0x89, 0xf8, 0x31, 0xc9, 0x0f,
                                     0xa2, 0x89, 0xd8, 0x5b, 0xc3};

static unsigned (*ask)(unsigned leaf);
static unsigned g_told[kThreads + 1][kLooks];
static int g_keeps;

static void* asks(void* of) {
  unsigned* told = of;
  cpu_set_t all, one;
  CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  for (int i = 0, processor = 0; i < kLooks; i++) {
    do processor = (processor + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(processor, &all));
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
    const unsigned now = ask(1);
    if (g_keeps) told[i] = now;
  }
  return NULL;
}

int main(void) {
  pthread_t thread[kThreads];
  char line[8192];
  FILE* file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file)) g_keeps |= strstr(line, " cpuid_fault") != NULL;
  if (file) fclose(file);
  *(void**)&ask = make_code(kAtOnce, made, sizeof made);
  asks(g_told[kThreads]);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_create(&thread[i], NULL, asks, g_told[i]), 0);
  asks(g_told[kThreads]);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(thread[i], NULL), 0);
  puts("asked");
  return 0;
}
