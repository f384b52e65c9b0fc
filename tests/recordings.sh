# Sourced by tests that record, after `set`, with BUILD as $1: an empty folder of their own, their recordings in it, and what failed.

weir=$(realpath "$1")/bin/weir programs=$(realpath "$1")/tests/programs
work=$(mktemp -d)
trap 'umount "$work/small" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
export WEIR_RECORDINGS=$work/all
failed=0

fail() {
  failed=$((failed + 1))
  echo "FAILED: $*" | cut -c 1-500
}
