#!/usr/bin/env bash
# HDF5 from and to shared memory: the library for one process, and those of each MPI, in which all nodes write one file.
# usage: hdf5.sh BUILD
set -uo pipefail

here=$(realpath "$(dirname "$0")") build=$(realpath "$1")
# shellcheck source=tests/dsm/launchers.sh
. "$here/launchers.sh"

# compile LIBRARY COMPILER...: the program for that library of HDF5.
compile() {
  local library=$1 flags
  shift
  flags=$(pkg-config --cflags --libs "$library" 2> out) || { bad "$library is missing: tools/setup test"; exit 1; }
  # shellcheck disable=SC2086  # the flags are several
  "$@" -O2 -g -std=gnu11 -Wall -Wextra -Werror -I"$here/../../include" "$here/hdf5.c" -o "$library" $flags \
    "$build/lib/libweir-dsm.so" "$build/lib/libweir-region.so" -Wl,-rpath,"$build/lib" > out 2>&1 || { bad "no program for $library"; exit 1; }
}

# run NODES PROGRAM [NAME=VALUE...]
run() {
  local nodes=$1 program=$2 status
  shift 2
  timeout -k 5 100 env "$@" "$mpirun" -n "$nodes" "./$program" "$work" > out 2>&1
  status=$?
  [ "$status" = 0 ] && grep -q "^hdf5: well$" out && return
  bad "$mpirun -n $nodes $program $*: status $status"
}

mpiruns=$(mpirun_of_each) || exit
compile hdf5-serial gcc
for mpirun in $mpiruns; do
  mpi=${mpirun##*.}
  compile "hdf5-$mpi" "mpicc.$mpi" -DPARALLEL
  run 2 hdf5-serial WEIR_DSM_PROTOCOL=sc
  run 3 hdf5-serial WEIR_DSM_TAPES=auto WEIR_DSM_COLLECT=64K
  run 2 "hdf5-$mpi" WEIR_DSM_PROTOCOL=lrc
  run 3 "hdf5-$mpi" WEIR_DSM_PROTOCOL=hlrc
done
exit "$failed"
