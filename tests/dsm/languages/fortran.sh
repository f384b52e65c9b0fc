#!/usr/bin/env bash
# The Fortran module: a program of the build alone, under each MPI and protocol; and from what is installed, by its source.
# usage: fortran.sh BUILD
set -uo pipefail
here=$(realpath "$(dirname "$0")") build=$(realpath "$1")
program=$build/bin/dsm_fortran
# shellcheck source=tests/dsm/launchers.sh
. "$here/../launchers.sh"

# run NODES COMMAND...: it says that all is well.
run() {
  local nodes=$1 status
  shift
  timeout -k 5 60 "$@" > out 2>&1
  status=$?
  [ "$status" = 0 ] && grep -q "^fortran: $nodes nodes: well$" out && return
  bad "$*: status $status"
}

run 1 "$program"
mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  run 3 "$mpirun" -n 3 "$program"
  run 4 env WEIR_DSM_PROTOCOL=hlrc WEIR_DSM_TAPES=auto "$mpirun" -n 4 "$program"
  timeout -k 5 60 "$mpirun" -n 2 "$program" sizes-differ > out 2>&1 && ! loses_status "$mpirun" 0 && bad "$mpirun sizes-differ: status 0"
  grep -q 'node 1: an array of 101 elements of 4 bytes, while node 0 has 100 of 4' out || bad "$mpirun sizes-differ: not said"
done

for component in region dsm fortran; do
  cmake --install "$build" --prefix there --component "$component" > out 2>&1 || bad "cmake --install"
done
gfortran -O2 "there/include/weir/weir_dsm.f90" "$here/arrays.f90" -Lthere/lib -lweir-dsm -lweir-region -o installed > out 2>&1 || bad "gfortran"
run 2 env LD_LIBRARY_PATH="$work/there/lib" mpirun.openmpi -n 2 ./installed
exit "$failed"
