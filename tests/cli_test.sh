#!/usr/bin/env bash
# What the weir command says and how it ends where it cannot do what was asked.
# usage: cli_test.sh BUILD
set -uo pipefail

weir=$1/bin/weir
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# refuses STATUS TEXT COMMAND...: the command ends with STATUS, prints nothing to stdout, and stderr begins with "weir:" and
# contains TEXT.
refuses() {
  local want=$1 text=$2 status output
  shift 2
  output=$(timeout 10 "$@" 2>&1 >stdout </dev/null)
  status=$?
  if [ "$status" = "$want" ] && [ ! -s stdout ] && [[ $output == weir:*"$text"* ]]; then return; fi
  failed=$((failed + 1))
  echo "FAILED: $*"
  echo "  wanted status $want and '$text', got status $status and: $output"
}

# prints TEXT COMMAND...: the command ends with 0 and its stdout contains TEXT.
prints() {
  local text=$1 output
  shift
  if output=$(timeout 10 "$@" 2>stderr </dev/null) && [[ $output == *"$text"* ]]; then return; fi
  failed=$((failed + 1))
  echo "FAILED: $*"
  echo "  wanted '$text', got: $output $(cat stderr)"
}

cp /bin/true program
cp program unreadable && chmod 0644 unreadable
cp program setuid && chmod u+s setuid
cp program setgid && chmod g+s setgid
head -c 300 /bin/true >cut && chmod +x cut
head -c 10 /bin/true >stump && chmod +x stump
printf '\x00\x01\x02binary' >noise && chmod +x noise
printf '#!%s/missing\n' "$work" >orphan && chmod +x orphan
printf '#!%s/setuid\n' "$work" >indirect && chmod +x indirect
printf '#!\n' >nameless && chmod +x nameless
printf '#!%s/loop\n' "$work" >loop && chmod +x loop
printf 'echo plain $1\n' >plain && chmod +x plain
printf '#!/bin/sh\necho script $1\n' >script && chmod +x script
# The bytes of an ELF header: 4 is the class, 5 the byte order, 16 the type, 18 the machine.
patched() { cp program "$1"; printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
patched arm 18 '\xb7'
patched riscv 18 '\xf3'
patched i386 18 '\x03'
patched class32 4 '\x01'
patched big_endian 5 '\x02'
patched object 16 '\x01'
patched phentsize 54 '\x01'
printf 'int main(void) { return 0; }\n' >static.c && gcc -static static.c -o static

refuses 125 'subcommand is required' "$weir"
refuses 125 "unknown subcommand 'bogus'" "$weir" bogus
refuses 125 '--bogus' "$weir" --bogus det -- program
refuses 125 '--bogus' "$weir" det --bogus -- ./program
refuses 125 'PROGRAM is required' "$weir" det
refuses 125 'PROGRAM is required' "$weir" det --
refuses 125 '--order' "$weir" run --order sideways -- ./program
refuses 125 '--view' "$weir" run --view=sideways -- ./program
refuses 125 '--view coherent' "$weir" run --order token --view coherent -- true
refuses 125 '--order' "$weir" run --order
refuses 125 '--delay' "$weir" det --delay soon -- ./program
refuses 125 'not expected' "$weir" doctor now
refuses 125 '--log' "$weir" det --log /nonexistent/file -- ./program
refuses 127 'not found' "$weir" det -- no-such-program-anywhere
refuses 127 'not found' "$weir" det -- ''
refuses 127 'No such file' "$weir" det -- ./missing
refuses 126 'Not a directory' "$weir" det -- ./program/below
refuses 126 'is a directory' "$weir" det -- /tmp
refuses 126 'not a regular file' "$weir" det -- /dev/null
refuses 126 'not executable' "$weir" det -- ./unreadable
refuses 126 'not executable' env PATH="$work" "$weir" det -- unreadable
refuses 126 'set-uid' "$weir" det -- ./setuid
refuses 126 'set-gid' "$weir" det -- ./setgid
refuses 126 'damaged' "$weir" det -- ./cut
refuses 126 'damaged' "$weir" det -- ./stump
refuses 126 'damaged' "$weir" det -- ./phentsize
refuses 126 'neither' "$weir" det -- ./noise
refuses 126 'orphan is run by' "$weir" det -- ./orphan
refuses 126 'set-uid' "$weir" det -- ./indirect
refuses 126 'names no interpreter' "$weir" det -- ./nameless
refuses 126 'too many' "$weir" det -- ./loop
refuses 126 '64-bit ARM' "$weir" det -- ./arm
refuses 126 'RISC-V' "$weir" det -- ./riscv
refuses 126 '32-bit' "$weir" det -- ./i386
refuses 126 '32-bit' "$weir" det -- ./class32
refuses 126 'another processor' "$weir" det -- ./big_endian
refuses 126 'not a program' "$weir" det -- ./object
refuses 126 'nothing is counted' "$weir" run --stat -- ./static
refuses 126 'a shared library' "$weir" det -- "$1/lib/libweir.so"
# weir check: what is wrong is said before the program starts (a program that ran would print).
refuses 125 'PROGRAM is required' "$weir" check
refuses 125 '--format' "$weir" check --format=yaml -- echo ran
refuses 125 '--exit-code' "$weir" check --exit-code=256 -- echo ran
refuses 125 '--exit-code' "$weir" check --exit-code=many -- echo ran
refuses 125 '--enforcer' "$weir" check --enforcer=none -- echo ran
refuses 125 '--policies' "$weir" check --policies=all -- echo ran
refuses 125 '--rehash' "$weir" check --rehash=often -- echo ran
refuses 125 '--policies=inferred needs --enforcer=process' "$weir" check --enforcer=mpk --policies=inferred -- echo ran
if "$weir" doctor | grep -q '^absent *protection keys'; then  # else tests/mpk sees to it
  refuses 125 'has no protection keys' "$weir" check --enforcer=mpk -- echo ran
fi
refuses 125 'exclude each other' "$weir" check --halt --keep-going -- echo ran
refuses 125 '--suppressions nowhere: No such file' "$weir" check --suppressions nowhere -- echo ran
refuses 125 '--suppressions .: Is a directory' "$weir" check --suppressions . -- echo ran
printf '# all is well\nrace:here\n' >good.supp
printf '# one\n\nrace:here\nraces:there\n' >bad.supp
refuses 125 "bad.supp:4: there is no type 'races'" "$weir" check --suppressions good.supp --suppressions=bad.supp -- echo ran
refuses 125 '--output /nonexistent/file: No such file' "$weir" check --output /nonexistent/file -- echo ran
refuses 125 '--log' "$weir" check --log /nonexistent/file -- echo ran
refuses 127 'not found' "$weir" check --suppressions good.supp -- no-such-program-anywhere
refuses 125 '--view' "$weir" run --view=guarded -- echo ran
PATH=$PATH:/usr/sbin:/sbin
command -v setcap >/dev/null || { echo "FAILED: setcap is missing: tools/setup test"; failed=$((failed + 1)); }
if cp program capable && setcap cap_net_raw+ep capable 2>/dev/null; then  # it takes root
  refuses 126 'capabilities' "$weir" det -- ./capable
fi

# An installation that lost its library, and one in a folder whose name the loader cannot be given.
mkdir -p lost/bin 'a b/bin' 'a b/lib'
cp "$weir" lost/bin && cp "$weir" 'a b/bin' && cp "$1/lib/libweir.so" 'a b/lib'
refuses 125 'lib/libweir.so' lost/bin/weir det -- ./program
refuses 125 'space' 'a b/bin/weir' det -- ./program

prints 'weir ' "$weir" --version
prints 'Subcommands' "$weir" --help
prints '-- PROGRAM' "$weir" det --help
prints '--suppressions FILE' "$weir" check --help
prints 'plain word' "$weir" run -- ./plain word
prints 'script word' "$weir" run ./script word
prints '-l' "$weir" run -- echo -l
prints '--order' "$weir" run echo --order
prints 'found it' env PATH="$work/nowhere:/bin:/usr/bin" "$weir" run -- echo found it
prints 'none' "$weir" det -- sh -c '[ -z "${LD_BIND_NOW+set}" ] && echo none'
prints '1' env LD_BIND_NOW=1 "$weir" det -- sh -c 'echo $LD_BIND_NOW'
prints 'libweir.so:' env LD_PRELOAD=libm.so.6 "$weir" run -- sh -c 'echo $LD_PRELOAD'
"$weir" doctor >doctor.txt || { echo "FAILED: weir doctor"; failed=$((failed + 1)); }
grep -q PAGEMAP_SCAN doctor.txt || { echo "FAILED: weir doctor does not name PAGEMAP_SCAN"; failed=$((failed + 1)); }

# weir stat: a line for each task, what it did in the parallel phases, how long it waited and held the turn, and the sum.
cat >threads.c <<'END'
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sum;
static void* add(void* unused) {
  for (int i = 0; i < 100; i++) pthread_mutex_lock(&mutex), sum++, pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  return sum != 300;
}
END
gcc -pthread threads.c -o threads
for view in isolated direct; do
  if ! "$weir" stat --view $view --log stat.txt -- ./threads || ! awk '
      /task +events/ { for (i = 2; i <= NF; i++) if ($i == "events") column = i; counts = 1 }
      /task +/ && !/events/ { counts = 0 }
      /ms +program/ { times = 1 }
      times || !counts { next }
      $2 ~ /^[0-9]+$/ { if ($2 != rows++) exit 1; sum += $column }
      $2 == "all" { good = rows == 4 && sum == $column }
      END { exit !(good && times) }' stat.txt; then
    echo "FAILED: weir stat --view $view"; cat stat.txt; failed=$((failed + 1))
  fi
done

# --stat-json: the same as a file, which only the program itself writes, and a child with threads beside it.
refuses 125 '--stat-json' "$weir" det --stat-json
refuses 125 'No such file' "$weir" det --stat-json /nonexistent/file -- ./program
refuses 125 'not a regular file' "$weir" det --stat-json /dev/null -- ./program
refuses 125 'not a regular file' "$weir" det --stat-json . -- ./program
refuses 125 'too long' "$weir" det --stat-json "$(printf 'd%.0s/' {1..300})" -- ./program
refuses 125 'nothing is counted' "$weir" run --stat-json run.json -- ./program
cat >counts.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* add(void* sum) {
  for (int i = 0; i < 20; i++) pthread_mutex_lock(&mutex), (*(int*)sum)++, pthread_mutex_unlock(&mutex);
  return 0;
}
static void threads(int count) {
  int sum = 0;
  pthread_t made[80];
  for (int i = 0; i < count; i++) pthread_create(&made[i], 0, add, &sum);
  for (int i = 0; i < count; i++) pthread_join(made[i], 0);
  if (sum != 20 * count) _exit(99);
}
static int child(int count) {
  int status, pid = fork();
  if (pid == 0) {
    if (count) threads(count);
    count ? exit(5) : _exit(5);
  }
  return waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5;
}
int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "children")) return !child(0) || (threads(2), !child(0)) || !child(3) ? 98 : 9;
  if (argc > 1 && !strcmp(argv[1], "killed")) threads(2), raise(SIGKILL);
  threads(70);
  if (argc > 1 && !strcmp(argv[1], "unwritable")) system("rm -r gone");
  _exit(7);
}
END
gcc -pthread counts.c -o counts
cat >sums.py <<'END'
import json, sys
counts = json.load(open(sys.argv[1]))
made, program, order, view = int(sys.argv[2]), *sys.argv[3:]
total, tasks = counts["total"], counts["tasks"]
assert counts["program"].endswith(program) and (counts["order"], counts["view"]) == (order, view), counts["program"]
assert counts["threads_made"] == made, counts["threads_made"]
assert len({tuple(t) for t in tasks}) == 1, "tasks differ in their keys"
for key, value in total.items():
    assert abs(sum(t[key] for t in tasks) - value) <= 1e-8 * len(tasks), key
    assert not key.endswith("_seconds") or 0 <= value <= (made + 1) * counts["wall_seconds"] + 0.1, (key, value)
