#!/usr/bin/env bash
# A program that sets %gs for itself runs where Weir does nothing, and is refused by name, when it does so, at every other point.
# usage: own_base_test.sh BUILD
set -uo pipefail
ulimit -c 0

weir=$1/bin/weir
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
gcc -O1 -pthread "$here/own_base.c" -o own_base || exit 1
failed=0

# outcome COMMAND...: what it printed, Weir's words too, and its status.
outcome() {
  timeout 60 "$@" >out.text 2>&1 </dev/null
  local status=$?
  echo "$(tr '\n' ' ' <out.text)status $status"
}

for how in instruction call; do
  [ "$(outcome "$weir" run -- ./own_base $how)" = "10030 status 0" ] || { echo "FAILED: run, $how: $(cat out.text)"; failed=1; }
  for point in det check 'record -o recording' 'record --view isolated -o recording' 'record --view direct -o recording' \
    'run --order token --view direct' 'run --order serial' 'run --view isolated' 'run --view coherent'; do
    rm -rf recording
    # shellcheck disable=SC2086  # words
    got=$(outcome "$weir" $point -- ./own_base $how)
    [[ $got == *"uses the register %gs itself"*"\`weir run\` (--order free --view direct) runs it"*"status 125" ]] ||
      { echo "FAILED: $point, $how: $got"; failed=1; }
    [ ! -d recording ] || {
      got=$(outcome "$weir" replay recording)
      [[ $got == *"uses the register %gs itself"*"status 125" ]] || { echo "FAILED: $point, $how, its replay: $got"; failed=1; }
    }
  done
done
exit $failed
