// Children that compute for ever are ended by a signal: two whose ends are waited for, one that is
// left alone.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

static volatile unsigned long count;

static pid_t child(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    for (;;) count++;
  }
  CHECK(pid > 0);
  usleep(20000);
  return pid;
}

int main(void) {
  static const int kSignals[] = {SIGKILL, SIGTERM};
  for (unsigned i = 0; i < 2; ++i) {
    const pid_t pid = child();
    CHECK_EQ(kill(pid, kSignals[i]), 0);
    int status = 0;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), kSignals[i]);
  }
  CHECK_EQ(kill(child(), SIGKILL), 0);
  puts("ended by signals");
  return 0;
}
