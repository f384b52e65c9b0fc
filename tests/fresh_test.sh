#!/usr/bin/env bash
# tests/fresh bites: with a package taken out of tools/packages, ./demo fails there and says what is missing; and where no
# such machine can be made, tests/fresh says why. usage: fresh_test.sh
set -euo pipefail

fresh=$(cd "$(dirname "$0")" && pwd)/fresh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ends STATUS WORDS COMMAND...: the command ends so, and says these words.
ends() {
  local expected=$1 words=$2 status=0
  shift 2
  "$@" >"$work/out" 2>&1 </dev/null || status=$?
  if [ "$status" != "$expected" ] || ! grep -q -- "$words" "$work/out"; then
    tail -n 20 "$work/out" >&2
    echo "fresh_test: status $status (expected $expected, and '$words') of $*" >&2
    exit 1
  fi
}

ends 125 "which release of Debian" "$fresh"
ends 125 "unknown option --nothing" "$fresh" --nothing bookworm true
ends 125 "a file or folder that exists" "$fresh" --with "$work/nothing" bookworm true
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$work"
  ends 125 "only root can" setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "$(cat "$fresh")" "$fresh" bookworm true
fi
ends 125 "does not list it" "$fresh" --without nothing bookworm true
ends 7 "^ran in .root.weir$" "$fresh" bookworm bash -c 'echo ran in $PWD; exit 7'
ends 1 "Install libcli11-dev" "$fresh" --without libcli11-dev bookworm ./demo
echo "fresh_test: right"
