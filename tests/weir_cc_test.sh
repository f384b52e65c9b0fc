#!/bin/bash
# weir-cc and weir-c++ do what gcc and g++ do, whatever they are asked for, and give static variables pages of their own.
#
# usage: weir_cc_test.sh BUILD
set -u
bin=$1/bin
clang=$("$(dirname "$0")/clang") || exit 1
for tool in mold ccache; do command -v $tool >/dev/null || { echo "$tool is missing: tools/setup test" >&2; exit 1; }; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset CC CXX WEIR_CC WEIR_CXX CCACHE_DISABLE
export CCACHE_DIR=$folder/ccache
failed=0
fail() { echo "FAILED: $*"; failed=1; }

cat >main.c <<'C'
#include <stdio.h>
extern int shared_value;
int next(void);
static int first, second = 2;
static const int kTable[3] = {1, 2, 3};
int main(int argc, char **argv) {
  static char text[10] = "text";
  first += argc;
  second += argc;
  (void)argv;
  printf("%d %d %d %d %s %d\n", first, second, next(), shared_value, text, kTable[argc]);
  return 0;
}
C
cat >part.c <<'C'
int shared_value = 4;
static __thread int own = 5;
int next(void) {
  static int count;
  return ++count + own++;
}
C
expected="1 3 6 4 text 2"

# program FILE COUNT: it prints what it should, and has so many variables in pages of their own.
program() {
  [ "$(./"$1" 2>&1)" = "$expected" ] || fail "$what: it prints $(./"$1" 2>&1)"
  objects "$1" "$2"
}
objects() {
  local found
  found=$("$bin/weir-cc" --weir-objects "$1" | sed -n 's/.*: \([0-9]*\) variables.*/\1/p')
  [ "$found" = "$2" ] || fail "$what: $found variables in pages of their own, not $2"
  "$bin/weir-cc" --weir-objects "$1" | while read -r address _; do
    case $address in *:) ;; *000) ;; *) fail "$what: a variable at $address" ;; esac
  done
}

# --- whatever the options
while read -r options; do
  what="options $options"
  rm -f program
  # shellcheck disable=SC2086
  "$bin/weir-cc" $options main.c part.c -o program || fail "$what: status $?"
  program program 5
done <<'O'

-O2 -g
-pipe
-no-pie -fno-pic
-static
-save-temps
-fno-data-sections
-fcommon
-ffunction-sections -Wl,--gc-sections
-flto -ffat-lto-objects
-x c
O
what="link-time optimization"
"$bin/weir-cc" -O2 -flto main.c part.c -o program || fail "$what"
[ "$(./program)" = "$expected" ] || fail "$what"
"$bin/weir-cc" --weir-objects program >/dev/null || fail "$what: objects"
what=mold
"$bin/weir-cc" -fuse-ld=mold main.c part.c -o program || fail "$what"
program program 5
what=clang
WEIR_CC=$clang "$bin/weir-cc" main.c part.c -o program || fail "$what"
program program 5

# --- response files, several outputs, steps one by one
what="a response file"
echo '-O1 "main.c" part.c -o program' >words
"$bin/weir-cc" @words || fail "$what"
program program 5
what="several files at once, then linked"
"$bin/weir-cc" -c main.c part.c && "$bin/weir-cc" main.o part.o -o program || fail "$what"
program program 5
what="a static library"
ar rc libpart.a part.o && "$bin/weir-cc" main.c -L. -lpart -o program || fail "$what"
program program 5
what="-S, then assembled"
"$bin/weir-cc" -S main.c part.c && grep -q balign main.s && fail "$what: -S is the compiler's own"
"$bin/weir-cc" -c main.s -o main.o && "$bin/weir-cc" main.o part.o -o program || fail "$what"
program program 5
what="assembly by hand"
printf '\t.data\n\t.globl shared_value\n\t.type shared_value, @object\nshared_value:\t.long 4\nnext_value:\t.long 6\n\t.text\n\t.globl next\nnext:\tmov next_value(%%rip), %%eax\n\tret\n\t.section .note.GNU-stack,"",@progbits\n' >hand.s
"$bin/weir-cc" main.c hand.s -o program || fail "$what"
program program 3
what="-E, -M and -MD"
"$bin/weir-cc" -E part.c | grep -q 'int next' || fail "$what: -E"
"$bin/weir-cc" -M part.c | grep -q '^part.o: part.c' || fail "$what: -M"
"$bin/weir-cc" -MD -c part.c -o elsewhere.o && grep -q part.c elsewhere.d || fail "$what: -MD"
what="standard input"
"$bin/weir-cc" -x c -c - -o part.o <part.c && "$bin/weir-cc" main.o part.o -o program || fail "$what"
program program 5
what="linked into one"
"$bin/weir-cc" -c main.c part.c && "$bin/weir-cc" -r -nostdlib main.o part.o -o both.o && "$bin/weir-cc" both.o -o program || fail "$what"
program program 5
[ "$("$bin/weir-cc" -dumpmachine)" = "$(gcc -dumpmachine)" ] || fail "-dumpmachine"

