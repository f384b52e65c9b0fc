#!/usr/bin/env bash
# tools/fetch: an archive is used only if it is whole and right, wherever it comes from; what is there is left alone, and
# what is there of another version is replaced. usage: fetch_test.sh
set -euo pipefail

fetch=$(cd "$(dirname "$0")/.." && pwd)/tools/fetch
sources=${fetch%/fetch}/sources
read -r version path sum < <(sed -n 's/^zydis //p' "$sources")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEIR_DEPS=$work/deps
folder=$WEIR_DEPS/zydis-$version
file=$WEIR_DEPS/${path##*/}

fail() {
  echo "fetch_test: $*" >&2
  exit 1
}

# refuses WORDS: it fails with these words, and leaves neither the folder nor anything half done.
refuses() {
  if "$fetch" zydis >"$work/out" 2>&1; then fail "it took what it should refuse: $1"; fi
  grep -q "$1" "$work/out" || { cat "$work/out" >&2; fail "it did not say '$1'"; }
  nothing_left
  [ ! -e "$folder" ] || fail "there is a folder after: $1"
}
nothing_left() { [ -z "$(find "$WEIR_DEPS" -name '.fetch.*')" ] || fail "something half done is left"; }

# What this checkout was built from, packed again, has another sum than Debian's archive: so it is a wrong one.
mkdir -p "$WEIR_DEPS" "$work/mirror/${path%/*}"
tar -czf "$work/wrong" -C "${fetch%/fetch}" packages
cp "$work/wrong" "$file"
refuses "is damaged"
: >"$file"
refuses "is damaged"
rm "$file"

# A mirror with the wrong file is passed over; the next has the right one, and the network may be asked for it.
cp "$work/wrong" "$work/mirror/$path"
WEIR_MIRRORS="file://$work/mirror file://$work/nothing" "$fetch" zydis >"$work/out" 2>&1 || {
  cat "$work/out" >&2
  fail "no mirror of this machine has zydis $version"
}
grep -q "0x000$(echo "$version" | sed 's/[.]/000/g')0000" "$folder/include/Zydis/Zydis.h" || fail "$folder has another version"
nothing_left

# What is there is left alone; of another version, or unpacked from something else, it is replaced.
echo mine >"$folder/mine"
"$fetch" zydis
[ -f "$folder/mine" ] || fail "it fetched what was there"
echo "another sum" >"$folder/.sha256"
"$fetch" zydis >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "it did not replace what is not right"; }
[ ! -f "$folder/mine" ] && [ "$(cat "$folder/.sha256")" = "$sum" ] || fail "what is not right was left"

if "$fetch" nothing >"$work/out" 2>&1; then fail "it fetched what is not listed"; fi
grep -q "does not list 'nothing'" "$work/out" || fail "it did not say that nothing is listed"
echo "fetch_test: right"
