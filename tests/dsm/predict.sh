#!/usr/bin/env bash
# Runs that are recorded (WEIR_DSM_RECORD), and what weir-dsm-predict makes of them: replayed with as many nodes, it counts what the run has counted.
#   SOR must agree exactly; messages of barriers always, and those of locks, as a replay has them go from node to node as they went in the run.
#   In Gauss and Water it is chance, of microseconds, whether who asks for a diff has a write with it or misses it later. With tapes so few misses are left that a handful is a large
#   part of them; what a tape is asked for is how many it saves, so of Water with tapes they may be off by a fifth of what the run without tapes has.
#   What several writers' diffs amount to in bytes is known roughly.
# usage: predict.sh BUILD
set -uo pipefail
build=$(realpath "$1") bin=$(realpath "$1")/bench/dsm
predict=$build/bin/weir-dsm-predict
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"
launcher=$(mpirun_of_each) || exit
launcher=${launcher%%$'\n'*}

# agrees NAME ROW PERCENT [OF]: of the last table in "out", of what was counted or of OF; a difference of one is none.
agrees() {
  awk -v row="$2" -v percent="$3" -v of="${4:-0}" '
    $1 == row && NF >= 4 { found = 1; off = $2 > $3 ? $2 - $3 : $3 - $2; bad = off > 1 && off * 100 > percent * (of ? of : $3) || percent == 0 && off > 0 }
    END { exit !found || bad }' out || bad "$1: $2 do not agree within $3 %${4:+ of $4}"
}
# counted ROW: in the run.
counted() { awk -v row="$1" '$1 == row && NF >= 4 { print $3 }' out; }
# record NAME NODES COMMAND...: into the folder NAME
record() {
  local name=$1 nodes=$2
  shift 2
  WEIR_DSM_RECORD=$name timeout 60 "$launcher" -n "$nodes" "$@" > out 2>&1 || bad "$name: status $?"
}
# check NAME NODES MISSES MESSAGES BYTES COMMAND...: the three in per cent
check() {
  local name=$1 nodes=$2 misses=$3 messages=$4 bytes=$5
  shift 5
  record "$name" "$nodes" "$@"
  timeout 60 "$predict" validate --fit "$name" > out 2>&1 || bad "$name: weir-dsm-predict, status $?"
  agrees "$name" misses "$misses" "${of:-}"
  agrees "$name" messages "$messages"
  agrees "$name" bytes "$bytes"
  agrees "$name" barrier 0
  agrees "$name" lock 0
}

for nodes in 2 4; do
  for tapes in none all; do
    check "sor-$nodes-$tapes" "$nodes" 0 0 3 "$bin/sor" --small --tapes $tapes
  done
  check "water-$nodes-none" "$nodes" 20 15 30 "$bin/water-nsquared" --small
  of=$(counted misses) check "water-$nodes-all" "$nodes" 20 15 30 "$bin/water-nsquared" --small --tapes all
  check "gauss-$nodes-none" "$nodes" 2 2 10 "$bin/gauss" --small
  check "gauss-$nodes-all" "$nodes" 10 10 25 "$bin/gauss" --small --tapes all
  # A node that fetches late, on a busy machine, gets what others have flushed for the next barrier, and then has no miss there.
  WEIR_DSM_PROTOCOL=hlrc check "hlrc-$nodes" "$nodes" 10 5 8 "$bin/sor" --small
done
check barnes 4 5 5 8 "$bin/barnes" --small
check mm 4 5 5 8 "$bin/mm" --small --tapes all
WEIR_DSM_THREADS=2 check threads 2 0 0 3 "$bin/sor" --small

# More nodes than were recorded, from what was recorded on the fewest; and the question where more do not help.
timeout 60 "$predict" validate sor-2-none sor-4-none > out 2>&1 || bad "4 nodes from 2: status $?"
grep -q '4 nodes, from sor-2-none with 2' out || bad "4 nodes from 2: not said"
agrees "4 nodes from 2" misses 15
agrees "4 nodes from 2" messages 15
timeout 60 "$predict" scale sor-2-none --nodes 64 --network 10gbe --protocol lrc,hlrc,sc --tapes none,replay > out 2>&1 || bad "scale: status $?"
[ "$(grep -c '^More nodes ' out)" = 5 ] || bad "scale: it does not say five times where more nodes stop to help"

# What cannot be recorded is refused.
WEIR_DSM_PROTOCOL=sc WEIR_DSM_RECORD=sc timeout 60 "$launcher" -n 2 "$bin/sor" --small > out 2>&1 && bad "sc was recorded"
grep -q 'WEIR_DSM_RECORD with WEIR_DSM_PROTOCOL=sc' out || bad "sc: no reason"
WEIR_DSM_RECORD=/proc/nowhere timeout 60 "$launcher" -n 2 "$bin/sor" --small > out 2>&1 && bad "it was recorded nowhere"
grep -q 'nothing can be recorded: /proc/nowhere/node-' out || bad "nowhere: no reason"
rm sor-4-none/node-3
"$predict" validate sor-4-none > out 2>&1 && bad "a recording without a node was read"
grep -q 'sor-4-none/node-3: No such file' out || bad "a node lacks: no reason"
exit "$failed"
