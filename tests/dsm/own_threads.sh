#!/usr/bin/env bash
# The long form of src/dsm/protocol/own_threads_test.cc: random programs whose own threads hold locks,
# allocate and post while their main threads pass barriers and garbage is collected, under each
# protocol and with tapes off, called and automatic, each time from new seeds, until the time is up
# or one is wrong.
# usage: own_threads.sh BUILD SECONDS [FIRST_SEED]
set -uo pipefail

tests=$(realpath "$1")/bin/dsm_unit_tests
end=$((SECONDS + $2))
seed=${3:-1}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for (( ; SECONDS < end; seed += 24)); do
  if ! WEIR_FIRST_SEED=$seed WEIR_SEEDS=2 timeout 600 "$tests" --gtest_filter='*OwnThreads*' > "$out" 2>&1; then
    cat "$out"
    echo "BAD: seeds $seed to $((seed + 23))"
    exit 1
  fi
done
echo "well: seeds ${3:-1} to $((seed - 1))"
