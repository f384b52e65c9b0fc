#!/usr/bin/env bash
# Runs one test program at one point of Order x View and judges what came out by its line in programs/MANIFEST.
# usage: run_point.sh BUILD PROGRAM ORDER VIEW [RUNS]      ORDER native: without Weir, VIEW is ignored
#   exact: every run prints what a native run prints.   det: at order token all runs print the same.
#   LIMIT (environment): seconds that one run may take, default 20.   DELAY: a seed for weir's --delay.
#   ONLY_ENDING (environment): what is printed is not compared.
#   SCHEDULE (environment): at order serial, which one.   OPTIONS: more of weir's options.
#   REFERENCE (environment): a file; det: it keeps what the first run of all printed, for later calls to compare with.
set -uo pipefail
ulimit -c 0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 program=$2 order=$3 view=$4 runs=${5:-3}
limit=${LIMIT:-20}

line=$(grep -E "^$program *\|" "$here/programs/MANIFEST") || { echo "$program is not in programs/MANIFEST"; exit 1; }
IFS='|' read -r _ args mode expected except <<<"$line|"
read -ra args <<<"$args"
mode=${mode// /} expected=${expected// /}
except=${except# }
refusal=
if [[ $except == refused* ]]; then  # "refused POINT POINT: words of Weir's message": it cannot go on there and says so
  points=${except%%:*}
  [[ " ${points#refused} " == *" $order-$view "* ]] && refusal=${except#*: }
fi
except=${except%%:*}

case $expected in
  exit=*) want=${expected#exit=} ;;
  signal=*) want=$((128 + $(kill -l "${expected#signal=}"))) ;;
  *) echo "$program: cannot understand '$expected' in programs/MANIFEST"; exit 1 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# once OUTPUT COMMAND...: one run with a limit; fails, saying why, unless it ends as it must.
once() {
  local output=$1 status
  shift
  { timeout -k 2 "$limit" "$@" "${args[@]}" >"$output" 2>"$output.err" </dev/null; } 2>/dev/null  # not "Aborted"
  status=$?
  [ "$status" = "$want" ] && return
  if [ "$status" = 124 ] || { [ "$status" = 137 ] && [ "$want" != 137 ]; }; then
    echo "$program: still running after $limit s (or killed)"
  else
    echo "$program: status $status instead of $want ($expected)"
  fi
  echo "command: $*  ${args[*]}"
  echo "--- stdout (end)"; tail -n 15 "$output"
  echo "--- stderr (end)"; tail -n 15 "$output.err"
  exit 1
}

same() {
  cmp -s "$1" "$2" && return
  echo "$program: $3"
  diff <(head -c 20000 "$1") <(head -c 20000 "$2") | head -n 20
  exit 1
}

binary=$build/tests/programs/$program
under=("$build/bin/weir" run --order "$order" --view "$view" ${SCHEDULE:+--schedule "$SCHEDULE"} ${DELAY:+--delay "$DELAY"} ${OPTIONS:-} -- "$binary")
if [ "$order" = native ]; then under=("$binary"); fi

if [ -n "$refusal" ]; then
  timeout -k 2 14 "${under[@]}" "${args[@]}" >"$work/out" 2>"$work/err" </dev/null
  [ $? = 0 ] && { echo "$program: ended well at $order/$view; take the refusal out of programs/MANIFEST"; exit 1; }
  grep -qF "$refusal" "$work/err" || { echo "$program: no word of '$refusal'"; cat "$work/err"; exit 1; }
  echo "$program: refused at $order/$view by name, as programs/MANIFEST has it"
  exit 0
fi

if [ "$mode" = exact ]; then once "$work/first" "$binary"; fi
for ((run = 1; run <= runs; run++)); do
  once "$work/out.$run" "${under[@]}"
  if [ "$mode" = exact ] && [ -z "${ONLY_ENDING:-}" ]; then
    same "$work/first" "$work/out.$run" "run $run differs from the native run"
  elif [ "$mode" = det ] && { [ "$order" = serial ] || { [ "$order" = token ] && [ "$except" != "$view" ]; }; }; then
    if [ -n "${REFERENCE:-}" ] && [ ! -e "$REFERENCE" ]; then cp "$work/out.1" "$REFERENCE"; fi
    same "${REFERENCE:-$work/out.1}" "$work/out.$run" "run $run differs from the first"
  fi
done
echo "$program: $runs runs at $order/$view as expected ($mode, $expected)"
