# Sourced by tests that record, after `set`, with BUILD as $1: an empty folder of their own, their recordings in it, and what failed.

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"
programs=$build/tests/programs
trap 'umount "$work/small" 2>/dev/null; rm -rf "$work"' EXIT
export WEIR_RECORDINGS=$work/all

fail() {
  failed=$((failed + 1))
  echo "FAILED: $*" | cut -c 1-500
}

# ends STATUS TEXT COMMAND...: the command ends with STATUS, and stderr contains TEXT, within `ends_limit` seconds, or 30.
ends() {
  local want=$1 text=$2 status
  shift 2
  timeout "${ends_limit:-30}" "$@" >stdout 2>stderr </dev/null
  status=$?
  [ "$status" = "$want" ] && [[ $(cat stderr) == *"$text"* ]] && return
  fail "$*: wanted status $want and '$text', got $status and: $(cat stderr)"
}
