#!/usr/bin/env bash
# weir replay: a program that died by itself when it was recorded, and does something else now.
# usage: ending_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"

cat >ending.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
// ending WHO FIRST THEN LIMIT: WHO does FIRST until the cycle counter is at LIMIT, and THEN later.
// Code made at run time reads the counter: the recording lacks it.
static unsigned long cycles(void) {
  static const unsigned char code[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3};
  void* made = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) _exit(2);
  memcpy(made, code, sizeof code);
  return ((unsigned long (*)(void))made)();
}
static volatile int zero;
static volatile char* volatile nowhere;
static int is(const char* one, const char* other) { return !strcmp(one, other); }
static void end(const char* how) {
  if (is(how, "segv")) *nowhere = 1;
  if (is(how, "far")) nowhere[256] = 1;
  if (is(how, "fpe")) zero = 100 / zero;
  if (is(how, "ill")) __asm__ volatile("ud2");
  if (is(how, "trap")) __asm__ volatile("int3");
  if (is(how, "abort")) abort();
  if (is(how, "term")) kill(getpid(), SIGTERM);
  if (is(how, "spins")) for (;;) {}
}
static void* thread(void* how) { return end(how), how; }
int main(int count, char** words) {
  if (count < 2) return printf("%lu\n", cycles()), 0;
  if (count < 5) return 2;
  char *who = words[1], *how = cycles() < strtoul(words[4], 0, 0) ? words[2] : words[3];
  if (is(who, "main")) end(how);
  pthread_t made;
  if (is(who, "thread") && (pthread_create(&made, 0, thread, how) || pthread_join(made, 0))) return 2;
  int status = 0;
  if (is(who, "child")) {
    const pid_t child = fork();
    if (child == 0) return end(how), 0;
    if (waitpid(child, &status, 0) != child) return 2;
  }
  return status ? WTERMSIG(status) : 0;
}
C
cc -O1 -pthread -o ending ending.c || fail "cannot compile"

# status WHO HOW: as a shell has it.
status() {
  local -A signal=([segv]=11 [far]=11 [fpe]=8 [ill]=4 [trap]=5 [abort]=6 [term]=15)
  [ "$1" = child ] && echo "${signal[$2]}" || echo $((128 + ${signal[$2]}))
}

# record_all SECONDS: every case before the counter has gone on for so long, about; returns 1 if
# that was not enough.
record_all() {
  local case view who how other second
  second=$({ ./ending; sleep 1; ./ending; } | { read -r a; read -r b; echo $((b - a)); })
  limit=$(($(./ending) + $1 * second))
  for case in "${cases[@]}"; do
    IFS=/ read -r view who how other <<<"$case"
    rm -rf "${case//\//-}"
    timeout 30 "$weir" record --quiet --view "$view" -o "${case//\//-}" -- ./ending "$who" "$how" "$other" $limit >/dev/null 2>&1
    status=$?
    [ $status = "$(status "$who" "$how")" ] || fail "$case: recorded $status"
  done 2>/dev/null
  [ "$(./ending)" -lt $limit ]
}

cases=(coherent/main/segv/spins coherent/main/segv/far)
for view in coherent isolated direct; do
  for who in main thread child; do cases+=($view/$who/segv/none $view/$who/abort/none); done
done
for how in fpe ill trap term; do cases+=(coherent/main/$how/none); done

seconds=20
until record_all $seconds || [ $seconds -gt 100 ]; do seconds=$((seconds * 2)) failed=0; done
while [ "$(./ending)" -lt "$limit" ]; do sleep 0.2; done
for case in "${cases[@]}"; do
  ends 125 "differs from the recording" "$weir" replay "${case//\//-}"
done

# And where nothing differs it is the same death.
never=18446744073709551615
for view in coherent isolated direct; do
  for who in main thread child; do
    for how in segv abort; do
      timeout 30 "$weir" record --quiet --view $view -o same -- ./ending $who $how none $never >/dev/null 2>&1
      ends "$(status $who $how)" "" "$weir" replay same
      ends 0 "replayed as recorded" "$weir" replay --verify same
      rm -rf same
    done
  done
done 2>/dev/null
{ timeout 30 "$weir" record --quiet -o said -- ./ending main far none $never >/dev/null 2>&1; } 2>/dev/null
"$weir" dump said | grep -q "dies of SIGSEGV at 0x.*, address 0x100" || fail "weir dump does not say it"

echo "ending: $failed failures"
[ "$failed" = 0 ]
