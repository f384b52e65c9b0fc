#!/usr/bin/env bash
# Runs one benchmark program on its small input: what it prints must be the same by its sequential version, natively with 1, 2,
# 4 and 7 threads, and under Weir with 4 threads.
# usage: workloads.sh BUILD NAME [OPTION OF THE PROGRAM...]      LIMIT (environment): seconds that one run may take, default 60
set -uo pipefail
ulimit -c 0

build=$1 name=$2
shift 2
program=$build/bench/$name
limit=${LIMIT:-60}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

case $name in
  histogram) kind=pixels ;;
  linear_regression) kind=points ;;
  string_match) kind=keys ;;
  word_count) kind=text ;;
  reverse_index) kind=html ;;
  *) kind= ;;  # makes its input by itself
esac
if [ -n "$kind" ]; then
  "$build/bench/generate" "$kind" small 7 "$work/input" || { echo "generate $kind failed"; exit 1; }
  set -- --input "$work/input" "$@"
fi

# once WHAT COMMAND...: one run; its output must be that of the first.
once() {
  local what=$1 status
  shift
  timeout -k 2 "$limit" "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  [ -e "$work/first" ] || cp "$work/out" "$work/first"
  [ "$status" = 0 ] && cmp -s "$work/first" "$work/out" && return
  failed=1
  if [ "$status" = 124 ] || [ "$status" = 137 ]; then
    echo "$name, $what: still running after $limit s"
  elif [ "$status" != 0 ]; then
    echo "$name, $what: status $status"
  else
    echo "$name, $what: prints something else than the sequential version"
  fi
  echo "command: $*"
  diff <(head -c 20000 "$work/first") <(head -c 20000 "$work/out") | head -n 20
  tail -n 15 "$work/err"
}

once sequential "$program" --size small --sequential "$@"
for threads in 1 2 4 7; do
  once "native, $threads threads" "$program" --size small --threads "$threads" "$@"
done
for point in token-direct token-isolated free-isolated; do
  once "$point, 4 threads" "$build/bin/weir" run --order "${point%-*}" --view "${point#*-}" -- \
    "$program" --size small --threads 4 "$@"
done
[ "$failed" = 0 ] && echo "$name: the same everywhere"
exit "$failed"
