#!/usr/bin/env bash
# Under weir det a program prints the same and leaves the same memory behind, whatever the machine does meanwhile:
# on one processor and on all, idle and loaded, with random delays at events.
# usage: determinism.sh BUILD PROGRAM [ARGS...]      RUNS (environment): pairs of runs under each circumstance, default 8
set -uo pipefail
ulimit -c 0

weir=$1/bin/weir program=$1/tests/programs/$2
shift 2
runs=${RUNS:-8}
work=$(mktemp -d)
load=()
finish() {
  [ ${#load[@]} = 0 ] || kill "${load[@]}" 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 1

reference=
total=0

# series TITLE WEIR-OPTIONS -- PREFIX...: `runs` runs; {seed} in the options is another number each time.
series() {
  local title=$1 options=() result run
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  for ((run = 1; run <= runs; run++)); do
    rm -f words words.*
    # The memory is compared of runs into /dev/null: libc asks for the state of its output, and what the kernel says of a
    # file (its times, its number) is input of the program that stays on its stack.
    for out in /dev/null out; do
      if ! timeout -k 2 60 "$@" "$weir" det --fingerprint --log "words.${out##*/}" "${options[@]//\{seed\}/$((RANDOM + 1))}" -- \
          "$program" "${arguments[@]}" >"$out" 2>err </dev/null; then
        echo "$title: run $run failed"; tail -n 5 err words.*; exit 1
      fi
    done
    mv words.null words; rm -f words.out
    if ! grep -q fingerprint words; then echo "$title: no fingerprint in the log"; exit 1; fi
    result=$(cat out; grep fingerprint words)
    [ -n "$reference" ] || reference=$result
    if [ "$result" != "$reference" ]; then
      echo "$title: run $run differs from the first run of all ($total before it were the same)"
      diff <(echo "$reference") <(echo "$result") | head -n 10
      exit 1
    fi
    total=$((total + 1))
  done
  echo "$title: $runs runs, the same"
}

arguments=("$@")
first_cpu=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
series "all processors" --
series "one processor" -- taskset -c "$first_cpu"
series "random delays" --delay '{seed}' --
for ((i = 0; i < $(nproc); i++)); do
  (while :; do :; done) &
  load+=($!)
done
series "loaded machine" --
series "loaded, delays, one processor" --delay '{seed}' -- taskset -c "$first_cpu"
echo "$total runs, all the same"
