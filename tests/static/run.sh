#!/usr/bin/env bash
# Statically linked programs: of glibc, of musl, of Go, stripped or not. Run, recorded, replayed, checked; executed by others.
# usage: run.sh BUILD glibc|musl|go|execute
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../work.sh"
part=$2
fail() {
  echo "FAILED: $*"
  failed=1
}
need() { command -v "$1" >/dev/null || { echo "$1 is missing: tools/setup static"; exit 1; }; }
export WEIR_CACHE=off

# same RUNS OPTIONS PROGRAM...: weir det gives the same output and fingerprint each time, and the status that the program has alone.
same() {
  local runs=$1 options=$2 i status first
  shift 2
  "$@" >alone 2>&1 </dev/null
  local wanted=$?
  for ((i = 0; i < runs; i++)); do
    timeout 60 "$weir" det $options --fingerprint -- "$@" >out 2>err </dev/null
    status=$?
    [ $status = $wanted ] || fail "det $*: status $status instead of $wanted: $(cat out err)"
    [ $i = 0 ] && cp out out.first && cp err err.first
    cmp -s out out.first && cmp -s err err.first || { fail "det $*: runs differ: $(diff out out.first) $(diff err err.first)"; return; }
  done
}

# kept VIEW PROGRAM...: recorded and replayed.
kept() {
  local view=$1 recorded replayed
  shift
  rm -rf recording
  timeout 60 "$weir" record --quiet --view "$view" -o recording -- "$@" >out 2>err </dev/null
  recorded=$?
  timeout 60 "$weir" replay recording >again 2>errors </dev/null
  replayed=$?
  [ $recorded = $replayed ] && cmp -s err errors && cmp -s out again ||
    fail "record --view $view $*: recorded $recorded, replayed $replayed: $(cat err errors; diff out again)"
}

# all PROGRAM...: at each View, with its usual output.
all() {
  local view
  same 3 "" "$@"
  for view in isolated coherent; do
    timeout 60 "$weir" run --view $view -- "$@" >out 2>err </dev/null
    [ "$(sed -n 1p out)" = "$(sed -n 1p alone)" ] && [ "$(wc -l <out)" = "$(wc -l <alone)" ] || fail "run --view $view $*: $(cat out err)"
    kept $view "$@"
  done
  timeout 60 "$weir" check -- "$@" >out 2>err </dev/null
  grep -q '^weir: no race found' err || fail "check $*: $(cat out err)"
}

# finds_race COMPILER: weir check reports the race of a static program, with its variable.
finds_race() {
  cat >race.c <<'C'
#include <pthread.h>
static volatile long racy;
static pthread_barrier_t both;
static void* body(void* unused) {
  pthread_barrier_wait(&both);
  for (int i = 0; i < 1000; i++) racy++;
  pthread_barrier_wait(&both);
  return unused;
}
int main(void) {
  pthread_t thread[2];
  pthread_barrier_init(&both, 0, 2);
  for (int i = 0; i < 2; i++) pthread_create(&thread[i], 0, body, 0);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], 0);
  return 0;
}
C
  "$1" -O1 -g -static race.c -o race -pthread || fail "cannot compile"
  timeout 60 "$weir" check -- ./race >out 2>&1 </dev/null
  [ $? = 66 ] && grep -q 'data race: racy' out || fail "check of a static program with a race: $(cat out)"
}

