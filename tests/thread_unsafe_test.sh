#!/usr/bin/env bash
# `weir check` of calls that share what the C library keeps for all threads (as hazards_test.sh).
# usage: thread_unsafe_test.sh BUILD [RUNS]
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"
. "$here/hazards/programs.sh"

# --- functions that keep something for all threads
unsafe="thread-unsafe call"
pair "$unsafe" broken_down_time <<'C'
#include "thread_unsafe.h"
static void* local(void* p) {
  const time_t now = 1e9;
  return get(), printf("%d\n", localtime(&now)->tm_year), put(), p;
}
static void* universal(void* p) {
  const time_t then = 0;
  return get(), printf("%d\n", gmtime(&then)->tm_year), put(), p;
}
int main(void) { return both(local, universal); }
C
pair "$unsafe" time_text <<'C'
#include "thread_unsafe.h"
static void* a(void* p) {
  const struct tm day = {.tm_mday = 1, .tm_year = 70};
  return get(), fputs(asctime(&day), stdout), put(), p;
}
static void* c(void* p) {
  const time_t now = 1e9;
  return get(), fputs(ctime(&now), stdout), put(), p;
}
int main(void) { return both(a, c); }
C
pair "$unsafe" random_numbers <<'C'
#include "thread_unsafe.h"
static void* number(void* p) {
  get();
  const double fraction = drand48();
  put();
  if (fraction < 0 || fraction >= 1) abort();
  return p;
}
static void* whole_number(void* p) {
  get();
  const long whole = lrand48();
  put();
  if (whole < 0) abort();
  return p;
}
int main(void) { return srand48(1), both(number, whole_number); }
C
pair "$unsafe" users <<'C'
#include "thread_unsafe.h"
static void* user(void* p) {
  get();
  const struct passwd* entry = getpwuid(0);
  if (!entry || strcmp(entry->pw_name, "root")) abort();
  return put(), p;
}
int main(void) { return both(user, user); }
C
pair "$unsafe" tokens <<'C'
#include "thread_unsafe.h"
static void* split(void* p) {
  char text[] = "a b";
  get();
  strtok(text, " "), strtok(NULL, " ");
  return put(), p;
}
int main(void) { return both(split, split); }
C
if [ "$(getconf GNU_LIBC_VERSION | sed 's/.*\.//')" -lt 41 ]; then # from there on getenv is safe beside setenv
  pair "$unsafe" environment <<'C'
#include "thread_unsafe.h"
static void* set(void* p) { return get(), setenv("FIRST", "1", 1), put(), p; }
static void* ask(void* p) {
  get();
  const char* value = getenv("SECOND");
  put();
  if (value) abort();
  return p;
}
int main(void) { return both(set, ask); }
C
fi
pair "$unsafe" locale <<'C'
#include <locale.h>
#include "thread_unsafe.h"
static void* set(void* p) { return get(), setlocale(LC_NUMERIC, "C.UTF-8"), put(), p; }
static void* ask(void* p) {
  get();
  const char point = localeconv()->decimal_point[0];
  put();
  if (!point) abort();
  return p;
}
int main(void) { return both(set, ask); }
C
# What the library locks itself, and what only asks.
program asked_only <<'C'
#define WRONG 1
#include <locale.h>
#include "thread_unsafe.h"
static void* ask(void* p) {
  if (getenv("SECOND") || !localeconv() || !setlocale(LC_ALL, NULL)) abort();
  return p;
}
static void* set(void* p) { return setenv("FIRST", "1", 1), unsetenv("FIRST"), p; }
int main(void) { return both(ask, ask) + both(set, set); }
C
clean asked_only
# Calls that come one after the other, those with places of their own, those at the end, and those of one thread.
program in_turn <<'C'
#define WRONG 1
#include "thread_unsafe.h"
static void* number(void* p) { return lrand48(), p; }
static void* own_places(void* p) {
  const time_t now = 1e9;
  struct tm day;
  unsigned short state[3] = {1, 2, 3};
  char text[] = "a b", *rest;
  return localtime_r(&now, &day), nrand48(state), strtok_r(text, " ", &rest), p;
}
static void at_end(void) { mrand48(); }
static void* late(void* p) {
  pthread_t thread;
  lrand48();
  pthread_create(&thread, NULL, number, NULL);
  return pthread_join(thread, NULL), lrand48(), p;
}
int main(void) {
  pthread_t thread;
  atexit(at_end);
  lrand48();
  pthread_create(&thread, NULL, late, NULL);
  pthread_join(thread, NULL);
  return lrand48(), both(own_places, own_places);
}
C
clean in_turn
clean random_numbers.wrong --hazards lock-order
echo 'unsafe:^number$' >known
clean random_numbers.wrong --suppressions known
timeout 60 "$weir" check --format json -- ./random_numbers.wrong >out 2>err
grep -q '"rule": "thread-unsafe-call"' err || fail "JSON: $(cat err)"

# In a recording, which must replay alike: the words of the report, and nothing of the right programs.
replayed() {
  local name=$1 status=$2 words=$3 got
  rm -rf recorded
  timeout 60 "$weir" record --quiet -o recorded -- ./"$name" >out 2>err </dev/null || fail "$name, recorded: $(cat err)"
  timeout 100 "$weir" replay --check recorded >out 2>err </dev/null
  got=$?
  [ $got = "$status" ] || fail "$name, replayed: status $got: $(cat err)"
  [ "$(grep -c "^weir: $unsafe: " err)" = "$words" ] || fail "$name, replayed: not $words '$unsafe' in: $(cat err)"
}
for wrong in *.wrong; do
  replayed "$wrong" 66 1
  replayed "${wrong%.wrong}.right" 0 0
done
replayed asked_only 0 0
replayed in_turn 0 0
timeout 100 "$weir" check --deep --suppressions known -- ./random_numbers.wrong >out 2>err </dev/null || fail "--deep, known: $(cat err)"
timeout 100 "$weir" check --deep -- ./random_numbers.wrong >out 2>err </dev/null
[ $? = 66 ] && grep -q "^weir: $unsafe: call of lrand48 at .*, call of drand48 at\|^weir: $unsafe: call of drand48 at .*, call of lrand48 at" err ||
  fail "--deep: $(cat err)"

exit $((failed != 0))
