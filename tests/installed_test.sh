#!/usr/bin/env bash
# What `cmake --install` has made, all components together: moved, used, and compared with the build.
# usage: installed_test.sh BUILD moved|multiarch|stripped|manual|completion
set -uo pipefail
ulimit -c 0
# shellcheck source=tests/work.sh
. "$(dirname "$0")/work.sh"
part=$2
fail() { echo "installed: $*" >&2; exit 1; }
need() { for tool; do command -v "$tool" >/dev/null || fail "$tool is missing: run tools/setup test"; done; }
export WEIR_RECORDINGS=$work/recordings WEIR_CACHE=off
tests=$here

racy() {
  cat >racy.c <<'END'
#include <pthread.h>
#include <stdio.h>
static int counter;
static void *count(void *unused) {
  for (int i = 0; i < 1000; i++) counter++;
  return unused;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, count, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d\n", counter);
}
END
  gcc -g -O1 -pthread racy.c -o racy || fail "racy.c does not compile"
}

# runs WEIR: the three main jobs.
runs() {
  local first second
  first=$("$1" det -- ./racy) && second=$("$1" det -- ./racy) || fail "$1 det: status $?"
  [ "$first" = "$second" ] || fail "$1 det: $first, then $second"
  rm -rf one
  first=$("$1" record --quiet -o one -- ./racy) && second=$("$1" replay one) || fail "$1 record, replay: status $?"
  [ "$first" = "$second" ] || fail "$1 replay: $second instead of $first"
  "$1" check --exit-code 9 -- ./racy >out 2>report
  [ $? = 9 ] || fail "$1 check found nothing: $(cat report)"
  grep -q 'racy.c:5:' report || fail "$1 check does not name the line: $(cat report)"
  grep -q 'object: counter (int)' report || fail "$1 check does not name the object: $(cat report)"
}

install_all() {  # install_all PREFIX [DESTDIR]
  DESTDIR=${2-} cmake --install "$build" --prefix "$1" >log 2>&1 || fail "cmake --install: $(tail -n 5 log)"
}

# builds PREFIX PKGCONFIG: programs that use weir/weir.h, by pkg-config and by CMake.
builds() {
  need pkg-config
  cat >active.c <<'END'
#include <stdio.h>
#include <weir/weir.h>
int main(void) { puts(weir_active() ? "under Weir" : "alone"); }
END
  # shellcheck disable=SC2046
  gcc active.c -o active $(PKG_CONFIG_PATH=$2 pkg-config --cflags --libs weir) || fail "weir.pc"
  [ "$(./active)" = alone ] && [ "$("$1/bin/weir" det -- ./active)" = "under Weir" ] || fail "weir_active()"
  rm -rf project
  mkdir project
  cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(Uses C)
find_package(Weir REQUIRED COMPONENTS ${wanted})
add_executable(active ../active.c)
target_link_libraries(active PRIVATE Weir::weir)
enable_testing()
add_test(NAME under COMMAND Weir::command det -- $<TARGET_FILE:active>)
set_tests_properties(under PROPERTIES PASS_REGULAR_EXPRESSION "under Weir")
END
  { cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$1" && cmake --build project/build &&
    ctest --test-dir project/build --no-tests=error; } >log 2>&1 || fail "find_package(Weir): $(cat log)"
  rm -rf project/build
  cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$1" -Dwanted=nonsense >log 2>&1 && fail "a component nonsense was found"
  grep -q "libweir-nonsense is not installed" log || fail "no word about a missing component: $(cat log)"
}

