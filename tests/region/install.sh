#!/usr/bin/env bash
# Installs libweir-region in a folder of its own and builds programs with what lies there: in C by pkg-config, in C++ by find_package, and without the library's
# source in sight.
# usage: install.sh BUILD
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "install: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/there" --component region >"$work/log" || fail "cmake --install: $(cat "$work/log")"
mv "$work/there" "$work/moved"  # what was installed may be moved
pc=$(find "$work/moved" -name weir-region.pc)
[ -n "$pc" ] || fail "no pkg-config file"
library=$(dirname "$(find "$work/moved" -name libweir-region.so)")
needed=$(readelf -dW "$library/libweir-region.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
[ "$needed" = libc.so.6 ] || fail "libweir-region.so needs $needed"

cat >"$work/program.c" <<'END'
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
# Flags from the file itself where pkg-config is not installed.
if command -v pkg-config >/dev/null; then
  flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs weir-region)
else
  flags="-I$work/moved/include -L$library -lweir-region"
fi
gcc -std=c11 -O2 -Wall -Wextra -Werror "$work/program.c" $flags -o "$work/program" || fail "the C program does not build"
answer=$(LD_LIBRARY_PATH=$library "$work/program")
[ "$answer" = "1 trap, 3" ] || fail "the C program answers: $answer"

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(Uses CXX)
find_package(Weir REQUIRED)
add_executable(uses uses.cc)
target_link_libraries(uses PRIVATE Weir::region)
END
cat >"$work/project/uses.cc" <<'END'
#include <weir/region.hpp>
int main() {
  auto p = weir::make_region<int>(5);
  weir_region_handler(p.open(), [](weir_region_trap* trap) { weir_region_protect(trap->start, PROT_READ); }, nullptr);
  weir_region_protect(p.open(), PROT_NONE);
  return *p == 5 ? 0 : 1;
}
END
cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$work/moved" >"$work/log" 2>&1 && cmake --build "$work/project/build" >>"$work/log" 2>&1 ||
  fail "the C++ project does not build: $(cat "$work/log")"
"$work/project/build/uses" || fail "the C++ program failed"
echo "install: right"