assert not made or total["events"] > made
assert made == 0 or 0 < counts["serial_share"] <= 1
phases = "program section scanning waiting publishing turn resuming blocked outside".split()
assert sum(total[p + "_seconds"] for p in phases) <= (made + 1) * (counts["threads_seconds"] + 0.01)
if view == "isolated" and made:
    assert 0 < total["transactions"] <= 3 * total["events"] and counts["dirtied_pages"] >= total["foretold"]
    assert total["foretold"] <= total["in_advance"] and 0 <= counts["hit_rate"] <= 1 and 0 <= counts["accuracy"] <= 1
    floor = sum(counts[f"floor_{part}_seconds"] for part in ("side_by_side", "code_in_turn", "events"))
    assert 0 < counts["own_code_seconds"] and abs(floor - counts["floor_seconds"]) < 1e-6
    assert counts["floor_code_in_turn_beside_seconds"] <= counts["floor_code_in_turn_seconds"]
    assert counts["floor_without_kept_turns_seconds"] <= counts["floor_seconds"] + 1e-6
    assert 0 < counts["floor_by_waits_seconds"] <= counts["floor_in_turns_seconds"] + 1e-6
    assert abs(counts["transaction_seconds"] * total["transactions"] - total["program_seconds"] - total["section_seconds"]) < 1e-5