case $part in
moved)
  racy
  install_all "$work/first/place"
  mv first/place second
  prefix=$work/second
  for command in weir weir-cc weir-c++ weir-bench weir-dsm-predict weir-dsm-run weir-dsm-report; do
    [ -x "$prefix/bin/$command" ] || fail "bin/$command is not installed"
  done
  for header in weir.h weir.hpp region.h region.hpp dsm.h dsm.hpp tape.hpp; do
    [ -f "$prefix/include/weir/$header" ] || fail "weir/$header is not installed"
  done
  for file in LICENSE NOTICE README.md CHANGELOG.md SECURITY.md docs/LIMITS.md licenses/GPL-3 licenses/LGPL-3 licenses/LGPL-2.1; do
    [ -f "$prefix/share/doc/weir/$file" ] || fail "$file is not installed"
  done
  runs "$prefix/bin/weir"
  ln -s "$prefix/bin/weir" linked
  runs ./linked
  # The debug information is the build's, and nothing else in the tree knows where it was built.
  for file in bin/weir lib/libweir.so lib/libweir-region.so.0 lib/libweir-dsm.so.0; do
    sections=$(readelf -SW "$prefix/$file") || fail "readelf $file"
    [[ ! $sections =~ \ \.(debug_info|symtab)\  ]] || fail "$file is not stripped"
    name=$(readelf --string-dump=.gnu_debuglink "$prefix/$file" | sed -n 's/.* \([^ ]*\.debug\).*/\1/p')
    [ -f "$prefix/$(dirname "$file")/.debug/$name" ] || fail "$file has no debug information in .debug/$name"
  done
  find "$prefix" -path '*/.debug' -prune -o -type f -print0 | xargs -0 grep -lF "$build" >names
  [ ! -s names ] || fail "these name the build folder: $(cat names)"
  # The compilers: they find their assembler and weir.h.
  need gcc g++
  sed 's/#include <stdio.h>/&\n#include <weir\/weir.h>/' racy.c >with.c
  "$prefix/bin/weir-cc" -g -O1 -pthread with.c -o with || fail "weir-cc does not compile"
  "$prefix/bin/weir-cc" --weir-objects with | grep -q counter || fail "weir-cc has not seen counter"
  "$prefix/bin/weir-c++" -g -pthread -x c++ with.c -o withxx || fail "weir-c++ does not compile"
  builds "$prefix" "$prefix/lib/pkgconfig"
  # weir-bench, with a workload and a generated input.
  "$prefix/bin/weir-bench" --pairs 1 --size small --threads 2 histogram >out 2>&1 || fail "weir-bench: $(cat out)"
  grep -q "weir $("$weir" --version | sed 's/.* //')" out || fail "weir-bench does not say what it measures: $(cat out)"
  "$prefix/bin/weir-bench" --list >out || fail "weir-bench --list"
  grep -q 'not in this build' out && fail "workloads are not installed: $(grep 'not in this' out)"
  # Without the library: one line says so.
  rm "$prefix/lib/libweir.so"
  "$prefix/bin/weir" det -- ./racy 2>out
  [ $? = 125 ] && grep -q '^weir: there is no libweir.so for ' out && [ "$(wc -l <out)" = 1 ] || fail "no library: $(cat out)"
  ;;
multiarch)
  racy
  architecture=$(gcc -print-multiarch)
  install_all /usr "$work/root"
  prefix=$work/root/usr libraries=$work/root/usr/lib/$architecture
  [ -f "$libraries/libweir.so" ] || fail "libweir.so is not in lib/$architecture"
  [ ! -e "$prefix/lib/libweir.so" ] && [ ! -e "$prefix/lib/cmake" ] || fail "libraries are in lib too"
  runs "$prefix/bin/weir"
  "$prefix/bin/weir-cc" -g -O1 -pthread racy.c -o with || fail "weir-cc does not compile"
  "$prefix/bin/weir-cc" --weir-objects with | grep -q counter || fail "weir-cc has not seen counter"
  builds "$prefix" "$libraries/pkgconfig"
  number=$(readelf -n "$prefix/bin/weir" | sed -n 's/.*Build ID: \(..\)\(.*\)/\1\/\2/p')
  [ -f "$prefix/lib/debug/.build-id/$number.debug" ] || fail "gdb would not find the debug information $number"
  # Another library folder of the user's choice: lib64 is one of those that are looked at.
  mkdir moved
  cp -r "$prefix/bin" moved
  mv "$libraries" moved/lib64
  runs moved/bin/weir
  ;;
stripped)  # what weir check and gdb show of Weir's own frames comes from no symbol that stripping removes
  install_all "$work/there"
  rm -rf there/bin/.debug there/lib/.debug
  ln -s "$build/tests" there/tests
  bash "$tests/check_test.sh" "$work/there" >log 2>&1 || fail "check_test.sh: $(tail -n 20 log)"
  bash "$tests/debugger_test.sh" "$work/there" >log 2>&1 || fail "debugger_test.sh: $(tail -n 20 log)"
  ;;
