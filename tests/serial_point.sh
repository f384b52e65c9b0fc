#!/usr/bin/env bash
# Runs one test program under several schedules of Order serial, each as often as it needs to be the same.
# usage: serial_point.sh BUILD PROGRAM [guarded]     guarded: under --heap guard, two schedules
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if line=$(grep -E "^$2 *\|" "$here/serial/EXCEPT"); then
  words=${line#*| }
  timeout -k 2 60 "$1/bin/weir" run --order serial -- "$1/tests/programs/$2" >/dev/null 2>err.$$ </dev/null &&
    { rm -f err.$$; echo "$2: ended well; take it out of serial/EXCEPT"; exit 1; }
  said=$(cat err.$$)
  rm -f err.$$
  [[ $said == *"$words"* ]] || { echo "$2: no word of '$words': $said"; exit 1; }
  echo "$2: refused by name"
  exit 0
fi
# Virtual time, which Order serial has unless told otherwise, is one clock for all threads, processor time too (docs/LIMITS.md).
[ "$2" = cpu_clocks ] && export OPTIONS="--virtual random"
# A thread that is cancelled in a system call runs no destructors there (docs/LIMITS.md): only the ending is compared.
[ "$2" = cancel_unwinds ] && export ONLY_ENDING=1
if [ "${3:-}" = guarded ]; then
  export OPTIONS="${OPTIONS:-} --heap guard"
  "$here/run_point.sh" "$1" "$2" serial direct 1 || exit 1
  SCHEDULE=w3:random:seed=1,p=0.0005 exec "$here/run_point.sh" "$1" "$2" serial direct 1
fi
"$here/run_point.sh" "$1" "$2" serial direct 2 || exit 1
for schedule in w3:random:seed=1,p=0.0005 w3:random:seed=2,p=0.003 w3:pct:seed=3,length=3000 w3:pb:seed=4,length=300; do
  SCHEDULE=$schedule "$here/run_point.sh" "$1" "$2" serial direct 2 || { echo "schedule: $schedule"; exit 1; }
done