# --- errors are the compiler's
what=errors
echo 'int main( {' >wrong.c
"$bin/weir-cc" wrong.c -o wrong 2>errors && fail "$what: status 0"
grep -q 'wrong.c:1' errors || fail "$what: $(cat errors)"
"$bin/weir-cc" -c absent.c 2>errors && fail "$what: absent"
grep -q absent.c errors || fail "$what: $(cat errors)"
echo 'int main(void) { __asm__("nonsense"); }' >wrong.c
"$bin/weir-cc" -c wrong.c 2>errors && fail "$what: assembler"
grep -q nonsense errors || fail "$what: $(cat errors)"

# --- a shared library; its variable is the program's where that refers to it
what="a shared library"
"$bin/weir-cc" -fPIC -shared part.c -o libpart.so && "$bin/weir-cc" main.c -L. -lpart -Wl,-rpath,"$folder" -o program || fail "$what"
program program 3
objects libpart.so 2

# --- C++: what several files have in common is one variable, with one entry
what="inline variables"
printf 'inline int common = 3;\ntemplate <class T> struct Of { static T value; };\ntemplate <class T> T Of<T>::value = 1;\ninline int& local() { static int count = 4; return count; }\n' >common.h
printf '#include "common.h"\nint other() { return common++ + Of<int>::value++ + local()++; }\n' >other.cc
printf '#include "common.h"\n#include <cstdio>\nint other();\nint main() { other(); std::printf("%%d %%d %%d\\n", common, Of<int>::value, local()); }\n' >main.cc
expected="4 2 5"
"$bin/weir-c++" -std=c++17 main.cc other.cc -o program || fail "$what"
program program 3

# --- whose compiler
what="the user's compiler"
printf '#!/bin/sh\necho "called with $#" >>%s/calls\nexec gcc "$@"\n' "$folder" >mine
chmod +x mine
expected="1 3 6 4 text 2"
CC=./mine "$bin/weir-cc" main.c part.c -o program && grep -q called calls || fail "$what: CC"
program program 5
what="CC is weir-cc itself"
CC="$bin/weir-cc" "$bin/weir-cc" main.c part.c -o program || fail "$what"
program program 5
what="no such compiler"
WEIR_CC=no-such-compiler "$bin/weir-cc" main.c part.c -o program 2>errors && fail "$what: status 0"
grep -q no-such-compiler errors || fail "$what: $(cat errors)"
what="ccache in front, twice"
for _ in 1 2; do
  rm -f main.o part.o
  ccache "$bin/weir-cc" -c main.c && ccache "$bin/weir-cc" -c part.c && "$bin/weir-cc" main.o part.o -o program || fail "$what"
  program program 5
done
what="ccache behind"
CC="ccache gcc" "$bin/weir-cc" -c main.c && CC="ccache gcc" "$bin/weir-cc" main.o part.o -o program || fail "$what"
program program 5

# --- CMake's compiler
what=CMake
mkdir -p project && cp main.c part.c project && printf 'cmake_minimum_required(VERSION 3.20)\nproject(p C CXX)\nadd_library(part SHARED part.c)\nadd_executable(program main.c)\ntarget_link_libraries(program part)\n' >project/CMakeLists.txt
cmake -S project -B built -DCMAKE_C_COMPILER="$bin/weir-cc" -DCMAKE_CXX_COMPILER="$bin/weir-c++" >cmake.log 2>&1 && cmake --build built >>cmake.log 2>&1 || fail "$what: $(cat cmake.log)"
cp built/program program && program program 3

# --- what it costs is told: 600 variables of 4 bytes, a page each
what="many variables"
for ((i = 0; i < 600; i++)); do echo "int variable_$i = $i;"; done >many.c
echo 'int main(void) { return 0; }' >>many.c
"$bin/weir-cc" many.c -o many || fail "$what"
"$bin/weir-cc" --weir-objects many | grep -q ': 600 variables of 2400 bytes in 600 pages: 2397 KiB more' || fail "$what: $("$bin/weir-cc" --weir-objects many | tail -1)"
"$bin/weir-cc" --weir-objects main.c 2>errors && fail "$what: no program"
grep -q 'main.c is no program' errors || fail "$what: $(cat errors)"

[ $failed = 0 ] && echo ok
exit $failed
