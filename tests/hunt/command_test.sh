#!/usr/bin/env bash
# weir hunt: what is said and how it ends, for what it finds and for what it cannot hunt.
# usage: command_test.sh BUILD
set -uo pipefail
ulimit -c 0

planted=$(realpath "$(dirname "$0")/programs")
. "$(dirname "$0")/../recordings.sh"
ends_limit=120
compile() { gcc -O1 -g -Wall -Wextra -pthread -I"$planted" "${@:2}" -o "$1" || fail "compile $1"; }
said() { grep -qF "$1" stderr || fail "not said: $1: $(cat stderr)"; }
unsaid() { ! grep -qF "$1" stderr || fail "said: $1: $(cat stderr)"; }

compile wakes "$planted/signal_before_wait.c"
compile wakes_right -DFIXED "$planted/signal_before_wait.c"
compile order "$planted/use_before_init.c"

# --- found: told, and the command that is printed last fails alike
ends 66 'deadlock of' "$weir" hunt --runs 300 -- ./wakes
said 'failed alike each time'
said 'who waits for whom:'
said 'weir run --order serial --heap guard --schedule'
command=$(grep -A1 'to run it again:' stderr | tail -1)
eval "${command/weir /\"$weir\" }" >again 2>&1
[ $? = 66 ] && grep -q deadlock again || fail "run again: $command: $(cat again)"
schedule=$(sed -n "s/.*--schedule '\\?\\([^ ']*\\)'\\?.*/\\1/p" <<<"$command")
ends 66 'deadlock of' "$weir" hunt --schedule "$schedule" -- ./wakes
ends 0 'does not fail under this schedule' "$weir" hunt --schedule w3:default -- ./wakes
ends 7 'deadlock of' "$weir" hunt --runs 300 --exit-code 7 --shrink-time 0 -- ./wakes

# --- not found
ends 0 'no failure in 30 schedules' "$weir" hunt --runs 30 -- ./wakes_right
ends 0 '' "$weir" hunt --runs 10 --quiet -- ./wakes_right
[ -s stderr ] && fail "--quiet: $(cat stderr)"

# --- reports
for format in json sarif junit html; do
  timeout 120 "$weir" hunt --runs 300 --shrink-time 1 --format $format --output report.$format -- ./order 2>stderr
  [ $? = 66 ] || fail "--format $format: $(cat stderr)"
done
python3 - <<'END' || fail "reports"
import json, xml.etree.ElementTree as xml
failure = json.load(open("report.json"))["hunts"][0]["failures"][0]
assert failure["kind"] == "exit" and failure["alike"] == failure["repeated"] == 3, failure
assert "use_before_init.c" in failure["said"]
result = json.load(open("report.sarif"))["runs"][0]["results"][0]
assert result["ruleId"] == "exit" and result["partialFingerprints"]["signature/v1"]
case = xml.parse("report.junit").getroot()[0][0]
assert case[0].tag == "failure" and "weir run --order serial" in case[0].text
page = open("report.html").read()
assert "<table>" in page and "http" not in page and "the main thread" in page
END

# --- what counts as a failure
cat >fails.c <<'END'
#include <pthread.h>
#include <stdio.h>
static void* nothing(void* unused) { return unused; }
int main(int argc, char** argv) {
  pthread_t thread;
  pthread_create(&thread, NULL, nothing, NULL);
  pthread_join(thread, NULL);
  char word[64] = "";
  if (scanf("%63s", word) == 1) printf("read %s\n", word);
  return argc - 1 + 0 * (argv == 0);
}
END
compile fails fails.c
ends 66 'it is no matter of schedule' "$weir" hunt --runs 30 -- ./fails 1
said 'fails under the default schedule'
ends 0 'no failure' "$weir" hunt --runs 10 --expect-status 1 -- ./fails 1
echo word >input
ends 0 'no failure' "$weir" hunt --runs 10 --stdin input --oracle 'grep -q "read word"' -- ./fails
ends 66 'the oracle says so' "$weir" hunt --runs 10 --oracle 'grep -q "read word"' -- ./fails
cat >order_of_words.c <<'END'
#include <pthread.h>
#include <stdio.h>
static void* say(void* word) { puts(word); return NULL; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, say, "a");
  pthread_create(&b, NULL, say, "b");
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
END
compile words order_of_words.c
ends 66 'other output than most runs have' "$weir" hunt --compare-output --runs 500 --shrink-time 1 -- ./words
ends 0 'no failure' "$weir" hunt --runs 20 -- ./words
said "runs standard output was not the default schedule's: --compare-output takes that"
# Three threads, so that no output is that of most runs.
sed 's/a, b;/a, b, c;/; s/  pthread_join(a, NULL);/  pthread_create(\&c, NULL, say, "c");\n  pthread_join(a, NULL);\n  pthread_join(c, NULL);/' \
  order_of_words.c >order_of_three.c
compile three order_of_three.c
ends 66 'other output than ' "$weir" hunt --compare-output --runs 500 --shrink-time 1 --no-recording -- ./three

# --- known findings, and what was learned
echo '# we know
deadlock:*' >known
ends 0 'no failure' "$weir" hunt --runs 60 --suppressions known -- ./wakes
echo 'crash:x' >wrong
ends 125 "wrong:1: 'crash:x' is not KIND:PATTERN" "$weir" hunt --suppressions wrong -- ./wakes
ends 66 '' "$weir" hunt --runs 300 --shrink-time 1 --corpus learned -- ./wakes
ends 66 'by corpus' "$weir" hunt --jobs 1 --runs 300 --shrink-time 1 --corpus learned -- ./wakes
echo something >learned/hunt
ends 125 'name another folder' "$weir" hunt --corpus learned -- ./wakes

