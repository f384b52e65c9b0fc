// EINTR where a handler has no SA_RESTART, a restart where it has; SIGPIPE is EPIPE if ignored, a
// death if not.
#include "program.h"

static int ends[2];
static volatile int in_read;

static void on_signal(int number) { (void)number; }

static void* reader(void* restarts) {
  char byte = 0;
  in_read = 1;
  ssize_t got = read(ends[0], &byte, 1);
  if (restarts) CHECK(got == 1 && byte == 'r');
  else CHECK(got == -1 && errno == EINTR);
  return NULL;
}

int main(void) {
  pthread_t thread;
  for (long restarts = 0; restarts < 2; ++restarts) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = restarts ? SA_RESTART : 0};
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    in_read = 0;
    CHECK_EQ(pthread_create(&thread, NULL, reader, (void*)restarts), 0);
    while (!in_read) sched_yield();
    sleep_ms(20);
    CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
    if (restarts) {
      sleep_ms(10);
      CHECK_EQ(write(ends[1], "r", 1), 1);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(close(ends[0]), 0);
    CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE);
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      signal(SIGPIPE, SIG_DFL);
      _exit(write(ends[1], "x", 1) == -1 ? 1 : 2);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), SIGPIPE);
    CHECK_EQ(close(ends[1]), 0);
  }
  puts("interrupted and restarted");
  return 0;
}
