#!/usr/bin/env bash
# Shared memory as a buffer of MPI's, and of copies between processes, under each MPI that is here; a program of one MPI under the other's launcher is refused.
# usage: buffers.sh BUILD
set -uo pipefail

build=$(realpath "$1")
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

# run WELL COMMAND...
run() {
  local well=$1 status
  shift
  timeout -k 5 100 "$@" > out 2>&1
  status=$?
  [ "$status" = 0 ] && grep -q "^$well: well$" out && return
  bad "$*: status $status"
}

mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  mpi=${mpirun##*.}
  for protocol in lrc hlrc sc; do
    WEIR_DSM_PROTOCOL=$protocol run peers "$mpirun" -n 3 "$build/bin/dsm_peers" 10 "$RANDOM"
  done
  WEIR_DSM_TAPES=auto WEIR_DSM_COLLECT=64K run peers "$mpirun" -n 2 "$build/bin/dsm_peers" 20 "$RANDOM"
  for when in first after; do
    run mpi_buffers "$mpirun" -n 2 "$build/bin/dsm_mpi_buffers_$mpi" "$when"
  done
  WEIR_DSM_PROTOCOL=hlrc run mpi_buffers "$mpirun" -n 3 "$build/bin/dsm_mpi_buffers_$mpi" after
  for protocol in lrc hlrc sc; do
    WEIR_DSM_PROTOCOL=$protocol run mpi_windows "$mpirun" -n 3 "$build/bin/dsm_mpi_windows_$mpi"
  done
  WEIR_DSM_TAPES=auto run mpi_windows "$mpirun" -n 2 "$build/bin/dsm_mpi_windows_$mpi"
  # Open MPI's windows by copies between processes, where they may be made (else "direct" would wait for the other node). Open MPI 5 sends messages.
  direct=direct
  [[ $("$mpirun" --version) = *'Open MPI) 4.'* ]] || direct=
  [ "$mpi" != openmpi ] || OMPI_MCA_osc=rdma WEIR_DSM_TAPES=off run mpi_windows "$mpirun" -n 2 "$build/bin/dsm_mpi_windows_$mpi" $direct
  timeout -k 5 60 "$mpirun" -n 2 "$build/bin/dsm_mpi_buffers_$mpi" early > out 2>&1 && ! loses_status "$mpirun" 0 && bad "$mpirun, early: status 0"
  grep -q '^weir-dsm: node [01]: MPI_Ibarrier failed: MPI_Finalize has been called; call it after weir_dsm_finish' out ||
    bad "$mpirun: an early MPI_Finalize is not named"
  timeout -k 5 60 "$mpirun" -n 2 "$build/bin/dsm_mpi_buffers_$mpi" forgotten > out 2>&1
  [ "$(grep -c '^weir-dsm: node [01]: the program has called MPI_Init and ends without MPI_Finalize$' out)" != 0 ] ||
    bad "$mpirun: a forgotten MPI_Finalize is not named"
  timeout -k 5 60 "$mpirun" -n 2 "$build/bin/dsm_mpi_buffers_$mpi" threads-end > out 2>&1
  [ $? != 124 ] && grep -q "^weir-dsm: node 1: the program's last thread ended (pthread_exit) before weir_dsm_finish" out ||
    bad "$mpirun: the end of all threads, of a program that called MPI_Init, is not named"
done

# Of the other MPI: each process would be alone, and compute everything.
for pair in "openmpi mpich MPICH's.mpirun" "mpich openmpi Open.MPI's.mpirun"; do
  read -r program launcher name <<< "$pair"
  for when in first after; do
    timeout -k 5 60 "mpirun.$launcher" -n 2 "$build/bin/dsm_mpi_buffers_$program" "$when" > out 2>&1
    [ $? != 0 ] && grep -qE "^weir-dsm: $name started 2 processes, but .* counts 1: the program's MPI is not the launcher's" out ||
      bad "a program of $program by $launcher, $when"
  done
done
exit "$failed"
