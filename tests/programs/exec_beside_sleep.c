// A thread executes a program while the first thread sleeps in the kernel, in each kind of call
// that does not come back by itself; in forked children, and at last in the program itself.
#include <poll.h>

#include "program.h"

static int ends[2];

static void* replaces(void* name) {
  struct pollfd nothing = {ends[0], POLLIN, 0};
  CHECK_EQ(poll(&nothing, 1, 20), 0);  // the first thread sleeps by now
  execl("/proc/self/exe", (char*)name, "again", (char*)NULL);
  CHECK(!"exec failed");
  return NULL;
}

static void by_pause(void) { pause(); }
static void by_read(void) {
  char byte;
  CHECK_EQ(read(ends[0], &byte, 1), 1);
}
static void by_poll(void) {
  struct pollfd nothing = {ends[0], POLLIN, 0};
  CHECK_EQ(poll(&nothing, 1, -1), 1);
}
static void by_sigwait(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigwaitinfo(&set, NULL);
}
static void by_sleep(void) { sleep_ms(1000000); }

static void (*const kSleeps[])(void) = {by_pause, by_read, by_poll, by_sigwait, by_sleep};

static void sleep_beside(void (*sleeps)(void), char* name) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, replaces, name), 0);
  sleeps();
  CHECK(!"it has come back");
}

int main(int argc, char** argv) {
  if (argc > 1) {
    puts("executed");
    return 12;
  }
  CHECK_EQ(pipe(ends), 0);
  for (size_t i = 0; i < sizeof kSleeps / sizeof *kSleeps; ++i) {
    const pid_t child = fork();
    if (child == 0) sleep_beside(kSleeps[i], argv[0]);
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(WEXITSTATUS(status), 12);
  }
  sleep_beside(by_pause, argv[0]);
}