manual)
  need mandoc man
  share=$build/share
  for page in "$share"/man/man[13]/* "$share"/man1-*/* "$tests"/../docs/man/weir-cc.1; do
    mandoc -Tlint -Wwarning "$page" | grep -v 'missing date' >out && fail "$page: $(cat out)"
    LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$page" 2>out >text || fail "$page: $(cat out)"
    [ ! -s out ] || fail "$page: $(cat out)"
  done
  # Each subcommand has a page, and the page each option that its help has.
  count=0
  for command in $("$weir" --help | sed -n '/^Subcommands:/,/^[^ S]/s/^  \([a-z]\+\) .*/\1/p'); do
    count=$((count + 1))
    MANWIDTH=400 man -l "$share/man/man1/weir-$command.1" 2>/dev/null | col -b >text || fail "no page of weir $command"
    grep -q "weir-$command" "$share/man/man1/weir.1" || grep -q "weir\\\\-$command" "$share/man/man1/weir.1" || fail "weir.1 does not name $command"
    for option in $("$weir" "$command" --help | grep -oE '^ +(-[a-z], ?)?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
      grep -qF -- "$option" text || fail "weir-$command.1 does not tell of $option"
    done
  done
  [ "$count" -ge 11 ] || fail "only $count subcommands in weir --help"
  MANWIDTH=200 man -l "$share/man/man3/weir.h.3" 2>/dev/null | col -b >text
  for name in weir_active weir_alloc weir_object_declare WEIR_OBJECT weir_array_at; do
    grep -q "$name" text || fail "weir.h.3 does not tell of $name"
  done
  for library in region dsm; do
    MANWIDTH=300 man -l "$share/man/man3/weir-$library.3" 2>/dev/null | col -b >text
    for name in $(grep -oE "\bweir_${library}_[a-z_]+\(" "$tests/../include/weir/$library.h" | sort -u); do
      grep -qF "$name" text || fail "weir-$library.3 does not tell of $name"
    done
  done
  ;;
completion)
  need zsh fish
  for shell in bash zsh fish; do "$weir" completion $shell >$shell.text || fail "weir completion $shell"; done
  cmp bash.text "$build/share/bash-completion/completions/weir" || fail "the installed completion is another"
  zsh -n zsh.text || fail "zsh"
  fish --no-execute fish.text || fail "fish"
  for file in "$build"/share/dsm/*/*/*weir-dsm-*; do  # if libweir-dsm is built
    [ -e "$file" ] || continue
    case $file in
      */bash-completion/*) bash -n "$file" ;;
      */zsh/*) zsh -n "$file" ;;
      *) fish --no-execute "$file" ;;
    esac || fail "$file"
  done
  "$weir" completion tcsh >/dev/null 2>&1 && fail "there is a completion for tcsh"
  gcc -x c - -o plain <<<'int main(void) { return 0; }'
  "$weir" record --quiet -- ./plain || fail "record"
  recording=$(ls recordings)
  mkdir -p folder/below
  touch input.txt
  # complete WORD...: what bash offers for the last word, sorted in one line.
  cat >complete.bash <<'END'
source bash.text
PATH=$1:$PATH
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
_weir
printf "%s\n" "${COMPREPLY[@]}" | sort -u | paste -sd " "
END
  offers() {  # offers EXPECTED WORD...
    local expected=$1 offered
    shift
    offered=$(bash --norc complete.bash "$build/bin" "$@" 2>out) || fail "completion of $*: $(cat out)"
    [ "$offered" = "$expected" ] || fail "for '$*' bash offers '${offered:0:300}' instead of '$expected'"
  }
  offers 'record replay' weir re
  offers '--version' weir --ver
  offers 'free serial token' weir run --order ''
  offers 'token' weir run --order = t
  offers 'free serial token' weir run --order =
  offers 'isolated' weir stat --stat --view i
  offers '--fingerprint' weir det --fi
  offers 'auto mpk process' weir check --enforcer ''
  offers 'input.txt' weir det --log inp
  offers 'input.txt' weir det --log = inp
  offers "$recording" weir replay "${recording:0:6}"
  offers "$recording" weir rm other "${recording:0:6}"
  offers 'folder' weir ls fol
  offers 'input.txt' weir det -- ls inp
  offers 'input.txt' weir check --halt ls inp
  offers '' weir ls -- inp
  offers 'bash fish zsh' weir completion ''
  case $(bash --norc complete.bash "$build/bin" weir det -- weir-c) in *weir-cc*) ;; *) fail "no programs are offered" ;; esac
  # With the package bash-completion the program's own completion goes on.
  framework=/usr/share/bash-completion/bash_completion
  [ -f $framework ] || fail "bash-completion is missing: run tools/setup test"
  { echo "source $framework"; echo 'complete -W "apple banana" fruit'; cat complete.bash; } >with.bash
  mv with.bash complete.bash
  offers 'banana' weir det -- fruit ba
  offers 'banana' weir record --quiet fruit ba
  ;;
*) fail "unknown part $part" ;;
esac
echo "installed: right"
