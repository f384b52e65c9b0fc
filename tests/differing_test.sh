#!/usr/bin/env bash
# weir replay: another process than the first does something else than is recorded of it.
# usage: differing_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"

cat >differing.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
// differing WHO HOW: one process does what the cycle counter says, which code made at run time
// reads: the recording lacks it.
static unsigned long cycles(void) {
  static const unsigned char code[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3};
  void* made = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) _exit(2);
  memcpy(made, code, sizeof code);
  return ((unsigned long (*)(void))made)();
}
static _Noreturn void differ(const char* how) {
  unsigned long now = cycles() / 16;
  char text[24];
  const int size = snprintf(text, sizeof text, "%16lx\n", now);
  if (!strcmp(how, "writes") && write(2, text, size) != size) _exit(2);
  if (!strcmp(how, "calls") || !strcmp(how, "dies")) for (now %= 4000; now; now--) getppid();
  if (!strcmp(how, "dies")) kill(getpid(), SIGKILL);
  _exit(!strcmp(how, "ends") ? now % 256 : 0);
}
static int is(const char* one, const char* other) { return !strcmp(one, other); }
static void* idle(void* none) { return none; }
int main(int count, char** words) {
  const char *who = words[1], *how = words[2];
  if (count < 3) return 2;
  if (is(who, "first") || is(who, "itself")) differ(how);
  pthread_t thread;
  if (is(who, "threads") && (pthread_create(&thread, 0, idle, 0) || pthread_join(thread, 0))) return 2;
  const pid_t child = fork();
  if (child == 0) {
    if (is(who, "later")) usleep(300000);
    if (is(who, "executed")) execl("/proc/self/exe", words[0], "itself", how, (char*)0);
    if (is(who, "grandchild") || is(who, "orphan")) {
      const pid_t one = fork();
      if (one == 0) {
        if (is(who, "orphan")) usleep(300000);
        differ(how);
      }
      if (is(who, "grandchild")) waitpid(one, 0, 0);
      _exit(0);
    }
    differ(how);
  }
  if (!is(who, "later") && !is(who, "beside")) waitpid(child, 0, 0);
  if (is(who, "beside")) usleep(300000);
  return 0;
}
C
cc -O1 -pthread -o differing differing.c || fail "cannot compile"

# Which process it is.
number() {
  case $1 in
    first) echo 0 ;;
    grandchild | orphan) echo 2 ;;
    *) echo 1 ;;
  esac
}

# differs VIEW WHO HOW: twice, because one time in some thousand both runs do the same by chance.
differs() {
  local try status
  for try in 1 2; do
    rm -rf it
    timeout 30 "$weir" record --quiet --view "$1" -o it -- ./differing "$2" "$3" >/dev/null 2>stderr
    timeout 30 "$weir" replay it >stdout 2>stderr
    status=$?
    if [ $status = 125 ] && grep -q "differs from the recording in process $(number "$2")," stderr && grep -q 'in .*differing' stderr; then
      timeout 30 "$weir" replay --verify it >stdout 2>stderr
      [ $? = 1 ] || fail "--view $1 $2 $3: --verify is content: $(cat stderr)"
      return
    fi
  done
  fail "--view $1, $2 $3: status $status, $(cat stderr)"
}

for who in first child beside later grandchild orphan executed threads; do
  differs coherent $who writes
done
for how in calls ends dies; do
  differs coherent child $how
  differs coherent orphan $how
done
for view in isolated direct; do
  for who in child later executed threads; do differs $view $who writes; done
done

echo "differing: $failed failures"
[ "$failed" = 0 ]
