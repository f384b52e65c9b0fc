#!/usr/bin/env bash
# A wheel of the Python package, built by pip from the source (in BUILD/wheel, which the next run goes on with) and installed in a venv, where nothing of the build is in sight.
# usage: wheel.sh BUILD PYTHON
set -uo pipefail
here=$(realpath "$(dirname "$0")") build=$(realpath "$1") python=$2
# shellcheck source=tests/dsm/launchers.sh
. "$here/../launchers.sh"
fail() { echo "wheel: $*" >&2; [ ! -s log ] || tail -n 30 log >&2; exit 1; }
command -v ccache >/dev/null && export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache

"$python" -m venv venv >log 2>&1 || fail "no venv (tools/setup python)"
venv/bin/python -m pip wheel --no-deps -w wheels --config-settings=build-dir="$build/wheel" "$here/../../../bindings/python" >log 2>&1 || fail "pip wheel"
wheel=$(ls wheels/weir_dsm-*.whl) || fail "no wheel"
"$python" -m zipfile -l "$wheel" >names
for name in __init__.py run.py lib/libweir-dsm.so.0 lib/libweir-region.so.0 lib/libweir-dsm-openmpi.so lib/libweir-dsm-mpich.so bin/weir-dsm-run bin/weir-dsm-report; do
  grep -q "weir_dsm/$name " names || fail "the wheel has no $name: $(cat names)"
done
venv/bin/python -m pip install "$wheel" >log 2>&1 || fail "pip install"
unset PYTHONPATH LD_LIBRARY_PATH
"$python" -c 'import zipfile, sys; zipfile.ZipFile(sys.argv[1]).extractall("unpacked")' "$wheel"
grep -rlF "$build/lib" unpacked && fail "these name the build folder"

cp "$here/arrays.py" .
for start in "venv/bin/python" "mpirun.openmpi -n 2 venv/bin/python" "mpirun.mpich -n 3 venv/bin/python" "venv/bin/python -m weir_dsm.run -n 2"; do
  # shellcheck disable=SC2086
  timeout -k 5 60 $start arrays.py >out 2>&1 && grep -q "^python: .* well$" out || bad "$start: status $?"
done
timeout -k 5 60 venv/bin/python -m weir_dsm.run -n 2 --report page.html arrays.py >out 2>&1 && [ -s page.html ] || bad "no page"
exit "$failed"
