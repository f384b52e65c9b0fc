#!/usr/bin/env bash
# Runs one test program under `weir check` and judges: it ends as its line in programs/MANIFEST says, prints what a native run prints (mode
# exact), and races are reported only where programs/RACY names it.
# usage: checked.sh BUILD PROGRAM [RUNS]      LIMIT (environment): seconds that one run may take, default 30
set -uo pipefail
ulimit -c 0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 program=$2 runs=${3:-1}
limit=${LIMIT:-30}

line=$(grep -E "^$program *\|" "$here/programs/MANIFEST") || { echo "$program is not in programs/MANIFEST"; exit 1; }
IFS='|' read -r _ args mode expected _ <<<"$line|"
read -ra args <<<"$args"
mode=${mode// /} expected=${expected// /}
case $expected in
  exit=*) want=${expected#exit=} ;;
  signal=*) want=$((128 + $(kill -l "${expected#signal=}"))) ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
  echo "$program: $*"
  for file in out log err; do echo "--- $file (end)"; tail -n 15 "$work/$file" 2>/dev/null; done
  exit 1
}

if [ "$mode" = exact ]; then
  timeout -k 2 "$limit" "$build/tests/programs/$program" "${args[@]}" >native 2>/dev/null </dev/null
fi
for ((run = 0; run < runs; run++)); do
  { timeout -k 2 "$limit" "$build/bin/weir" check --exit-code=0 --log log -- "$build/tests/programs/$program" "${args[@]}" >out 2>err </dev/null; } 2>/dev/null
  status=$?
  [ "$status" = "$want" ] || fail "status $status instead of $want ($expected)"
  if [ "$mode" = exact ] && ! cmp -s native out; then fail "printed something else than natively"; fi
  if grep -q 'weir: data race' log && ! grep -qE "^$program( |$)" "$here/programs/RACY"; then fail "a race was reported"; fi
  : >log
done
