#!/usr/bin/env bash
# Runs one test program under several schedules of Order serial, each as often as it needs to be the same.
# usage: serial_point.sh BUILD PROGRAM
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/run_point.sh" "$1" "$2" serial direct 2 || exit 1
for schedule in w1:random:seed=1,p=0.0005 w1:random:seed=2,p=0.003 w1:pct:seed=3,length=3000 w1:pb:seed=4,length=300; do
  SCHEDULE=$schedule "$here/run_point.sh" "$1" "$2" serial direct 2 || { echo "schedule: $schedule"; exit 1; }
done
