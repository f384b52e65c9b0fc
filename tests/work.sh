# Sourced by tests, after `set`, with BUILD as $1: the command, an empty folder of their own that goes with them, and how much failed.

build=$(realpath "$1") here=$(realpath "$(dirname "${BASH_SOURCE[1]}")")
weir=$build/bin/weir
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
