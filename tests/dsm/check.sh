#!/usr/bin/env bash
# WEIR_DSM_CHECK=1: a race is told once, by lines, and the job ends with 66; a program without one is not accused, nor is any application of bench/dsm.
# usage: check.sh BUILD
set -uo pipefail
program=$(realpath "$1")/bin/dsm_race bench=$(realpath "$1")/bench/dsm
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"
export WEIR_DSM_CHECK=1
line=$(grep -n 'board.count\[1\]++' "$(dirname "$0")/race.cc" | cut -d: -f1)

# run STATUS COMMAND...
run() {
  local wanted=$1
  shift
  timeout -k 5 60 "$@" > out 2>&1
  local status=$?
  [ "$status" = "$wanted" ] || bad "$*: status $status instead of $wanted"
}

mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  run 66 "$mpirun" -n 3 "$program"
  [ "$(grep -c '^weir-dsm: race: 1 byte at .*, offset 8 in 32 bytes of memory allocated at race.cc:[0-9]* in main, changed by two nodes without order$' out)" = 1 ] || bad "$mpirun: it is not told once"
  [ "$(grep -c "first write to the unit in that interval: race.cc:$line in work\$" out)" = 2 ] || bad "$mpirun: the lines are not told"
  grep -q '^weir-dsm: 1 race; in all [1-9][0-9]* pairs of intervals$' out || bad "$mpirun: no summary"
  # Open MPI's launcher ends the others as soon as one has ended with 66, unless it is told not to; then its own status is 0.
  timeout 60 env OMPI_MCA_orte_abort_on_non_zero_status=0 "$mpirun" -n 3 "$program" > out 2>&1
  # MPICH may put the ends of two nodes on one line.
  [ "$(grep -o done out | wc -l)" = 3 ] || bad "$mpirun: not all nodes came to their end"
  run 3 "$mpirun" -n 2 "$program" 3
  run 0 "$mpirun" -n 3 "$program" --locked
  grep -q '^weir-dsm: no races$' out || bad "$mpirun: no word that none was found"
  run 0 env WEIR_DSM_CHECK=0 "$mpirun" -n 2 "$program"
done
run 0 "$program"
# No symbolizer: file and offset.
run 66 "${mpiruns%%$'\n'*}" -n 2 env PATH=/nowhere "$program"
grep -q 'first write to the unit in that interval: dsm_race+0x[0-9a-f]*$' out || bad "without a symbolizer"

launch=("${mpiruns%%$'\n'*}" -n 4)
for application in sor tsp gauss quicksort water-nsquared water-spatial barnes lu floyd is mm; do
  for tapes in none all; do
    run 0 "${launch[@]}" "$bench/$application" --small --tapes $tapes
    grep -q '"result": *"right"' out || bad "$application, tapes $tapes"
  done
done
exit "$failed"