END
# counted NAME STATUS FILES COMMAND...: the command ends with STATUS and leaves FILES files that begin with run.json.
counted() {
  local name=$1 want=$2 files=$3 status
  shift 3
  rm -f run.json*
  timeout 60 "$@" >stdout 2>stderr </dev/null
  status=$?
  if [ $status = "$want" ] && [ "$(ls | grep -c '^run.json')" = "$files" ] && [ ! -s stderr ]; then return; fi
  failed=$((failed + 1))
  echo "FAILED: --stat-json: $name: status $status, files: $(echo run.json*) $(cat stderr)"
}
# sums FILE MADE PROGRAM ORDER VIEW: FILE is JSON of such a run, and the sums are the sums of its rows.
sums() {
  if python3 -m json.tool "$1" >/dev/null && python3 sums.py "$@"; then return; fi
  failed=$((failed + 1))
  echo "FAILED: --stat-json: what $1 says ($*)"
}
for point in 'token isolated' 'token direct' 'free isolated'; do
  set -- $1 $point
  at=("$weir" run --order "$2" --view "$3" --stat-json run.json --)
  echo 'of an earlier run' >run.json
  counted "$point" 7 1 "${at[@]}" ./counts
  sums run.json 70 /counts "$2" "$3"
  counted "$point, children" 9 2 "${at[@]}" ./counts children
  sums run.json 2 /counts "$2" "$3"
  sums "$(ls run.json.*)" 3 /counts "$2" "$3"
  counted "$point, killed" 137 1 "${at[@]}" ./counts killed
  [ -e run.json ] && { echo "FAILED: --stat-json: a killed program wrote the file"; failed=$((failed + 1)); }
  counted "$point, exec" 7 1 "${at[@]}" sh -c ': ; exec ./counts'
  sums run.json 70 /counts "$2" "$3"
  counted "$point, no thread" 0 1 "${at[@]}" ./program
  sums run.json 0 /program "$2" "$3"
  # The file cannot be written any more: a message, and the program's own status.
  mkdir gone
  timeout 60 "$weir" run --order "$2" --view "$3" --stat-json gone/run.json -- ./counts unwritable >stdout 2>stderr
  status=$?
  if [ $status != 7 ] || ! grep -q '^weir: cannot write .*gone/run.json' stderr; then
    echo "FAILED: --stat-json: $point: status $status where the file cannot be written, and: $(cat stderr)"
    failed=$((failed + 1))
  fi
