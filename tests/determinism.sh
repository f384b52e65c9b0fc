#!/usr/bin/env bash
# Under weir det a program prints the same and leaves the same memory behind, whatever the machine does meanwhile:
# on one processor and on all, idle and loaded, with random delays at events.
# usage: determinism.sh BUILD PROGRAM [ARGS...]      RUNS (environment): pairs of runs under each circumstance, default 8
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/circumstances.sh"
weir=$1/bin/weir program=$1/tests/programs/$2
shift 2
runs=${RUNS:-8}
work=$(mktemp -d)
trap 'unload; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 1

reference=
total=0

# series TITLE WEIR-OPTIONS -- PREFIX...: `runs` runs; {seed} in the options is another number each time.
series() {
  local title=$1 options=() run
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  for ((run = 1; run <= runs; run++)); do
    if ! result_of 60 "$@" "$weir" det --fingerprint --log words "${options[@]//\{seed\}/$((RANDOM + 1))}" -- \
        "$program" "${arguments[@]}"; then
      echo "$title: run $run failed: $why"; exit 1
    fi
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
series "all processors" --
series "one processor" -- taskset -c "$(first_processor)"
series "random delays" --delay '{seed}' --
load
series "loaded machine" --
series "loaded, delays, one processor" --delay '{seed}' -- taskset -c "$(first_processor)"
echo "$total runs, all the same"
