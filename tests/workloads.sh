#!/usr/bin/env bash
# One of the Phoenix workloads of bench/workloads prints the same at size small: by its sequential version, natively with 1, 2,
# 4 and 7 threads, and under Weir with 4.
# usage: workloads.sh BUILD NAME      LIMIT (environment): seconds that one run may take, default 20.
set -uo pipefail
ulimit -c 0

build=$1 name=$2 limit=${LIMIT:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $name in
  histogram) kind=pixels ;;
  linear_regression) kind=points ;;
  string_match) kind=keys ;;
  word_count) kind=text ;;
  reverse_index) kind=html ;;
  *) kind= ;;  # makes its input by itself
esac
command=("$build/bench/$name" --size small --seed 7)
if [ -n "$kind" ]; then
  "$build/bench/generate" "$kind" small 7 "$work/input" || { echo "generate $kind failed"; exit 1; }
  command+=(--input "$work/input")
fi

# once TITLE OUTPUT COMMAND...
once() {
  local title=$1 output=$2 status
  shift 2
  timeout -k 2 "$limit" "$@" >"$output" 2>"$work/err" </dev/null
  status=$?
  [ "$status" = 0 ] && return
  echo "$name, $title: status $status (124: still running after $limit s)"
  echo "command: $*"
  tail -n 15 "$work/err"
  exit 1
}

once sequential "$work/sequential" "${command[@]}" --sequential
[ -s "$work/sequential" ] || { echo "$name printed nothing"; exit 1; }

# same TITLE COMMAND...
same() {
  local title=$1
  once "$title" "$work/out" "${@:2}"
  cmp -s "$work/sequential" "$work/out" && return
  echo "$name, $title: not what the sequential version prints"
  diff "$work/sequential" "$work/out" | head -n 20
  exit 1
}

for threads in 1 2 4 7; do
  same "natively with $threads threads" "${command[@]}" --threads "$threads"
done
for point in token-direct token-isolated free-isolated; do
  same "at $point" "$build/bin/weir" run --order "${point%-*}" --view "${point#*-}" -- "${command[@]}" --threads 4
done
echo "$name: the same 8 times"
