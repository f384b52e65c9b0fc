#!/usr/bin/env bash
# Who starts a replay may ignore or block other signals than who started the recording: the program finds what it found then.
# usage: replayed_signals_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"

cat >inherits.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
// Goes another way by each signal that is ignored or blocked, and hands that on to a program.
int main(int count, char** words) {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (int i = 1; i <= SIGRTMAX; i++) {
    struct sigaction now;
    struct timespec time;
    if (i == SIGKILL || i == SIGSTOP || sigaction(i, NULL, &now)) continue;
    if (now.sa_handler == SIG_IGN && printf("ignored %d\n", i)) clock_gettime(CLOCK_REALTIME, &time);
    if (sigismember(&mask, i) && printf("blocked %d\n", i)) getppid(), fflush(stdout);
  }
  fflush(stdout);
  if (count > 1) return 0;
  if (!vfork()) execl(words[0], words[0], "again", NULL), _exit(1);
  int how;
  return wait(&how) > 0 && how;  // there is nothing to wait for where SIGCHLD is ignored
}
C
cat >sets.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
// sets [-N|N]... PROGRAM...: runs it with signal N ignored, or -N blocked.
int main(int count, char** words) {
  sigset_t mask;
  sigemptyset(&mask);
  int i = 1;
  for (; i < count && atoi(words[i]); i++) {
    const int number = atoi(words[i]);
    if (number > 0) signal(number, SIG_IGN);
    else sigaddset(&mask, -number);
  }
  sigprocmask(SIG_SETMASK, &mask, NULL);
  return execvp(words[i], words + i);
}
C
gcc -O1 inherits.c -o inherits && gcc -O1 sets.c -o sets || fail "cannot compile"
for way in '' '1 2 -10' '13 25 -64' '2 3 15 17 -34 -12'; do
  ./sets $way ./inherits >natively
  ends 0 '' ./sets $way "$weir" record --quiet -- ./inherits
  cmp natively stdout || fail "$way: recorded: $(cat stdout)"
  for other in '' '2' '3 13 -15' '20 25 -64 -10'; do
    ends 0 'replayed as recorded' ./sets $other "$weir" replay --verify
    cmp natively stdout || fail "$way: replayed with $other: $(cat stdout)"
  done
done

echo "replayed signals: $failed failures"
[ "$failed" = 0 ]