mkdir unwritable
[ "$(id -u)" = 0 ] && as_user=(setpriv --reuid 65534 --clear-groups) || as_user=()
[ "$(id -u)" = 0 ] || chmod 555 unwritable
chmod 755 .
ends 125 'what is learned cannot be kept there' "${as_user[@]}" "$weir" hunt --time 1000 --corpus unwritable -- ./wakes_right
# A folder that goes while the hunt runs: what was found is told all the same.
cat >removes.sh <<'END'
#!/bin/sh
rm -rf gone
exec ./wakes
END
chmod +x removes.sh
ends 66 'what was learned is not kept' "$weir" hunt --runs 300 --shrink-time 1 --no-recording --corpus gone -- ./removes.sh
said 'deadlock of'

# --- standard input is not theirs, and that is said
echo word | timeout 60 "$weir" hunt --runs 10 -- ./wakes_right 2>stderr
said 'names theirs'
timeout 60 "$weir" hunt --runs 10 -- ./wakes_right 2>stderr <input
said 'names theirs'
: | timeout 60 "$weir" hunt --runs 10 -- ./wakes_right 2>stderr
unsaid 'names theirs'

# --- what cannot be hunted
ends 0 'has one thread: nothing to schedule' "$weir" hunt -- true
ends 125 'is no schedule' "$weir" hunt --schedule w3:best -- ./wakes
ends 125 'of version w9' "$weir" hunt --schedule w9:default -- ./wakes
ends 66 'was not followed' "$weir" hunt --schedule w3:list:7.400.3\>9 --expect-status 3 -- ./wakes_right
said 'the first is 7.400.3>9: there was no thread T7'
ends 66 'thread T1 came to' "$weir" hunt --schedule w3:list:1.400.3\>0 --expect-status 3 -- ./wakes_right
ends 0 'switches was not followed' "$weir" run --order serial --schedule w3:list:7.400.3\>9 -- ./wakes_right
ends 0 '' "$weir" run --order serial --schedule w3:random:seed=3 -- ./wakes_right
unsaid 'not followed'

# --- something from outside decides: the call is named
cat >outside.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* turns(void* count) {
  for (long i = 0; i < (long)count; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}
int main(void) {
  unsigned short seed = 0;
  const int file = open("/proc/self/stat", O_RDONLY);
  char text[4096];
  const long size = read(file, text, sizeof text);
  for (long i = 0; i < size; i++) seed = (unsigned short)(seed * 31 + text[i]);
  close(file);
  pthread_t thread;
  pthread_create(&thread, NULL, turns, (void*)(long)(seed % 500));
  pthread_join(thread, NULL);
  return 0;
}
END
compile outside outside.c
ends 0 'run twice, is not the same run' "$weir" hunt --runs 3 --no-fork-server -- ./outside
said 'read() by the main thread gave'
# A timer's signal is a cause, and what the program asks for its own number is none.
cat >timer.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t is_over;
static void over(int signal) { is_over = signal; }
static void* turns(void* unused) {
  while (!is_over) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}
int main(void) {
  if (getpid() == 1) return 1;
  signal(SIGALRM, over);
  pthread_t thread;
  pthread_create(&thread, NULL, turns, NULL);
  const struct itimerval once = {{0, 0}, {0, 30000}};
  setitimer(ITIMER_REAL, &once, NULL);
  pthread_join(thread, NULL);
  return 0;
}
END
compile timer timer.c
ends 0 'run twice, is not the same run' "$weir" hunt --runs 3 -- ./timer
said 'SIGALRM came to '
unsaid 'getpid() by'
unsaid 'libweir.so+'
ends 125 'there is something already' "$weir" hunt --recording . -- ./wakes
ends 125 '--depth goes with --strategy pct' "$weir" hunt --strategy random --depth 3 -- ./wakes
ends 125 '--bound goes with --strategy pb' "$weir" hunt --strategy pct --bound 3 -- ./wakes
ends 127 'not found' "$weir" hunt -- no-such-program-anywhere
ends 125 'lists no tests' "$weir" hunt --gtest -- true
ends 125 'needs a test that ends it' "$weir" hunt --timeout 1 -- sleep 30
ends 125 '--stdin' "$weir" hunt --stdin nothing -- ./wakes

# --- the tests of a binary, each for itself
cat >tests.sh <<'END'
#!/bin/sh
case $* in
  *--gtest_list_tests*) printf 'Queue.\n  Wakes\n  WakesRight  # a comment\n' ;;
  *Queue.WakesRight*) exec ./wakes_right ;;
  *Queue.Wakes*) exec ./wakes ;;
esac
END
chmod +x tests.sh
ends 66 '1 of 2 tests fails under some schedule' "$weir" hunt --gtest --runs 60 --shrink-time 1 -- ./tests.sh
said 'Queue.Wakes: deadlock of'
said 'Queue.WakesRight: no failure'

# --- a signal ends the hunt, and all that runs in it
timeout 60 perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$weir" hunt --runs 100000 -- ./wakes_right 2>stderr </dev/null &
shell=$!
for _ in {1..100}; do
  pid=$(pgrep -P $shell -x weir) && break
  sleep 0.05
done
sleep 1
kill -INT "$pid"
wait $shell
[ $? = 130 ] || fail "SIGINT: status $?: $(cat stderr)"
pgrep -x wakes_right >/dev/null && fail "SIGINT: the program goes on"

echo "weir hunt: $failed failures"
[ "$failed" = 0 ]
