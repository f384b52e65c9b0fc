#!/usr/bin/env bash
# weir replay --check: the races of a recorded run are found afterwards; what it says, how it ends, what it refuses, and that it is a replay still.
# usage: replay_check_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"

ends_limit=60

cat >racy.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long kept, counter;
char text[64];
static void* work(void* name) {
  for (int i = 0; i < 50; i++) {
    pthread_mutex_lock(&lock);
    kept++;
    pthread_mutex_unlock(&lock);
    counter++;
  }
  strcpy(text, name);
  return 0;
}
int main(int argc, char** argv) {
  pthread_t one, two;
  pthread_create(&one, 0, work, "one");
  pthread_create(&two, 0, work, "two");
  pthread_join(one, 0);
  pthread_join(two, 0);
  printf("%ld %d\n", kept, argc > 1);
  return argc > 1 ? argv[1][0] - '0' : 0;
}
END
gcc -g -O1 -pthread racy.c -o racy || fail 'no compiler'
sed -e 's/    counter++;//' -e 's/  strcpy(text, name);/  (void)name;/' racy.c >clean.c
gcc -g -O1 -pthread clean.c -o clean

# --- found in the recording, which is replayed as it was
"$weir" record --quiet --fingerprint -o raced -- ./racy >recorded 2>words || fail "record: $(cat words)"
hashes=$(grep fingerprint words)
ends 66 'data race: counter' "$weir" replay --check --fingerprint raced
cmp -s stdout recorded || fail "a checked replay prints $(cat stdout)"
[ "$(grep fingerprint stderr)" = "$hashes" ] || fail "a checked replay has another fingerprint: $(grep fingerprint stderr)"
grep -q 'racy.c:12' stderr || fail "no line: $(cat stderr)"
grep -q 'data race: text\[0\]: write (in a function of the C library) at .*racy.c:14' stderr || fail "no strcpy: $(cat stderr)"
grep -q 'racy.c:10' stderr && fail "what a lock keeps is reported: $(cat stderr)"
grep -q '2 races found' stderr || fail "not two races: $(cat stderr)"
cp stderr first
ends 66 '' "$weir" replay --check --fingerprint raced
cmp -s first stderr || fail "checked twice, two reports: $(diff first stderr)"
# It is read only: what is without --check is as it was.
ends 0 'replayed as recorded (exit 0)' "$weir" replay --verify raced
ends 0 '' "$weir" replay raced
grep -q 'race' stderr && fail "a replay that is not checked reports: $(cat stderr)"
ends 1 '' "$weir" replay --verify --check --exit-code 1 raced
grep -q 'replayed as recorded' stderr || fail "--verify with --check: $(cat stderr)"

# --- the options of weir check
ends 0 '' "$weir" replay --check --exit-code 0 raced
ends 66 '' "$weir" replay --check --format json --output report.json raced
python3 - <<'END' || fail 'the report is not the JSON of weir check'
import json
report = json.load(open('report.json'))
assert report['schema'] == 1 and report['tool'], report
assert len(report['races']) == 2 and all(len(race['sides']) == 2 for race in report['races']), report
END
ends 66 '' "$weir" replay --check --format sarif --output report.sarif raced
grep -q '"2.1.0"' report.sarif || fail 'the report is not SARIF'
printf 'object:counter\nobject:text\n' >known
ends 0 '2 suppressed' "$weir" replay --check --suppressions known raced
echo 'nonsense' >wrong
ends 125 'wrong:1' "$weir" replay --check --suppressions wrong raced
ends 66 '' "$weir" replay --check --log said raced
[ -s stderr ] && fail "with --log there is something on stderr: $(cat stderr)"
grep -q 'data race: counter' said || fail "--log: $(cat said)"

# --- a program that ends otherwise, one without a race, one without threads
ends 3 '' "$weir" record -o ends3 -- ./racy 3
ends 3 'data race: counter' "$weir" replay --check ends3
ends 0 '' "$weir" record -o good -- ./clean
ends 0 'weir: no race found: ' "$weir" replay --check good
[ "$(wc -l <stderr)" = 1 ] || fail "reported, and there is none: $(cat stderr)"
ends 0 '' "$weir" replay --check --quiet good
[ -s stderr ] && fail "--quiet, and it says: $(cat stderr)"
ends 0 '' "$weir" record -o alone -- true
ends 0 'the program has made no thread' "$weir" replay --check alone

# --- the newest recording; recordings of other views; options that do not go together
ends 0 '' "$weir" record -- ./clean
ends 0 '' "$weir" replay --check
for view in direct isolated; do
  ends 0 '' "$weir" record --view $view -o by.$view -- ./clean
  ends 125 "recorded with --view $view" "$weir" replay --check by.$view
done

# --- where the recording's copies of libraries are mapped, as they are other ones now, they are known by their own names
cat >library.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static void* work(void* unused) {
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_destroy(&attributes);
  time_t none = 0;
  struct tm made;
  localtime_r(&none, &made);
  fprintf(stderr, "%d", made.tm_mday);
  return unused;
}
int main(void) {
  for (int i = 0; i < 10; i++) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_detach(one);
    pthread_join(two, 0);
  }
  return 0;
}
END
gcc -g -O1 -pthread library.c -o library
ends 0 '' "$weir" record -o upgraded -- ./library
echo >>library
ends 0 'no race found' "$weir" replay --check upgraded

ends 125 '' "$weir" replay --check --goto 5 raced
ends 125 '' "$weir" replay --check --gdb raced
ends 125 '' "$weir" replay --format json raced
ends 125 'there is no recording' env WEIR_RECORDINGS="$PWD/none" "$weir" replay --check

[ $failed = 0 ] && echo "all as it should be"
exit $((failed > 0))
