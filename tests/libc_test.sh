#!/usr/bin/env bash
# Which C libraries Weir runs with: one that is too old is refused by name, in one line; one that is newer than all it knows runs if its
# layouts are found. A program can say what it likes of its C library's version: it defines the function that tells it.
# usage: libc_test.sh BUILD
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"

cat >program.c <<'END'
#include <pthread.h>
#include <stdio.h>
const char* gnu_get_libc_version(void) { return VERSION; }
static void* body(void* unused) { return unused; }
int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, NULL) || pthread_join(thread, NULL)) return 1;
  puts("joined");
  return 0;
}
END

for version in 2.30 1.2.5 ''; do
  gcc -rdynamic -DVERSION="\"$version\"" -o program program.c -pthread || fail "cannot compile"
  for command in det "run --order free --view coherent" "record --view direct"; do
    ends 125 "C library is glibc $version, and Weir does not know its threads" "$weir" $command -- ./program
    [ "$(grep -vE '^weir: (recorded in|.* was not recorded)' stderr | grep -c '^weir:')" = 1 ] || fail "more than one line: $(cat stderr)"
    [ -s stdout ] && fail "the program ran on: $(cat stdout)"
  done
done
for version in 2.31 2.33 2.34 2.36 2.41 2.99; do
  # What glibc 2.41 has one place for is looked for in those that say they are as new.
  if [ "${version#2.}" -ge 41 ] && [ "$(getconf GNU_LIBC_VERSION | sed 's/.*2\.//')" -lt 41 ]; then
    gcc -rdynamic -DVERSION="\"$version\"" -o program program.c -pthread || fail "cannot compile"
    ends 125 "C library is glibc $version, and Weir does not know its cancellation of threads" "$weir" det -- ./program
    continue
  fi
  gcc -rdynamic -DVERSION="\"$version\"" -o program program.c -pthread || fail "cannot compile"
  ends 0 '' "$weir" det -- ./program
  [ "$(cat stdout)" = joined ] || fail "glibc $version: $(cat stdout stderr)"
done

[ "$failed" = 0 ] && echo passed
exit "$((failed != 0))"
