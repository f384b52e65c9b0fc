#!/usr/bin/env bash
# Installs a library in a folder of its own and builds programs with what lies there: in C by pkg-config, in C++ by find_package, and without the library's
# source in sight.
# usage: install.sh BUILD region|dsm
set -euo pipefail
build=$(realpath "$1") library=$2
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/dsm/launchers.sh"
fail() { echo "install: $*" >&2; exit 1; }

cmake --install "$build" --prefix there --component region >log || fail "cmake --install: $(cat log)"
[ "$library" = region ] || cmake --install "$build" --prefix there --component "$library" >log || fail "cmake --install: $(cat log)"
mv there moved  # what was installed may be moved
pc=$(find "$work/moved" -name "weir-$library.pc")
[ -n "$pc" ] || fail "no pkg-config file"
folder=$(dirname "$(find "$work/moved" -name "libweir-$library.so")")

mkdir project
cat >project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(Uses CXX)
find_package(Weir REQUIRED)
add_executable(uses uses.cc)
target_link_libraries(uses PRIVATE Weir::$library)
END

if [ "$library" = region ]; then
  needed=$(readelf -dW "$folder/libweir-region.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
  [ "$needed" = libc.so.6 ] || fail "libweir-region.so needs $needed"
  expected="1 trap, 3"
  cat >program.c <<'END'
#include <stdio.h>
#include <weir/region.h>
static volatile int traps;
static void on_trap(weir_region_trap *trap) {
  traps++;
  weir_region_protect(trap->start, PROT_READ | PROT_WRITE);
}
static int *volatile p;
int main(void) {
  weir_region_alloc(sizeof *p, (void *)&p, on_trap);
  weir_region_protect(p, PROT_NONE);
  *p = 3;
  printf("%d trap, %d\n", traps, *p);
}
END
  cat >project/uses.cc <<'END'
#include <weir/region.hpp>
int main() {
  auto p = weir::make_region<int>(5);
  weir_region_handler(p.open(), [](weir_region_trap* trap) { weir_region_protect(trap->start, PROT_READ); }, nullptr);
  weir_region_protect(p.open(), PROT_NONE);
  return *p == 5 ? 0 : 1;
}
END
else
  expected="1 of 1: 7"
  cat >program.c <<'END'
#include <stdio.h>
#include <weir/dsm.h>
int main(int argc, char **argv) {
  int *shared = NULL;
  weir_dsm_start(&argc, &argv);
  const unsigned node = weir_dsm_node(), nodes = weir_dsm_nodes();
  if (node == 0) shared = weir_dsm_alloc(sizeof *shared);
  weir_dsm_share(&shared, sizeof shared, 0);
  if (node == nodes - 1) *shared = 7;
  weir_dsm_barrier(0);
  if (node == 0) printf("%u of %u: %d\n", node + 1, nodes, *shared);
  weir_dsm_finish();
}
END
  cat >project/uses.cc <<'END'
#include <weir/dsm.hpp>
#include <weir/tape.hpp>
int main(int argc, char** argv) {
  weir::dsm::session session(argc, argv);
  weir::dsm::shared_vector<int> values(1000);
  if (session.node() == 0) values[999] = 5;
  weir::dsm::barrier(0).replay();
  return values[999] == 5 ? 0 : 1;
}
END
fi

flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs "weir-$library") || fail "pkg-config (tools/setup test)"
# shellcheck disable=SC2086
gcc -std=c11 -O2 -Wall -Wextra -Werror program.c $flags -o program || fail "the C program does not build"
export LD_LIBRARY_PATH=$folder
answer=$(./program 2>&1) || answer="status $?: $answer"
[ "$answer" = "$expected" ] || fail "the C program answers: $answer"

cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$work/moved" >log 2>&1 && cmake --build project/build >>log 2>&1 || fail "the C++ project does not build: $(cat log)"
(unset LD_LIBRARY_PATH; project/build/uses) || fail "the C++ program failed"

if [ "$library" = dsm ]; then
  "$work"/moved/bin/weir-dsm-predict --help >log || fail "weir-dsm-predict: $(cat log)"
  launchers=$(mpirun_of_each)
  for launcher in $launchers; do
    answer=$(timeout 60 $launcher -n 2 ./program 2>&1) || answer="status $?: $answer"
    [ "$answer" = "1 of 2: 7" ] || fail "under $launcher the C program answers: $answer"
    (unset LD_LIBRARY_PATH; timeout 60 $launcher -n 2 project/build/uses) || fail "under $launcher the C++ program failed"
  done
fi
echo "install: right"
