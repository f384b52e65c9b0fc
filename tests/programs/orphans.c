// PR_SET_CHILD_SUBREAPER, set before the threads or by one of them: the children of a child that
// has ended come to the program, which waits for them by any id and by their own.
#include <sys/prctl.h>

#include "program.h"

static int is_set(void) {
  int now = -1;
  CHECK_EQ(prctl(PR_GET_CHILD_SUBREAPER, &now), 0);
  return now;
}

// Leaves one process behind, which ends by this code once the pipe is closed.
static pid_t leave_orphan(int code, int* ends) {
  int told[2], status;
  pid_t orphan = 0;
  CHECK_EQ(pipe(told), 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    orphan = fork();
    if (orphan == 0) {
      char byte;
      close(ends[1]);
      (void)!read(ends[0], &byte, 1);
      _exit(code);
    }
    CHECK_EQ(write(told[1], &orphan, sizeof orphan), sizeof orphan);
    _exit(1);
  }
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(read(told[0], &orphan, sizeof orphan), sizeof orphan);
  close(told[0]);
  close(told[1]);
  return orphan;
}

static void* waits(void* unused) {
  for (int round = 0; round < 2; ++round) {
    int ends[2], status = 0;
    CHECK_EQ(pipe(ends), 0);
    const pid_t orphan = leave_orphan(7 + round, ends);
    CHECK_EQ(waitpid(-1, &status, WNOHANG), 0);
    close(ends[1]);
    CHECK_EQ(waitpid(round ? orphan : -1, &status, 0), orphan);
    CHECK_EQ(WEXITSTATUS(status), 7 + round);
    CHECK_EQ(waitpid(-1, &status, 0), -1);
    CHECK_EQ(errno, ECHILD);
    close(ends[0]);
  }
  return unused;
}

static void* sets(void* value) {
  CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, (long)(intptr_t)value), 0);
  CHECK_EQ(is_set(), (int)(intptr_t)value);
  return NULL;
}

int main(void) {
  sets((void*)1);
  waits(NULL);
  run_threads(1, waits);
  CHECK_EQ(is_set(), 1);
  waits(NULL);
  pthread_t thread;
  for (intptr_t value = 0; value < 2; ++value) {
    CHECK_EQ(pthread_create(&thread, NULL, sets, (void*)value), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(is_set(), (int)value);
  }
  run_threads(1, waits);
  puts("orphans");
  return 0;
}
