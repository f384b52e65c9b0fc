#!/usr/bin/env bash
# Random programs (random.cc) under each MPI and each protocol, with tapes off, called and automatic, and with garbage collected often and never.
# usage: random.sh BUILD [SEEDS [FIRST_SEED]]: SEEDS for each of the 36 (default 6)
set -uo pipefail

program=$(realpath "$1")/bin/dsm_random
seeds=${2:-6} first=${3:-1}
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  for protocol in lrc hlrc sc; do
    for tapes in off called auto; do
      for collect in 64K 1G; do
        nodes=$((first / seeds % 3 + 2))
        WEIR_DSM_PROTOCOL=$protocol WEIR_DSM_TAPES=$tapes WEIR_DSM_COLLECT=$collect \
          timeout -k 5 $((60 + seeds)) "$mpirun" -n "$nodes" "$program" "$first" "$seeds" > out 2>&1 && grep -q '^random: well$' out ||
          bad "WEIR_DSM_PROTOCOL=$protocol WEIR_DSM_TAPES=$tapes WEIR_DSM_COLLECT=$collect $mpirun -n $nodes dsm_random $first $seeds"
        first=$((first + seeds))
      done
    done
  done
done
[ "$failed" = 0 ] && echo "random: well, seeds ${3:-1} to $((first - 1))"
exit "$failed"