done
mkdir -p $'odd "\n\\\xff,%'
cp counts $'odd "\n\\\xff,%/counts'
counted 'odd names' 7 0 "$weir" det --stat-json $'odd "\n\\\xff,%/run,%2c.json' -- $'odd "\n\\\xff,%/counts'
sums $'odd "\n\\\xff,%/run,%2c.json' 70 /counts token isolated
"$weir" det --log 'log,%2c' --stat -- ./threads
[ -s 'log,%2c' ] || { echo "FAILED: --log with a comma and a percent sign in its name"; failed=$((failed + 1)); }

# The 16 random bytes are the same on every run of an order that promises it, where ptrace is allowed.
cat >random.c <<'END'
#include <stdio.h>
#include <sys/auxv.h>
int main(void) {
  unsigned long* bytes = (unsigned long*)getauxval(AT_RANDOM);
  printf("%lx %lx\n", bytes[0], bytes[1]);
}
END
if grep -q '^ok *ptrace' doctor.txt; then
  gcc random.c -o random
  if [ "$("$weir" run --order token -- ./random)" != "$("$weir" run --order token -- ./random)" ]; then
    echo "FAILED: AT_RANDOM differs between two runs at order token"
    failed=$((failed + 1))
  fi
fi

# Plans of patches are kept in a folder that is this user's alone; a run goes its way with and without, and is the same with a
# plan that it makes and with one that it reads.
mkdir cache open_cache && chmod 0777 open_cache && touch no_folder
for cache in "$work/cache" "$work/cache" off "$work/open_cache" "$work/no_folder" /nonexistent/none relative; do
  WEIR_CACHE=$cache timeout 10 "$weir" det --fingerprint -- ./threads >>"fingerprints.${cache##*/}" 2>&1 ||
    { echo "FAILED: WEIR_CACHE=$cache"; failed=$((failed + 1)); }
done
if [ "$(sort -u fingerprints.cache | grep -c fingerprint)" != 1 ]; then
  echo "FAILED: a kept plan changes the run"
  failed=$((failed + 1))
fi
[ -n "$(ls cache)" ] && [ -z "$(ls open_cache)" ] && [ ! -e relative ] || { echo "FAILED: WEIR_CACHE: $(ls cache open_cache)"; failed=$((failed + 1)); }

echo "weir command: $failed failures"
[ "$failed" = 0 ]
