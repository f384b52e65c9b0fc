#!/usr/bin/env bash
# All of Weir by another compiler: public headers, libweir.so and every other source compile without a warning; libweir.so keeps the
# rules of src/LAYERS, and programs run under it. The command and the programs are those of BUILD; what is compiled lies in
# BUILD/by-COMPILER.
# usage: compilers.sh BUILD COMPILER [PROGRAM...]     COMPILER: clang-19, gcc-13, ...; clang is that of tests/clang
#        compilers.sh BUILD all                       each that tools/packages lists (`compilers`) and this release has; installs
#                                                     them, and builds what it needs in BUILD
set -uo pipefail
tests=$(cd "$(dirname "$0")" && pwd)
fail() { echo "compilers: $*" >&2; exit 1; }
build=$1 compiler=$2
shift 2
programs=("$@")
[ $# -gt 0 ] || programs=(racey mutex_counter cancel_blocked signal_timers crash_kinds fork_in_thread std_future registers_kept heap_churn
                          vector_convergence)

if [ "$compiler" = all ]; then
  "$tests/../tools/setup" && "$tests/../tools/setup" compilers || exit 1
  cmake -S "$tests/.." --preset release -B "$build" -Wno-dev >/dev/null &&
    cmake --build "$build" --target weir weir_preload "${programs[@]/#/test_}" || fail "$build: it does not build"
  done=()
  for name in $(sed -n 's/^compilers: *//p' "$tests/../tools/packages" | tr ' |' '\n\n' | grep -E '^(gcc|clang)-'); do
    command -v "$name" >/dev/null || continue  # tools/setup would have failed if the release had it
    "$0" "$build" "$name" "${programs[@]}" || exit 1
    done+=("$name")
  done
  [ ${#done[@]} -gt 1 ] || fail "only ${done[*]-none} is here"
  echo "compilers: ${done[*]}: right"
  exit 0
fi

build=$(realpath "$build")
[ "$compiler" != clang ] || compiler=$("$tests/clang") || exit 1
case $compiler in
  clang*) cxx=${compiler/clang/clang++} ;;
  *) cxx=${compiler/gcc/g++} ;;
esac
"$tests/headers/run.py" "$compiler" || fail "public headers"

at=$build/by-$compiler
mkdir -p "$at"
cmake -G Ninja -S "$tests/.." -B "$at" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g" -DWEIR_REQUIRE_COMPONENTS=ON >"$at/log" 2>&1 &&
  cmake --build "$at" --target weir_preload -j "$(nproc)" >>"$at/log" 2>&1 || { tail -n 40 "$at/log"; fail "it does not build"; }
for rule in nowhere registers needed; do
  "$tests/layering.py" "$rule" "$at" || fail "a rule of src/LAYERS is broken"
done

run=$at/run
mkdir -p "$run/bin" "$run/lib" "$run/tests"
ln -sfn "$build/tests/programs" "$run/tests/programs"
cp "$build/bin/weir" "$run/bin"  # it looks for its library beside itself
cp "$at/lib/libweir.so" "$run/lib"
for program in "${programs[@]}"; do
  for point in "token isolated" "free direct"; do
    # shellcheck disable=SC2086
    "$tests/run_point.sh" "$run" "$program" $point 3 || fail "$program at $point"
  done
  "$tests/record/program.py" "$run" "$program" || fail "the recording of $program"
done
"$tests/said_of_sources.py" "$at" weir_preload zydis || fail "a source has a warning"
echo "compilers: $compiler: right"
