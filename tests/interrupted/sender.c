// Sends a signal to the first task of a session and to its newest process, again and again: also to
// one that has just been made. It does so as fast as it can for a millisecond, then pauses: where a
// signal costs a virtual machine 20 us, a task that never has a pause never goes on. The process
// that leads the session is left out, and so many others after it. usage: sender SESSION SIGNAL
// LEFT_OUT
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  kAhead = 10,  // process ids that others may have taken meanwhile
  kLost = 100,  // looks without a process
  kBurstNs = 1000000,
  kPauseUs = 2000
};

static long sent;

static void send_to(pid_t pid, int signal) { sent += syscall(SYS_tkill, pid, signal) == 0; }

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// The process that the machine has made last.
static pid_t latest(void) {
  int pid = 0;
  FILE* const file = fopen("/proc/loadavg", "r");
  if (!file || fscanf(file, "%*s %*s %*s %*s %d", &pid) != 1) exit(1);
  fclose(file);
  return pid;
}

int main(int count, char** words) {
  if (count != 4) return 2;
  const pid_t session = atoi(words[1]);
  const int signal = atoi(words[2]), left_out = atoi(words[3]);
  pid_t first = 0, newest = 0;
  for (int seen = 0; seen < left_out + 2;) {
    if (kill(session, 0) != 0) return 1;
    seen = 0;
    for (pid_t pid = session + 1; pid <= latest() && seen < left_out + 2; pid++) {
      if (getsid(pid) == session && ++seen > left_out)
        *(seen == left_out + 1 ? &first : &newest) = pid;
    }
  }
  long long begun = now_ns();
  for (int vain = 0; kill(session, 0) == 0; vain++) {
    if (now_ns() - begun > kBurstNs) {
      usleep(kPauseUs);
      begun = now_ns();
    }
    send_to(first, signal);
    for (pid_t pid = newest; pid < newest + kAhead; pid++) {
      if (pid <= first || getsid(pid) != session) continue;
      newest = pid;
      vain = 0;
      send_to(pid, signal);
    }
    if (vain > kLost) newest = latest();
  }
  printf("%ld\n", sent);
  return 0;
}
