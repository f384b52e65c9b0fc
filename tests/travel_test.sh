#!/usr/bin/env bash
# Recordings travel: they replay in another folder, for another user, and after the program, its libraries, its loader and what it
# executes have changed or gone.
# usage: travel_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"
export WEIR_CACHE=$work/cache
mkdir cache

# same RECORDING [COMMAND...]: its replay, by COMMAND, ends as recorded and shows what `told` holds.
same() {
  local recording=$1
  shift
  timeout 60 "$@" "$weir" replay --verify "$recording" >"$work/stdout" 2>"$work/stderr" </dev/null
  local status=$?
  [ $status = 0 ] && grep -q 'replayed as recorded' "$work/stderr" && cmp -s "$work/told" "$work/stdout" ||
    fail "replay of $recording${*:+ by $*}: status $status: $(cat "$work/stderr") $(diff "$work/told" "$work/stdout" | head -3)"
}

# record_as NAME COMMAND...: a recording NAME of a program that must succeed, and what it showed in `told`.
record_as() {
  local name=$1
  shift
  timeout 60 "$weir" record --quiet --fingerprint $view_option -o "$name" -- "$@" >"$work/told" 2>"$work/stderr" </dev/null || fail "record $name: $(cat "$work/stderr")"
}

# --- the program, overwritten in place, replaced, and gone; its library, its script
cat >shows.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>
int number(void);
static void* other(void* unused) { return unused; }
int main(int count, char** words) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  pthread_join(thread, 0);
  printf("version %d with library %d: %s (%s), %d arguments, at %p\n", VERSION, number(), words[0], (char*)getauxval(AT_EXECFN), count, (void*)words[0]);
  return 0;
}
C
echo 'int number(void) { return VERSION; }' >library.c
# built VERSION FOLDER: a program and a library of that version.
built() {
  mkdir -p "$2/lib" && gcc -O1 -shared -fPIC -DVERSION="$1" library.c -o "$2/lib/libnumber.so" &&
    gcc -O1 -pthread -DVERSION="$1" shows.c -o "$2/shows" -L"$2/lib" -lnumber || fail "cannot compile"
}
built 1 first
built 2 second
for view in coherent isolated direct; do
  view_option=--view=$view
  for program in ./shows "$work/place/shows" place/../shows shows; do
    rm -rf place recording moved
    cp -r first place
    (cd place && mkdir -p place && LD_LIBRARY_PATH=lib PATH=.:$PATH record_as "$work/recording" "$program" one two)
    same recording
    cat second/shows >place/shows
    same recording
    cat second/lib/libnumber.so >place/lib/libnumber.so
    same recording
    cat first/shows >place/shows
    same recording
    rm place/lib/libnumber.so
    same recording
    rm -rf place
    same recording
    mv recording moved
    (cd / && same "$work/moved") 2>/dev/null
  done
done

echo "travel: $failed failures"
[ "$failed" = 0 ]
