#!/usr/bin/env bash
# How many different results a number of recordings of racey have, and that each replay has the recording's. A recorder that runs the
# program as it never runs would hide the race that one wants to catch.
# usage: racey_recorded.sh BUILD THREADS RECORDINGS LEAST      LEAST: so many different ones there must be
set -uo pipefail
ulimit -c 0
build=$1 threads=$2 recordings=$3 least=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for ((i = 0; i < recordings; i++)); do
  rm -rf "$work/one"
  recorded=$(timeout 60 "$build/bin/weir" record --quiet --fingerprint --log "$work/words" -o "$work/one" -- "$build/tests/programs/racey" "$threads") ||
    { echo "recording $i failed"; cat "$work/words"; exit 1; }
  replayed=$(timeout 60 "$build/bin/weir" replay --log "$work/again" "$work/one") || { echo "replay $i failed"; cat "$work/again"; exit 1; }
  [ "$recorded" = "$replayed" ] && cmp -s "$work/words" "$work/again" ||
    { echo "replay $i differs: $recorded, $replayed"; cat "$work/words" "$work/again"; exit 1; }
  echo "$recorded" >>"$work/results"
done
different=$(sort -u "$work/results" | wc -l)
echo "racey $threads: $different different results in $recordings recordings, each replayed the same"
[ "$different" -ge "$least" ]
