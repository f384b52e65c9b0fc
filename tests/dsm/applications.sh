#!/usr/bin/env bash
# Each application of bench/dsm on four nodes, under each protocol, without and with tapes: its result is the sequential one.
# usage: applications.sh BUILD [APPLICATION...]     with WEIR_TEST_MPI: every second case, others for the next application
set -uo pipefail
bin=$(realpath "$1")/bench/dsm
shift
launch=(mpirun.openmpi -n 4)
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"
applications=("$@")
[ $# -gt 0 ] || applications=(sor tsp gauss quicksort water-nsquared water-spatial barnes lu floyd is mm)
number=0
try() {  # NAME COMMAND...
  local name=$1 status
  shift
  number=$((number + 1))
  [ -z "${WEIR_TEST_MPI-}" ] || [ $((number % 2)) = 0 ] || return 0
  timeout 60 "$@" > out 2>&1
  status=$?
  [ "$status" = 0 ] && grep -q '"result": *"right"' out || bad "$name: status $status"
}
for application in "${applications[@]}"; do
  for protocol in lrc hlrc sc; do
    for tapes in none all; do
      try "$application $protocol $tapes" env WEIR_DSM_PROTOCOL=$protocol "${launch[@]}" "$bin/$application" --small --tapes $tapes
    done
  done
  try "$application automatic" env WEIR_DSM_TAPES=auto "${launch[@]}" "$bin/$application" --small --tapes none
done
# The other MPI, the units of the region paper, several threads a node.
for application in "${applications[@]}"; do
  case $application in
    mm | sor | lu | floyd | is | tsp)
      for unit in region annotated; do
        try "$application by $unit" "${launch[@]}" "$bin/$application" --small --unit $unit
      done ;;
    *) try "$application, two threads a node" env WEIR_DSM_THREADS=2 mpirun.mpich -n 2 "$bin/$application" --small --tapes all ;;
  esac
done
exit "$failed"
