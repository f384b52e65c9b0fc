#!/usr/bin/env bash
# The transport under both MPIs, over shared memory and TCP, with few and with many threads; and launchers that do not fit.
# usage: transport.sh BUILD
set -uo pipefail

ping=$(realpath "$1")/bin/dsm_ping
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

timeout 60 "$ping" > out 2>&1 && grep -q '^ping: 1 nodes, 2 threads: well$' out || bad "alone"
mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  for nodes in 1 2 4; do
    for networks in all tcp,self; do
      for threads in 1 3 16; do
        UCX_TLS=$networks timeout -k 5 120 "$mpirun" -n "$nodes" "$ping" --threads "$threads" > out 2>&1 || bad "$mpirun -n $nodes, $networks, $threads threads: status $?"
        grep -q "^ping: $nodes nodes, $threads threads: well$" out || bad "$mpirun -n $nodes, $networks, $threads threads"
      done
    done
  done
  # All through one worker.
  WEIR_DSM_CHANNELS=1 timeout -k 5 120 "$mpirun" -n 2 "$ping" --threads 8 > out 2>&1 || bad "$mpirun, one channel: status $?"
  WEIR_DSM_SPIN=0 timeout -k 5 120 "$mpirun" -n 2 "$ping" --threads 8 > out 2>&1 || bad "$mpirun, no spinning: status $?"
done

# message PATTERN: the last run is to have ended with 125 and to have said so.
message() {
  local status=$?
  [ "$status" = 125 ] || bad "status $status: $1"
  grep -qE "^weir-dsm: .*$1" out || bad "not said: $1"
}
WEIR_DSM_MPI=openmpi timeout 60 mpirun.mpich -n 2 "$ping" > out 2>&1
message "MPICH's mpirun started 2 processes, but Open MPI .* counts 1"
WEIR_DSM_MPI=mpich timeout 60 mpirun.openmpi -n 2 "$ping" > out 2>&1
message "Open MPI's mpirun started 2 processes, but MPICH .* counts 1"
WEIR_DSM_MPI=lam timeout 60 "$ping" > out 2>&1
message 'WEIR_DSM_MPI is "lam"'
SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 timeout 60 "$ping" > out 2>&1
message 'srun started 4 processes without a way to find each other'
# A program alone, without its modules.
cp "$ping" alone
OMPI_COMM_WORLD_SIZE=2 timeout 60 ./alone > out 2>&1
message 'there is no module for that MPI'
[ "$failed" = 0 ] && echo "transport: well"
exit "$failed"
