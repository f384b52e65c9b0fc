#!/usr/bin/env bash
# The programs of examples/ as somebody uses them: what they answer, and what they leave behind when they are killed.
# usage: examples.sh BUILD
set -uo pipefail

programs=$(realpath "$1")/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
for name in object_store checkpoint write_barrier; do
  [ -x "$programs/$name" ] || { echo "FAILED: there is no $programs/$name"; exit 1; }
done

wrong() {
  failed=$((failed + 1))
  echo "FAILED: $*"
}

# answers STATUS TEXT COMMAND...: the command ends with STATUS, and its stdout is TEXT.
answers() {
  local want=$1 text=$2 output status
  shift 2
  output=$(timeout 20 "$@" 2>stderr </dev/null)
  status=$?
  [ "$status" = "$want" ] && [ "$output" = "$text" ] || wrong "$*: status $status, '$output', not $want, '$text' ($(head -c 500 stderr))"
}

# said TEXT: the last one's stderr contains it.
said() { grep -qF -- "$1" stderr || wrong "'$1' was not said, but: $(head -c 500 stderr)"; }

# killed_after SECONDS COMMAND...: with SIGKILL, unless it has ended.
killed_after() {
  local seconds=$1 process
  shift
  "$@" </dev/null &
  process=$!
  sleep "$seconds"
  kill -KILL "$process" 2>/dev/null
  wait "$process" 2>/dev/null
}

random_seconds() { printf '0.%03d' $((RANDOM % $1 + 5)); }

# --- object_store
store=$programs/object_store
answers 0 '' "$store" file put alice 100
answers 0 '' "$store" file put bob 50
answers 0 '' "$store" file transfer alice bob 30
answers 0 '' "$store" file add alice -80
answers 0 $'alice -10\nbob 80' "$store" file list
answers 0 '80' "$store" file get bob
said '2 objects read, 0 written'
answers 0 '' "$store" file put bob 7
said '2 objects read, 2 written' # the root counts commits
answers 1 '' "$store" file get carl
answers 1 '' "$store" file transfer alice carl 5
answers 0 'sum -3 of 2 objects after 5 commits' "$store" file sum
answers 2 '' "$store" file put
answers 2 '' "$store" file put alice many
answers 2 '' "$store" file put "$(printf 'k%.0s' {1..40})" 1
answers 2 '' "$store" missing/file list
head -c 5000 /dev/urandom >noise
answers 2 '' "$store" noise list
said 'is no object store'
# Only what is used is read: the root, and the records of one chain.
answers 0 '' "$store" many stress 3000 0 2>/dev/null
answers 0 '1000' "$store" many get a1234
read -r objects _ <stderr
[ "$objects" -ge 2 ] && [ "$objects" -le 20 ] || wrong "$objects of 3001 objects were read for one"
answers 0 'sum 3000000 of 3000 objects after 1 commits' "$store" many sum

# The file as before a commit, with that commit's journal: whole, it counts; cut or damaged anywhere, it does not.
cp file before
answers 0 '' "$store" file transfer alice bob 1000
size=$(stat -c %s file.journal)
for length in $((size)) $((size - 1)) $((size / 2)) 40 32 31 8 0; do
  cp before cut
  head -c "$length" file.journal >cut.journal
  if [ "$length" = "$size" ]; then answers 0 $'alice -1010\nbob 1007' "$store" cut list; else answers 0 $'alice -10\nbob 7' "$store" cut list; fi
done
for at in 9 20 28 60 $((size - 60)); do
  cp before cut
  cp file.journal cut.journal
  printf '\xa5' | dd of=cut.journal bs=1 seek="$at" conv=notrunc status=none
  answers 0 $'alice -10\nbob 7' "$store" cut list
done

# Killed at any time: money is neither made nor lost, and what was committed stays.
end=$((SECONDS + 6)) runs=0 commits=0
while [ $SECONDS -lt $end ]; do
  killed_after "$(random_seconds 250)" "$store" bank stress 200 60 >printed 2>/dev/null
  runs=$((runs + 1))
  last=$(tail -n 1 printed)
  result=$(timeout 20 "$store" bank sum 2>stderr) || wrong "run $runs: $(cat stderr)"
  [[ $result == "sum 200000 of 200 objects after "* || ($result == "sum 0 of 0 objects after 0 commits" && -z $last) ]] || wrong "run $runs: $result"
  now=${result#*after } now=${now% commits}
  [ "${now:-0}" -ge "${last:-$commits}" ] && [ "${now:-0}" -ge "$commits" ] || wrong "run $runs: commit ${last:-$commits} was lost, $now are left"
  commits=${now:-0}
done
[ "$commits" -gt "$runs" ] || wrong "only $commits commits in $runs runs"
echo "object_store: killed $runs times in $commits commits"

# --- checkpoint
program=$programs/checkpoint
expected=$(timeout 20 "$program" whole --steps 300 --every 10 2>lines) || wrong "checkpoint: $expected"
[ "$(wc -l <lines)" = 30 ] || wrong "checkpoint: $(wc -l <lines) lines"
# At first heat has reached few tiles, and of these not all bytes.
read -r _ _ tiles _ total _ _ bytes _ _ _ all <lines
[ "$tiles" -lt $((total / 8)) ] && [ "$bytes" -lt $((all / 20)) ] || wrong "checkpoint: the first one has $tiles of $total tiles, $bytes of $all bytes"
answers 0 "$expected" "$program" other --steps 300 --every 70
answers 0 "$expected" "$program" other --steps 300 --every 70 --resume
said 'goes on after step 280'
answers 0 "$expected" "$program" new --steps 300 --resume
# Cut anywhere, and with a byte damaged: it goes on after the last whole one before.
size=$(stat -c %s whole)
for i in 1 2 3 4 5; do
  head -c $((RANDOM * 32768 % size + RANDOM)) whole >cut
  answers 0 "$expected" "$program" cut --steps 300 --every 10 --resume
  answers 0 "$expected" "$program" cut --steps 300 --every 10 --resume
  said 'goes on after step 300' # all that the first of these wrote is whole
done
cp whole damaged
printf '\xa5\x5a' | dd of=damaged bs=1 seek=$((size / 2)) conv=notrunc status=none
answers 0 "$expected" "$program" damaged --steps 300 --every 10 --resume
said 'goes on after step'
answers 2 '' "$program"
answers 2 '' "$program" file --every 0
answers 2 '' "$program" missing/file
kills=0
while [ $kills -lt 12 ]; do
  killed_after "$(random_seconds 200)" "$program" killed --steps 300 --every 10 --resume >killed.out 2>/dev/null
  kills=$((kills + 1))
  [ ! -s killed.out ] || rm -f killed # it had ended
done
answers 0 "$expected" "$program" killed --steps 300 --every 10 --resume
echo "checkpoint: killed up to $kills times, $expected"

# --- write_barrier
for seed in 1 2 3; do
  output=$(timeout 20 "$programs/write_barrier" 60000 $seed) || wrong "write_barrier: $output"
  minors=${output%% *}
  [[ $output == *"minor collections"* && $output != *WRONG* && $minors -gt 10 ]] || wrong "write_barrier: $output"
done
echo "$output"

[ $failed = 0 ] || exit 1
