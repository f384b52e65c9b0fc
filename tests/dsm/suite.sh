#!/usr/bin/env bash
# libweir-dsm alone, and each of its tests by both MPIs: for a machine whose MPIs are others than the usual ones (tests/fresh.cmake). Builds no more
# of the project than that.
# usage: tests/dsm/suite.sh [CTEST OPTION...]
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/setup build dsm python fortran test page
cmake --preset release -Wno-dev -DWEIR_REQUIRE_COMPONENTS=ON \
  -DWEIR_REGION=ON -DWEIR_DSM=ON -DWEIR_PYTHON=ON -DWEIR_FORTRAN=ON -DWEIR_BENCH=ON -DWEIR_TESTS=ON >/dev/null
cmake --build --preset release -j "$(nproc)" --target tests/dsm/all bench/dsm/all bindings/all examples/dsm/all src/dsm/commands/all \
  src/dsm/predict/all dsm_unit_tests fuzz_dsm weir_dsm_completions weir_dsm_manual | tail -n 1
mpirun.openmpi --version | sed -n 1p
mpirun.mpich --version | sed -n 's/^ *Version: */MPICH /p'
# Wheels are made by pip, which has a network of its own in mind: `./check --all` has them.
ctest --test-dir build/release --output-on-failure --no-tests=error -L '^dsm$' -E '^dsm[.]python[.]wheel$' -j "$(($(nproc) + 1))" --timeout 300 "$@"
