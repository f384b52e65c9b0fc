#!/usr/bin/env bash
# Devices whose driver works on the memory of one process (src/syscall/memory/device.cc): Weir says at once that they do
# not fit, and only where they do not. The device is /dev/null under another name, in a folder /dev of this test's own.
# usage: devices_test.sh BUILD
set -uo pipefail
if [ -z "${WEIR_TEST_DEV-}" ]; then
  [ "$(id -u)" = 0 ] && user= || user=-r
  exec env WEIR_TEST_DEV=1 unshare -m $user "$0" "$@"
fi
weir=$(realpath "$1")/bin/weir
work=$(mktemp -d /tmp/weir-devices.XXXXXX)
trap 'umount -Rl /dev "$work/dev" 2>/dev/null; rm -rf "$work"' EXIT
failures=0
fail() {
  echo "FAILED: $1"
  shift
  printf '  %s\n' "$@"
  failures=$((failures + 1))
}

mkdir "$work/dev" || exit 1
mount -t tmpfs none "$work/dev" || exit 1
mkdir "$work/dev/shm" "$work/dev/dri"
for name in null zero random urandom; do
  : >"$work/dev/$name"
  mount --bind "/dev/$name" "$work/dev/$name" || exit 1
done
for name in nvidiactl dri/card0; do
  : >"$work/dev/$name"
  mount --bind /dev/null "$work/dev/$name" || exit 1
done
mount --rbind "$work/dev" /dev || exit 1
export XDG_CONFIG_HOME=$work/settings WEIR_DIR=$work/recordings

# says TIMES WORDS COMMAND...: so often, and the program's own output is right.
says() {
  local times=$1 words=$2 got
  shift 2
  got=$(timeout 60 "$@" 2>"$work/said")
  [ "$got" = read ] || fail "$*" "prints $got"
  [ "$(grep -c "$words" "$work/said")" = "$times" ] || fail "$*" "should say '$words' $times times:" "$(cat "$work/said")"
}
reader='cat /dev/nvidiactl /dev/nvidiactl /dev/dri/card0; echo read'
quiet='cat /dev/null /dev/nvidia-none 2>/dev/null; echo read'

for point in "det" "check" "run --view coherent" "run --view isolated"; do
  says 1 'belongs to one process.*--order token --view direct' "$weir" $point -- sh -c "$reader"
  says 0 'belongs to one process' "$weir" $point -- sh -c "$quiet"
done
for point in "run --order token --view direct" "run --order serial" "run"; do
  says 0 'belongs to one process' "$weir" $point -- sh -c "$reader"
done
for view in coherent isolated direct; do
  says 1 'is not recorded.*--order serial' "$weir" record --view "$view" -o "$work/$view" -- sh -c "$reader"
  says 0 'is not recorded' "$weir" replay "$work/$view"
done
[ "$failures" = 0 ] && echo "devices: 0 failures"
exit $((failures > 0))
