#!/usr/bin/env bash
# A test program, run under weir det on all processors, on one, and with random delays, makes the same turns in all its processes and
# leaves the same memory: all its fingerprints are the same. Its output is run_point.sh's to judge.
# usage: same_run.sh BUILD PROGRAM      RUNS (environment): under each circumstance, default 2
#   programs/OUTSIDE names the programs of which the outside world decides one or the other.
set -uo pipefail
ulimit -c 0

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/circumstances.sh"
build=$1 weir=$1/bin/weir program=$2 runs=${RUNS:-2}
IFS='|' read -r _ args _ expected _ <<<"$(grep -E "^$program *\|" "$here/programs/MANIFEST")|"
read -ra args <<<"$args"
outside=$(grep -E "^$program *\|" "$here/programs/OUTSIDE")
looked_at='schedule [0-9a-f]*|memory [0-9a-f]*'
[[ $outside == *'| memory |'* ]] && looked_at='schedule [0-9a-f]*'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# one WHAT WEIR-OPTION... -- PREFIX...
first=
one() {
  local what=$1 options=() found
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  rm -rf words place && mkdir place
  (cd place && timeout -k 2 60 "$@" "$weir" det --fingerprint --log ../words "${options[@]}" -- "$build/tests/programs/$program" "${args[@]}") >/dev/null 2>err </dev/null
  found=$(grep fingerprint words | grep -oE "$looked_at" | sort)
  if [ -z "$found" ]; then echo "$program: no fingerprint"; tail -n 5 words err; exit 1; fi
  [ -n "$first" ] || first=$found
  [ "$found" = "$first" ] && return
  echo "$program: $what: another fingerprint than the first run's"
  diff <(echo "$first") <(echo "$found") | head -n 10
  exit 1
}

for ((run = 0; run < runs; run++)); do
  one "all processors" --
  one "one processor" -- taskset -c "$(first_processor)"
  one "random delays" --delay $((RANDOM + 1)) --
  one "random delays on one processor" --delay $((RANDOM + 1)) -- taskset -c "$(first_processor)"
done
echo "$program: $((4 * runs)) runs, the same"
