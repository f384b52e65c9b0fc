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
refuses 126 'statically linked' "$weir" det -- ./static
if command -v setcap >/dev/null && cp program capable && setcap cap_net_raw+ep capable 2>/dev/null; then
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
prints 'plain word' "$weir" run -- ./plain word
prints 'script word' "$weir" run ./script word
prints '-l' "$weir" run -- echo -l
prints '--order' "$weir" run echo --order
prints 'found it' env PATH="$work/nowhere:/bin:/usr/bin" "$weir" run -- echo found it
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
      /task +events/ { for (i = 2; i <= NF; i++) if ($i == "events") column = i }
      $2 ~ /^[0-9]+$/ { if ($2 != rows++) exit 1; sum += $column }
      $2 == "all" { good = rows == 4 && sum == $column }
      END { exit !good }' stat.txt; then
    echo "FAILED: weir stat --view $view"; cat stat.txt; failed=$((failed + 1))
  fi
done

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

echo "weir command: $failed failures"
[ "$failed" = 0 ]
