#!/usr/bin/env bash
# Little room in /dev/shm: 64 MB are Docker's default. The job runs, with what fits. As root, who may mount a file system of that size.
# usage: small_shm.sh BUILD
set -uo pipefail

program=$(realpath "$1")/bin/dsm_peers
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

# in_room SIZE PATTERN COMMAND...: the pattern is said, or nothing by the library where it is empty.
in_room() {
  local size=$1 pattern=$2 status
  shift 2
  # shellcheck disable=SC2016
  timeout -k 5 150 unshare -m bash -c 'mount -t tmpfs -o size=$0 none /dev/shm && exec "$@"' "$size" "$@" > out 2>&1
  status=$?
  [ "$status" = 0 ] && grep -q '^peers: well$' out || bad "$size: $*: status $status"
  if [ -n "$pattern" ]; then
    grep -qE "^weir-dsm: /dev/shm has [0-9]+ MB left: $pattern" out || bad "$size: $*: not said: $pattern"
  else
    ! grep -q '^weir-dsm' out || bad "$size: $*: nothing was to be said"
  fi
}

unshare -m true 2>/dev/null || { echo "small_shm: no mount namespace here"; exit 77; }
mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  in_room 64m '' "$mpirun" -n 4 "$program" 3
done
in_room 26m 'WEIR_DSM_CHANNELS is [12] instead of 4' mpirun.mpich -n 3 "$program" 3
# (Of more nodes, or with less room, MPI's own shared memory would not fit either.)
OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo in_room 3m 'messages go by other ways' mpirun.openmpi -n 3 "$program" 3
exit "$failed"
