#!/usr/bin/env bash
# usage: order_only.sh BUILD PROGRAM N
# A program with data races, recorded at View direct: each replay is the same, or it stops and says that it differs. Never another output.
set -u
build=$1 program=$2 recordings=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
same=0 told=0
for ((i = 0; i < recordings; i++)); do
  rm -rf "$work/recording"
  timeout 30 "$build/bin/weir" record --view direct --quiet -o "$work/recording" -- "$build/tests/programs/$program" 4 > "$work/recorded" || exit 1
  timeout 30 "$build/bin/weir" replay --log "$work/words" "$work/recording" > "$work/replayed"
  status=$?
  if ((status == 0)) && cmp -s "$work/recorded" "$work/replayed"; then
    same=$((same + 1))
  elif ((status == 125)) && grep -q 'the replay differs from the recording' "$work/words"; then
    told=$((told + 1))
  else
    echo "FAILED: the replay ended with $status, and another output or not a word:"
    cat "$work/words"
    exit 1
  fi
done
echo "$program: of $recordings replays $same were the same, $told said that they differ"
