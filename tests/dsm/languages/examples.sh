#!/usr/bin/env bash
# The programs of examples/dsm in each language, and bench/dsm/compare's: each prints what another way of computing says, on
# one node and on several.
# usage: examples.sh BUILD PYTHON|- [fortran]
set -uo pipefail
here=$(realpath "$(dirname "$0")") build=$(realpath "$1") python=$2 fortran=${3-}
examples=$here/../../../examples/dsm
# shellcheck source=tests/dsm/launchers.sh
. "$here/../launchers.sh"
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=3

# prints EXPECTED COMMAND...
prints() {
  local expected=$1 status
  shift
  timeout -k 5 60 "$@" > out 2> errors
  status=$?
  [ "$status" = 0 ] && [ "$(cat out)" = "$expected" ] && return
  cat errors >> out
  bad "$*: status $status, not \"$expected\""
}

for program in "heat 40 30" "kmeans 3000" "bfs 5000" "histogram 100001" "cg 2000" "tasks 8"; do
  read -ra words <<< "$program"
  name=${words[0]} arguments=("${words[@]:1}")
  expected=$(python3 "$here/expected.py" "${words[@]}") || exit 1
  for language in "" _cc; do
    prints "$expected" "$build/examples/dsm/$name$language" "${arguments[@]}"
    prints "$expected" mpirun.openmpi -n 3 "$build/examples/dsm/$name$language" "${arguments[@]}"
  done
  prints "$expected" env WEIR_DSM_PROTOCOL=hlrc mpirun.mpich -n 4 "$build/examples/dsm/$name" "${arguments[@]}"
  if [ "$python" != - ]; then
    prints "$expected" "$python" "$examples/$name.py" "${arguments[@]}"
    prints "$expected" mpirun.openmpi -n 3 "$python" "$examples/$name.py" "${arguments[@]}"
  fi
  prints "$expected" "$build/bench/dsm/compare/${name}_openmp" "${arguments[@]}"
  prints "$expected" mpirun.openmpi -n 3 "$build/bench/dsm/compare/${name}_mpi" "${arguments[@]}"
done
if [ "$fortran" = fortran ]; then
  expected=$(python3 "$here/expected.py" heat 128 100)
  prints "$expected" mpirun.openmpi -n 3 "$build/examples/dsm/heat_f90"
fi
# A newcomer reads them: none is longer than a page.
wc -l "$examples"/*.c "$examples"/*.cc "$examples"/*.py "$here"/../../../bench/dsm/compare/*.c | awk '$2 != "total" && $1 >= 60' > out
[ ! -s out ] || bad "these have 60 lines or more"
exit "$failed"