case $part in
  glibc)
    gcc -O2 -static "$here/counters.c" -o counters && gcc -O2 -static-pie "$here/counters.c" -o movable &&
      g++ -O2 -static "$here/threads.cc" -o threads && strip threads -o stripped || fail "cannot compile"
    for program in ./counters ./movable ./threads ./stripped; do all $program; done
    finds_race gcc
    # OpenMP's library waits by loads that weir check knows in the shared one only.
    printf '#include <stdio.h>\nint main(void) {\n  long sum = 0;\n#pragma omp parallel for reduction(+ : sum) num_threads(4)\n  for (int i = 0; i < 100000; i++) sum += i;\n  printf("%%ld\\n", sum);\n  return 0;\n}\n' >omp.c
    gcc -O2 -static -fopenmp omp.c -o omp 2>/dev/null || fail "cannot compile OpenMP"
    same 3 "" ./omp
    kept coherent ./omp
    timeout 60 "$weir" check -- ./omp >out 2>&1
    [ $? = 126 ] && grep -q "has OpenMP's library linked into it" out || fail "check of static OpenMP: $(cat out)"
    # A recording keeps the program: it is replayed without the file, and elsewhere.
    mkdir -p built other
    cp counters built/gone
    timeout 60 "$weir" record --quiet -o recording.gone -- built/gone >out 2>err </dev/null
    rm -r built
    (cd other && exec timeout 60 "$weir" replay ../recording.gone) >again 2>errors </dev/null
    [ ! -s errors ] && cmp -s out again || fail "replay of a static program that is gone: $(cat err errors; diff out again)"
    need busybox
    printf 'a line\n' >text
    same 3 "" busybox wc text
    same 3 "--virtual time,random,pid" busybox sh -c 'echo shell; exit 4'
    kept coherent busybox sh -c 'busybox ls | wc -l; readlink /proc/self/exe; cat text; exit 4'
    ;;
  musl)
    need musl-gcc
    musl-gcc -O2 -static "$here/counters.c" -o counters && strip counters -o stripped || fail "cannot compile"
    for program in ./counters ./stripped; do all $program; done
    finds_race musl-gcc
    ;;
  go)
    need go
    HOME=$work GO111MODULE=off CGO_ENABLED=0 go build -o goroutines "$here/goroutines.go" &&
      HOME=$work GO111MODULE=off CGO_ENABLED=0 go build -ldflags '-s -w' -o stripped "$here/goroutines.go" || fail "cannot compile"
    for program in ./goroutines ./stripped; do
      $program >alone 2>&1
      for view in isolated coherent; do
        timeout 60 "$weir" run --view $view -- $program >out 2>err </dev/null
        [ $? = 7 ] && cmp -s out alone || fail "run --view $view $program: $(cat out err)"
      done
      timeout 60 "$weir" det --virtual time,random -- $program >out 2>err </dev/null
      [ $? = 7 ] && cmp -s out alone || fail "det $program: $(cat out err)"
      kept coherent $program
    done
    HOME=$work GO111MODULE=off CGO_ENABLED=0 go build -o collector "$here/collector.go" || fail "cannot compile"
    ./collector >alone 2>/dev/null
    # Without a module the timers are those of before Go 1.23.
    for timers in 1 0; do
      for how in "det --virtual time,random" "run --view coherent"; do
        GODEBUG=asynctimerchan=$timers timeout 60 "$weir" $how -- ./collector >out 2>err </dev/null
        [ $? = 2 ] && cmp -s out alone && grep -q 'assignment to entry in nil map' err || fail "$how ./collector, asynctimerchan=$timers: $(cat out err)"
      done
    done
    kept coherent ./collector
    # Nothing comes from outside here: ten runs are the same.
    printf 'package main\n\nfunc main() {\n\tc := make(chan int)\n\tfor i := 0; i < 8; i++ {\n\t\tgo func() { c <- i }()\n\t}\n\tfor i := 0; i < 8; i++ {\n\t\tprint(<-c)\n\t}\n\tprintln()\n}\n' >main.go
    HOME=$work GO111MODULE=off CGO_ENABLED=0 go build -o main main.go || fail "cannot compile"
    same 10 "--virtual time,random,pid" ./main
    "$weir" check -- ./main >out 2>&1
    [ $? = 126 ] && grep -q 'Go' out || fail "check of a Go program: $(cat out)"
    # What the linker notes of each build, in a program with a race: executed, it counts as one that was not checked.
    cat >noted.c <<'END'
