#!/usr/bin/env bash
# An exception of C++ that leaves one node is named with its text by each node, and the job ends at once (exceptions.cc); Python's faulthandler, enabled after the start, hides no fault of shared memory.
# usage: exceptions.sh BUILD
set -uo pipefail

build=$(realpath "$1") program=$(realpath "$1")/bin/dsm_exceptions
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

# named WHERE TEXT COMMAND...
named() {
  local where=$1 text=$2 status start=$SECONDS
  shift 2
  timeout -k 5 40 "$@" "$program" "$where" > out 2>&1
  status=$?
  [ "$status" != 0 ] && [ "$status" != 124 ] || loses_status "$1" "$status" || bad "$* $where: status $status"
  [ $((SECONDS - start)) -le 15 ] || bad "$* $where: it took $((SECONDS - start)) s"
  grep -qE "^weir-dsm: node [0-9]: an exception $text" out || bad "$* $where: not said: $text"
  ! grep -qE "waits at" out || bad "$* $where: the wrong reason is given"
}

mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  two=("$mpirun" -n 2)
  named scope 'leaves the session: input file missing \(std::runtime_error\)$' "${two[@]}"
  grep -q '^weir-dsm: node 0 ends because node 1 failed: an exception leaves the session: input file missing' out ||
    [ "${mpirun##*.}" = mpich ] || bad "$mpirun: node 0 does not say it"
  named all 'leaves the session: on all nodes' "${two[@]}"
  named plain 'leaves the session: \(anonymous namespace\)::NoStandardException$' "${two[@]}"
  named inside 'leaves the session: outside \(std::runtime_error\)$' "${two[@]}"
  named rethrown 'leaves the session: first \(std::out_of_range\)$' "${two[@]}"
  named future 'leaves the session: in another thread \(std::range_error\)$' "${two[@]}"
  named locked 'leaves the session: in the lock' "${two[@]}"
  named vector 'leaves the scope of a shared_vector: with a vector alive' "${two[@]}"
  named semaphore 'leaves the session: before the post' "${two[@]}"
  named body 'leaves the body of run: bad cell' "${two[@]}"
  WEIR_DSM_THREADS=2 named body 'leaves the body of run: bad cell' "${two[@]}"
  named uncaught 'that nobody catches: nobody catches \(std::runtime_error\)$' "${two[@]}"
done
# One node alone keeps nobody waiting.
timeout 20 "$program" scope > out 2>&1
[ $? = 3 ] && grep -q '^caught: input file missing$' out || bad "alone: not caught"

cat > faults.py <<'END'
import ctypes, faulthandler, sys
dsm = ctypes.CDLL(sys.argv[1])
dsm.weir_dsm_alloc.restype = ctypes.c_void_p
dsm.weir_dsm_start(None, None)
faulthandler.enable()
me, nodes = dsm.weir_dsm_node(), dsm.weir_dsm_nodes()
place = ctypes.c_void_p(dsm.weir_dsm_alloc(65536) if me == 0 else None)
dsm.weir_dsm_share(ctypes.byref(place), 8, 0)
values = (ctypes.c_long * 8192).from_address(place.value)
for step in range(6):
    if step % nodes == me:
        values[step * 1000] = step + 1
    dsm.weir_dsm_barrier(0)
    assert values[step * 1000] == step + 1
    dsm.weir_dsm_barrier(1)
dsm.weir_dsm_finish()
faulthandler.enable()
if me == 0:
    print("faults: well", flush=True)
    if len(sys.argv) > 2:
        ctypes.string_at(8)
END
for mpirun in $mpiruns; do
  library=$build/lib/libweir-dsm.so
  timeout -k 5 60 "$mpirun" -n 2 env LD_PRELOAD="$library" python3 faults.py "$library" > out 2>&1 &&
    grep -q '^faults: well$' out || bad "$mpirun: Python's faulthandler"
done
LD_PRELOAD=$library timeout 60 python3 faults.py "$library" crash > out 2>&1
[ $? = 139 ] && grep -q '^Fatal Python error: Segmentation fault' out || bad "a fault of Python's own"
# Without LD_PRELOAD that is said.
sed -i 's/^faulthandler.enable()$//' faults.py
timeout 60 python3 faults.py "$library" > out 2>&1 && grep -q '^faults: well$' out &&
  grep -q '^weir-dsm: libweir-dsm was loaded by dlopen: ' out || bad "loaded by dlopen"
exit "$failed"
