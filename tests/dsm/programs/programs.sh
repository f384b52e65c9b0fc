#!/usr/bin/env bash
# Applications of many kinds, each against its own sequential answer: on two, three and four nodes, under the protocols with several writers,
# with tapes off, called and automatic, and with garbage collected often and never; what else they are given changes from program to program.
# usage: programs.sh BUILD PYTHON|- [ROUNDS]     with WEIR_TEST_MPI: three runs of each a round, else all 18 of each MPI
set -uo pipefail

here=$(realpath "$(dirname "$0")") build=$(realpath "$1") python=$2 rounds=${3:-1}
bin=$build/tests/dsm/programs
# shellcheck source=tests/dsm/launchers.sh
. "$here/../launchers.sh"
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1

# try NAME NODES NAME=VALUE...
try() {
  local name=$1 nodes=$2 program status
  shift 2
  case $name in
    mixed) program=("$bin/mixed_${mpirun##*.}") ;;
    picture | survey) program=("$python" "$here/$name.py") ;;
    *) program=("$bin/$name") ;;
  esac
  timeout -k 5 120 env WEIR_DSM_WAITS=30 "$@" "$mpirun" -n "$nodes" "${program[@]}" > out 2>&1
  status=$?
  [ "$status" = 0 ] && grep -q "^$name: right" out || bad "$mpirun -n $nodes $name $*: status $status"
}

programs=(containers fft index knapsack life mixed multigrid openmp output particles pipeline queens ranks samplesort spmv teams threads
  tides wavefront)
[ -x "$bin/ising" ] && programs+=(ising)
[ "$python" = - ] || programs+=(picture survey)
protocols=(lrc hlrc) all_tapes=(off called auto) collects=(64K 1G)
mpiruns=$(mpirun_of_each) || exit
number=0
for ((round = 0; round < rounds; round++)); do
  for mpirun in $mpiruns; do
    for name in "${programs[@]}"; do
      number=$((number + 1))
      for nodes in 2 3 4; do
        for tapes in 0 1 2; do
          [ -z "${WEIR_TEST_MPI-}" ] || [ $((tapes % 3)) = $(((nodes + number) % 3)) ] || continue
          for protocol in 0 1; do
            [ -z "${WEIR_TEST_MPI-}" ] || [ "$protocol" = $(((number + nodes / 2) % 2)) ] || continue
            try "$name" "$nodes" "WEIR_DSM_PROTOCOL=${protocols[protocol]}" "WEIR_DSM_TAPES=${all_tapes[tapes]}" \
              "WEIR_DSM_COLLECT=${collects[(number + tapes) % 2]}" "WEIR_DSM_THREADS=$(((number + nodes) % 2 + 1))"
          done
        done
      done
    done
  done
done
[ "$failed" = 0 ] && echo "programs: well"
exit "$failed"