#include <pthread.h>
static const struct { int name_size, size, type; char name[4], id[4]; } note
    __attribute__((used, section(".note.go.buildid"), aligned(4))) = {4, 4, 4, "Go", "abc"};
static int racy;
static void* add(void* unused) { for (int i = 0; i < 1000; i++) racy++; return unused; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, add, 0);
  add(0);
  return pthread_join(thread, 0);
}
END
    gcc -g -pthread noted.c -o noted || fail "cannot compile"
    "$weir" check -- ./noted >out 2>&1
    [ $? = 126 ] && grep -q 'is a Go program' out || fail "check of a Go program with a loader: $(cat out)"
    timeout 60 "$weir" check -- sh -c './noted; true' >out 2>&1
    [ $? = 125 ] && grep -q 'noted was not checked: it is a Go program' out && ! grep -q 'data race' out ||
      fail "check of a program that executes one of Go: $(cat out)"
    # Those of gcc's compiler for Go have no such note, but a section, or its library.
    cp noted.c of_gcc.c && sed -i '/^static const struct/,/"abc"};/d' of_gcc.c
    gcc -shared -Wl,-soname,libgo.so.99 -o libgo.so.99 -x c /dev/null && gcc -g -pthread of_gcc.c -o plain &&
      gcc -g -pthread of_gcc.c -Wl,--no-as-needed ./libgo.so.99 -Wl,-rpath,"$PWD" -o needs && printf x >export &&
      objcopy --add-section .go_export=export plain exports || fail "cannot compile"
    for name in needs exports; do
      "$weir" check -- ./$name >out 2>&1
      [ $? = 126 ] && grep -q 'is a Go program' out || fail "check of a Go program of gcc's ($name): $(cat out)"
    done
    "$weir" check -- ./plain >out 2>&1
    [ $? = 66 ] || fail "check of its twin that is none of Go: $(cat out)"
    # What the linker notes of a build with -race, which itself takes a minute.
    printf 'const char info[] __attribute__((section(".go.buildinfo"))) = "\\nbuild\\t-race=true\\n";\nint main(void) { return 0; }\n' >raced.c
    gcc raced.c -o raced && strip raced || fail "cannot compile"
    "$weir" det -- ./raced >out 2>&1
    [ $? = 126 ] && grep -q 'go build -race' out || fail "det of a program built with -race: $(cat out)"
    ;;
  execute)
    need busybox
    gcc -O2 -static "$here/counters.c" -o counters || fail "cannot compile"
    printf '#!%s sh\necho "$0 $1"\n./counters echo static executes dynamic\n/bin/echo done\n' "$(command -v busybox)" >script
    chmod +x script
    for how in "sh -c" "env -i PATH=/usr/bin:/bin sh -c"; do
      $how './script word; ./counters ./counters ./script deep' >alone 2>&1
      timeout 60 "$weir" det -- $how './script word; ./counters ./counters ./script deep' >out 2>err </dev/null
      [ "$(wc -l <out)" = "$(wc -l <alone)" ] && [ ! -s err ] || fail "det $how: $(cat out err)"
      kept coherent $how './script word; ./counters ./counters ./script deep'
    done
    kept coherent ./script word
    # A static program may lie where Weir's memory or a library lies.
    gcc -O2 -static -Wl,-Ttext-segment=0x108000000000 -mcmodel=large "$here/../limits_program.c" -o high 2>/dev/null ||
      gcc -nostdlib -static -Wl,-Ttext-segment=0x108000000000 -x c - -o high <<<'void _start(void) { for (;;) {} }' || fail "cannot compile"
    timeout 20 "$weir" det -- ./high >out 2>&1
    [ $? = 126 ] && grep -q 'at which Weir or a library lies' out || fail "a program at an address of Weir's: $(cat out)"
    ;;
esac
exit $failed
