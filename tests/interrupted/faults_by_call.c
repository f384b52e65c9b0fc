// Signals of faults that no fault has sent, from outside: the program's handlers get them.
#include "../programs/program.h"

#include <signal.h>

static const int kNumbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { kCount = sizeof kNumbers / sizeof *kNumbers };
static volatile int got[65];

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)context;
  got[number] = info->si_code == SI_USER && info->si_pid == getppid() ? 1 : 2;
}

static void* body(void* end) {
  char byte;
  CHECK(read(*(int*)end, &byte, 1) == 0);
  return NULL;
}

int main(void) {
  const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  int ends[2], all;
  pthread_t thread;
  CHECK(pipe(ends) == 0);
  for (int i = 0; i < kCount; i++) CHECK(sigaction(kNumbers[i], &action, NULL) == 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, &ends[0]), 0);
  puts("ready");
  fflush(stdout);
  for (int tries = 0; tries < 5000; tries++) {
    all = 1;
    for (int i = 0; i < kCount; i++) all &= got[kNumbers[i]] == 1;
    if (all) break;
    usleep(1000);
  }
  for (int i = 0; i < kCount; i++) CHECK_EQ(got[kNumbers[i]], 1);
  close(ends[1]);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  puts("all signals came");
  return 0;
}
