#!/usr/bin/env bash
# libweir.so by another compiler: it is built without a warning, keeps the rules of src/LAYERS, and programs run under it.
# The command and the programs are those of BUILD; what is compiled lies in BUILD/by-COMPILER.
# usage: compilers.sh BUILD COMPILER [PROGRAM...]     COMPILER: clang-19, gcc-13, ...; clang is that of tests/clang
set -uo pipefail
build=$(realpath "$1") compiler=$2
shift 2
tests=$(cd "$(dirname "$0")" && pwd)
fail() { echo "compilers: $*" >&2; exit 1; }
[ "$compiler" != clang ] || compiler=$("$tests/clang") || exit 1
case $compiler in
  clang*) cxx=${compiler/clang/clang++} ;;
  *) cxx=${compiler/gcc/g++} ;;
esac
programs=("$@")
[ $# -gt 0 ] || programs=(racey mutex_counter cancel_blocked signal_timers crash_kinds fork_in_thread std_future registers_kept heap_churn
                          vector_convergence)

at=$build/by-$compiler
options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g"
         -DWEIR_TESTS=OFF -DWEIR_BENCH=OFF -DWEIR_REGION=OFF -DWEIR_DSM=OFF)
mkdir -p "$at"
cmake -G Ninja -S "$tests/.." -B "$at" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_CXX_COMPILER="$cxx" "${options[@]}" >"$at/log" 2>&1 &&
  cmake --build "$at" --target weir_preload -j "$(nproc)" >>"$at/log" 2>&1 || { tail -n 40 "$at/log"; fail "it does not build"; }
for rule in nowhere registers needed; do
  "$tests/layering.py" "$rule" "$at" || fail "a rule of src/LAYERS is broken"
done

mkdir -p "$at/bin" "$at/tests"
ln -sfn "$build/tests/programs" "$at/tests/programs"
cp "$build/bin/weir" "$at/bin/weir"  # it looks for its library beside itself
for program in "${programs[@]}"; do
  for point in "token isolated" "free direct"; do
    # shellcheck disable=SC2086
    "$tests/run_point.sh" "$at" "$program" $point 3 || fail "$program at $point"
  done
  "$tests/record/program.py" "$at" "$program" || fail "the recording of $program"
done
echo "compilers: $compiler: right"
