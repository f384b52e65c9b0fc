#!/usr/bin/env bash
# The Python package of the build: each part of it, alone and on several nodes under each MPI; how it starts; what it says when a node fails.
# usage: python.sh BUILD PYTHON
set -uo pipefail
here=$(realpath "$(dirname "$0")") build=$(realpath "$1") python=$2
# shellcheck source=tests/dsm/launchers.sh
. "$here/../launchers.sh"
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1

# run NODES COMMAND...: it says that all is well.
run() {
  local nodes=$1 status
  shift
  timeout -k 5 60 "$@" > out 2>&1
  status=$?
  [ "$status" = 0 ] && grep -q "^python: $nodes nodes: well$" out && return
  bad "$*: status $status"
}

run 1 "$python" "$here/arrays.py"
mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  mkdir "$mpirun"
  run 3 "$mpirun" -n 3 "$python" "$here/arrays.py" "$mpirun"
  run 2 "$mpirun" -n 2 "$python" "$here/arrays.py" "$mpirun" again
  run 2 env WEIR_DSM_THREADS=2 WEIR_DSM_TAPES=auto "$mpirun" -n 2 "$python" "$here/arrays.py"
done
run 4 "$python" -m weir_dsm.run -n 4 "$here/arrays.py"

# fails PATTERN PROGRAM: on two nodes; each node names it, and nobody waits.
fails() {
  printf 'import weir_dsm as dsm\nimport faulthandler\ndsm.start()\nme = dsm.node()\n%s\ndsm.barrier(1)\n' "$2" > fails.py
  timeout -k 5 30 mpirun.openmpi -n 2 "$python" fails.py > out 2>&1
  local status=$?
  [ "$status" != 0 ] && [ "$status" != 124 ] && grep -q -- "$1" out || bad "status $status, no \"$1\": $2"
}
fails 'node 0 ends because node 1 failed: a Python exception: ValueError: bad input (.*fails.py:5)' 'if me == 1: raise ValueError("bad input")'
fails 'node 1 ends because node 0 failed: a Python exception: KeyError: 7 ' 'import threading
if me == 0: threading.Thread(target=lambda: {}[7]).start()'
fails 'a Python exception: ZeroDivisionError' 'dsm.run(lambda worker, workers: 1 // worker)'
fails 'node [01] waits at' 'import sys
if me == 1: sys.exit(3)'
fails 'in freed, which was freed' 'a = dsm.local(4096, name="freed") if me == 0 else None
if me == 0: dsm.free(a); a[7] = 1'
fails 'an array of shape (101,), float64, order C on node 1, while node 0 has (100,), float64, order C' 'dsm.array(100 + me)'
fails 'an array of shape (9,), float32, order C on node 1, while node 0 has (9,), float64, order C' 'dsm.array(9, "f4" if me == 1 else "f8")'
fails 'no room for' 'dsm.array(1 << 38, "u1")'

# What is installed finds its libraries, wherever it is moved.
for component in region dsm python; do
  cmake --install "$build" --prefix there --component "$component" > out 2>&1 || bad "cmake --install"
done
mv there moved
package=$(find moved -name _core.\*.so)
readelf -SW "$package" | grep ' \.debug_info ' > /dev/null && bad "$package is not stripped"
PYTHONPATH=$(realpath "$(dirname "$package")/..")
run 2 mpirun.openmpi -n 2 "$python" "$here/arrays.py"
run 2 "$python" -m weir_dsm.run -n 2 "$here/arrays.py"
exit "$failed"
