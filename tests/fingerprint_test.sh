#!/usr/bin/env bash
# The fingerprint of memory is the same wherever the output goes: what the kernel told libc about the file (its number, its
# times) lies where no function uses it any more.
# usage: fingerprint_test.sh BUILD
set -uo pipefail
ulimit -c 0

weir=$1/bin/weir program=$1/tests/programs/racey
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Files and pipes, each another one.
for run in 1 2 3 4 5; do
  rm -f words
  timeout -k 2 60 "$weir" det --fingerprint --log words -- "$program" 2 >"out.$run" || { echo "run $run into a file failed"; exit 1; }
  cat words >>all
  rm -f words
  timeout -k 2 60 "$weir" det --fingerprint --log words -- "$program" 2 | cat >/dev/null || { echo "run $run into a pipe failed"; exit 1; }
  cat words >>all
done
sort all | uniq -c | sort -rn | tee counts
read -r most rest <counts
[ "$most" = 10 ] || { echo "fingerprints differ"; exit 1; }
case $rest in *"fingerprint: memory "*) ;; *) echo "no fingerprint in the log"; exit 1 ;; esac

# What is said at the end is said to what standard error was at the start: ls closes it before it ends, the others put another
# file in its place.
says() {
  local words
  for options in "det --fingerprint" "det --stat" "record --quiet -o recording --fingerprint" "run --order token --view direct --fingerprint"; do
    rm -rf recording own
    words=$(timeout -k 2 60 "$weir" $options -- "$@" 2>&1 >/dev/null) || { echo "weir $options -- $*: failed: $words"; exit 1; }
    case $words in *"weir: "*) ;; *) echo "weir $options -- $*: said '$words'"; exit 1 ;; esac
    [ ! -e own ] || ! grep -q weir: own || { echo "weir $options -- $*: the program's own file has Weir's words"; exit 1; }
  done
}
says ls --version
says sh -c 'exec 2>own; echo own >&2'
says sh -c 'exec 2>&-; exec 3>own; echo own >&3'
[ "$(cat own)" = own ] || { echo "the program's own file: $(cat own)"; exit 1; }

# Words that cannot be written change nothing: into a file that may not grow, and a pipe that nobody reads.
for options in "det --fingerprint" "det --stat"; do
  bash -c 'ulimit -S -f 0; exec timeout -k 2 60 "$0" "$@"' "$weir" $options --log full -- "$program" 2 | cmp - out.1 ||
    { echo "weir $options with no room for its words: failed"; exit 1; }
  { timeout -k 2 60 "$weir" $options -- "$program" 2 2>&3 >piped; echo $? >status; } 3> >(exec true)
  [ "$(cat status)" = 0 ] || { echo "weir $options whose words nobody reads: status $(cat status)"; exit 1; }
done
