#!/usr/bin/env bash
# Records one test program at View coherent and checks the recording: the replay ends and prints as the recorded run did, has its fingerprint, and races
# are reported only where programs/RACY names the program.
# usage: replay_checked.sh BUILD PROGRAM...      LIMIT (environment): seconds that one run may take, default 60
set -uo pipefail
ulimit -c 0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd) || exit 1
shift
limit=${LIMIT:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

fail() {
  failed=$((failed + 1))
  echo "$program: $*"
  for file in out log; do echo "--- $file (end)"; tail -n 12 "$work/$file" 2>/dev/null; done
}

for program in "$@"; do
  line=$(grep -E "^$program *\|" "$here/programs/MANIFEST") || { echo "$program is not in programs/MANIFEST"; exit 1; }
  IFS='|' read -r _ args _ <<<"$line|"
  read -ra args <<<"$args"
  rm -rf recording log told
  { timeout -k 2 "$limit" "$build/bin/weir" record --fingerprint --log told -o recording -- "$build/tests/programs/$program" "${args[@]}" >recorded 2>/dev/null </dev/null; } 2>/dev/null
  want=$?
  { timeout -k 2 "$limit" "$build/bin/weir" replay --check --exit-code 0 --fingerprint --log log recording >out 2>/dev/null </dev/null; } 2>/dev/null
  status=$?
  [ "$status" = "$want" ] || fail "status $status instead of $want"
  cmp -s recorded out || fail "printed something else than when it was recorded"
  [ "$(grep fingerprint: log | sort)" = "$(grep fingerprint: told | sort)" ] || fail "another fingerprint than when it was recorded: $(grep fingerprint: told)"
  if grep -q 'weir: data race' log && ! grep -qE "^$program( |$)" "$here/programs/RACY"; then fail "a race was reported"; fi
done
exit $((failed > 0))
