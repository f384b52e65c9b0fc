#!/usr/bin/env bash
# What is built here runs on Debian 11, whose glibc 2.31 has threads in a library of their own: test programs that its own
# compiler has made, its programs with and without threads, and those that these execute.
# usage: old_libc_test.sh BUILD       takes the command and libweir.so of BUILD to a fresh bullseye
#        old_libc_test.sh --there     in there, with them in ~/built
set -uo pipefail
here=$(realpath "$(dirname "$0")")

if [ "$1" != --there ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/built/bin" "$work/built/lib"
  cp "$1/bin/weir" "$work/built/bin/"
  cp "$1/lib/libweir.so" "$work/built/lib/"
  "$here/fresh" --with "$work/built" bullseye tests/old_libc_test.sh --there
  exit
fi

# Programs that do not compile or do not work there, natively: they want a newer C library, C++ library or compiler.
newer="attribute_stack_address bad_pointers landlock_threads malloc_family nested_omp operator_new signal_changed std_atomic_wait std_call_once
  std_latch_barrier std_semaphore timers_profile vfork_closes_all"
packages="gcc g++ libc6-dev python3 pigz zstd"
export built=$HOME/built here
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}

(apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages) >/tmp/log 2>&1 ||
  { tail -n 20 /tmp/log; exit 1; }
ldd --version | head -n 1
mkdir -p "$built/tests/programs/opened"

compile() {
  local source=$1 name flags=
  name=$(basename "${source%.*}")
  case $name in
    *_omp) flags=-fopenmp ;;
    constants_beside_code) flags=-Wl,-z,noseparate-code ;;
  esac
  case $source in
    *.c) set -- gcc -std=gnu11 ;;
    *) set -- g++ -std=gnu++20 ;;
  esac
  "$@" -D_GNU_SOURCE -O2 -g -w -pthread $flags "$source" -o "$built/tests/programs/$name" -ldl -lrt -lm 2>"/tmp/$name.log" ||
    { echo "cannot compile $name:"; head -n 3 "/tmp/$name.log"; return 1; }
}
# point NAME ORDER VIEW
point() {
  timeout 120 "$here/run_point.sh" "$built" "$1" "$2" "$3" 2 >"/tmp/$1.$2-$3" 2>&1 || { head -n 12 "/tmp/$1.$2-$3"; return 1; }
}
export -f compile point

is_left_out() { [[ " "$(echo $newer)" " == *" $1 "* ]]; }
names=()
for source in "$here"/programs/*.c "$here"/programs/*.cc; do
  name=$(basename "${source%.*}")
  is_left_out "$name" || { names+=("$name"); sources+=("$source"); }
done
gcc -shared -fPIC "$here/programs/opened/library.c" -o "$built/tests/programs/opened/library.so" || fail "cannot compile the opened library"
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} bash -c 'compile {}' || fail "programs do not compile"
[ "${#names[@]}" -gt 200 ] || fail "only ${#names[@]} programs"
for at in "token isolated" "free direct"; do
  printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I{} bash -c "point {} $at" || fail "programs at $at"
done
echo "${#names[@]} programs at token isolated and free direct"

# same WANTED COMMAND...
same() {
  local wanted=$1 got
  shift
  got=$(timeout -k 2 60 "$@" 2>/tmp/err </dev/null) || { fail "status $? of $*"; cat /tmp/err; }
  [ "$got" = "$wanted" ] || fail "$* said '$got' instead of '$wanted'"
}
weir=$built/bin/weir
cd "$(mktemp -d)" || exit 1
# Linked without threads; executed by such a program, with no environment; with threads.
same 4 "$weir" det -- sh -c 'sh -c "exit 4"; echo $?'
same x "$weir" det -- env -i /bin/sh -c '/bin/echo x | /bin/cat'
same "0 1 2" "$weir" det -- python3 -c 'import threading
t = [threading.Thread(target=lambda i=i: said.append(i)) for i in range(3)]
said = []
for each in t: each.start()
for each in t: each.join()
print(*sorted(said))'
head -c 3000000 "$weir" >in
for tool in pigz zstd; do
  wanted=$($tool -q -c <in | sha256sum)
  same "$wanted" bash -c "$weir det -- $tool -q -c <in | sha256sum"
  same "$wanted" bash -c "$weir record --quiet -o $tool.rec -- $tool -q -c <in | sha256sum"
  same "$wanted" bash -c "$weir replay $tool.rec | sha256sum"
done
racey="$weir det --fingerprint -- $built/tests/programs/racey 4 2>&1"
first=$(timeout -k 2 60 bash -c "$racey" 2>/tmp/err </dev/null)  # as same() does: variables of the environment are memory too
for run in 1 2; do same "$first" bash -c "$racey"; done
same "no race found" bash -c "$weir check -- $built/tests/programs/mutex_counter 4 2>&1 >/dev/null | grep -o 'no race found'"
for program in racey mutex_order std_future fork_in_thread exec_kinds cancel_blocked parallel_for_omp; do
  timeout 60 "$weir" record --quiet -o "$program.rec" -- "$built/tests/programs/$program" $([ $program = exec_kinds ] || echo 4) >out 2>err ||
    [ "$program:$?" = exec_kinds:7 ] || { fail "record $program"; cat err; }
  timeout 60 "$weir" replay --verify "$program.rec" >replayed 2>err || { fail "replay $program"; cat err; }
  cmp out replayed || fail "replay $program: another output"
done
[ "$failed" = 0 ] && echo passed
exit "$failed"
