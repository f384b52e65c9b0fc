#!/usr/bin/env bash
# Programs that execute what they, or other processes of the recording, have made: a replay executes the same, though nothing of it is there
# any more, or is another by now.
# usage: executed_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"

# replays NAME COMMAND...: recorded at each View, in a directory that is gone afterwards, and replayed from another one: the same output,
# the same end, and nothing is left of it. The directory has what `prepare` puts there.
replays() {
  local name=$1 view recorded replayed
  shift
  for view in coherent isolated direct; do
    rm -rf place out && mkdir place out
    prepare place
    (cd place && exec timeout 60 "$weir" record --view $view --quiet -o "$work/out/recording" -- "$@") >out/stdout 2>out/stderr </dev/null
    recorded=$?
    rm -rf place
    (cd / && exec timeout 60 "$weir" replay --log "$work/out/log" "$work/out/recording") >out/stdout_again 2>out/stderr_again </dev/null
    replayed=$?
    [ $recorded = $replayed ] || fail "$name, $view: recorded status $recorded, replayed $replayed: $(cat out/stderr out/log)"
    [ -s out/log ] && fail "$name, $view: the replay says: $(cat out/log)"
    cmp -s out/stdout out/stdout_again || fail "$name, $view: another output: $(diff out/stdout out/stdout_again | head -5)"
    cmp -s out/stderr out/stderr_again || fail "$name, $view: other errors: $(diff out/stderr out/stderr_again | head -5)"
    [ -e place ] && fail "$name, $view: the replay has made files"
    [ $recorded = 0 ] && [ -s out/stdout ] || fail "$name, $view: status $recorded, output $(cat out/stdout out/stderr)"
    "$weir" verify out/recording >out/verified || fail "$name, $view: verify: $(cat out/verified)"
  done
}

# --- a script that compiles and runs, twice under one name; names of every length; the program tells what it sees of its name
prepare() {
  cat >"$1/tells.c" <<'C'
#include <stdio.h>
#include <sys/auxv.h>
int main(int count, char** arguments) {
  printf("version %d, %s, executed as %s, at %p\n", VERSION, arguments[0], (char*)getauxval(AT_EXECFN), (void*)arguments[0]);
  return VERSION;
}
C
  cat >"$1/run" <<'S'
mkdir below && cd below
gcc -DVERSION=1 ../tells.c -o tells && ./tells a b; echo $?
gcc -DVERSION=2 ../tells.c -o tells && ./tells; echo $?
"$PWD/tells" a; ../below/tells; .././below/tells
cp tells x; cp tells xy; cp tells xyz
(PATH=:$PATH; x; xy; xyz); ./x; ./xy
mv tells more && ./more && rm -f *
gcc -DVERSION=3 ../tells.c -o tells && ./tells &
wait
exit 0
S
}
replays compiled sh run

# --- scripts: with and without an argument, interpreters of interpreters, in a file that is executed while it is another
prepare() {
  cat >"$1/run" <<'S'
printf '#!/bin/sh -e\necho "this is $0 with $*"\n' >script && chmod +x script
./script; ./script one 'two  three' ''; "$PWD/script" abs
printf '#!./script inner\n' >outer && chmod +x outer && ./outer three
printf '#!   /usr/bin/env  sh\necho "another $0 $1"\n' >script && ./script four
printf 'echo of no kind: $0 $1\n' >plain && chmod +x plain && ./plain five
printf '#!/nowhere/sh\n' >broken && chmod +x broken; ./broken; echo $?
rm script && ./script; echo $?
python3 -c 'import os; os.execv("outer", ["nothing", "six"])' 2>&1 | cat
exit 0
S
}
replays scripts sh run

# --- what configure scripts and makefiles do, with a test suite and an interpreter that was just built
prepare() {
  cat >"$1/configure" <<'S'
#!/bin/sh
cat >conftest.c <<'C'
#include <stdio.h>
int main(void) { return fputs("sizes ", stdout) < 0 || printf("%zu\n", sizeof(long)) < 0; }
C
cc -o conftest conftest.c && ./conftest >conftest.out && read -r _ size <conftest.out && rm -f conftest*
echo "checking size of long... $size"
sed "s/@SIZE@/$size/" Makefile.in >Makefile
S
  chmod +x "$1/configure"
  cat >"$1/Makefile.in" <<'M'
check: suite
	./suite tests/*
suite: suite.c generated.h
	@cc -DSIZE=@SIZE@ -o $@ $<
generator: generator.c
	@cc -o $@ $<
generated.h: generator
	@./generator >$@
M
  echo 'int puts(const char*); int main(void) { return puts("#define MADE \"made\"") < 0; }' >"$1/generator.c"
  cat >"$1/suite.c" <<'C'
#include <stdio.h>
#include <string.h>
#include "generated.h"
int main(int count, char** names) {
  for (int i = 1; i < count; i++) {
    char line[100] = "";
    FILE* file = fopen(names[i], "r");
    if (!file || !fgets(line, sizeof line, file) || !fgets(line, sizeof line, file)) return 1;
    printf("%s (%d, %s): %s", names[i], SIZE, MADE, line);
  }
  return 0;
}
C
  mkdir "$1/tests"
  for name in a b; do printf '#!../suite\ntest %s\n' $name >"$1/tests/$name" && chmod +x "$1/tests/$name"; done
}
replays make sh -c './configure && make -j2 check && cd tests && ./a ./b && make -C .. clean 2>/dev/null; exit 0'

# --- libraries that were just built: found by $ORIGIN, by relative and absolute folders, loaded later, replaced
prepare() {
  cat >"$1/tells.c" <<'C'
#include <link.h>
#include <stdio.h>
const char* which(void);
static int tell(struct dl_phdr_info* object, size_t size, void* unused) {
  return printf("  %s at %p\n", object->dlpi_name, (void*)object->dlpi_addr) < 0;
}
int main(int count, char** arguments) {
  printf("%s: %s\n", arguments[0], which());
  return dl_iterate_phdr(tell, NULL);
}
C
  cat >"$1/loads.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_NOW);
  if (!library) return puts(dlerror()), 1;
  return puts(((const char* (*)(void))dlsym(library, "which"))()) < 0;
}
C
  cat >"$1/run" <<'S'
mkdir lib bin
library() { echo "const char* which(void) { return \"$1\"; }" >one.c && gcc -shared -fPIC -Wl,-soname,libone.so.1 one.c -o lib/libone.so.1.0; }
library first
ln -s libone.so.1.0 lib/libone.so.1; ln -s libone.so.1 lib/libone.so
gcc -D_GNU_SOURCE tells.c -o bin/origin -Llib -lone '-Wl,-rpath,$ORIGIN/../lib'
gcc -D_GNU_SOURCE tells.c -o bin/plain -Llib -lone
gcc loads.c -o bin/loads
bin/origin; LD_LIBRARY_PATH=lib bin/plain; LD_LIBRARY_PATH=$PWD/lib ./bin/plain; (cd bin; LD_LIBRARY_PATH=../lib ./plain)
bin/loads lib/libone.so
library second
bin/origin; LD_LIBRARY_PATH=nowhere:lib bin/plain; bin/loads ./lib/libone.so.1.0; LD_LIBRARY_PATH=lib bin/loads libone.so.1
rm lib/*; bin/plain 2>/dev/null; echo $?
library third; mv lib/libone.so.1.0 libone.so.1; LD_LIBRARY_PATH=. bin/plain; LD_PRELOAD="$PWD/libone.so.1 $LD_PRELOAD" bin/plain
exit 0
S
}
replays libraries sh run

# --- by a descriptor, also of a script and of a file that never had a name; from a thread; by vfork
prepare() {
  cat >"$1/executes.c" <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
static int copied(const char* from, int to) {
  static char bytes[1 << 20];
  const int file = open(from, O_RDONLY);
  const ssize_t size = read(file, bytes, sizeof bytes);
  close(file);
  return size > 0 && write(to, bytes, size) == size ? to : -1;
}
static int copy_of(const char* from, const char* name) {
  close(copied(from, open(name, O_WRONLY | O_CREAT | O_TRUNC, 0755)));
  return open(name, O_RDONLY);
}
static const char* how;
static void* executes(void* unused) {
  char* arguments[] = {"again", "told", "more", NULL};
  if (!strcmp(how, "name")) close(copy_of("executes", "copy")), execv("./copy", arguments);
  if (!strcmp(how, "descriptor")) fexecve(copy_of("executes", "copy"), arguments, environ);
  if (!strcmp(how, "script")) fexecve(copy_of("script", "copy"), arguments, environ);
  if (!strcmp(how, "memory")) fexecve(copied("executes", memfd_create("of memory", 0)), arguments, environ);
  if (!strcmp(how, "folder")) {
    close(copy_of("executes", "copy"));
    syscall(SYS_execveat, open(".", O_PATH | O_DIRECTORY), "copy", arguments, environ, 0);
  }
  if (!strcmp(how, "spawn")) {
    pid_t child;
    int status = -1;
    close(copy_of("executes", "copy"));
    if (posix_spawn(&child, "./copy", NULL, NULL, arguments, environ) == 0) waitpid(child, &status, 0);
    printf("spawned: %d\n", status), fflush(stdout);
    unlink("copy");
    exit(status);
  }
  perror(how);
  exit(1);
}
int main(int count, char** arguments) {
  if (!strcmp(arguments[1], "told")) {
    unlink("copy");
    printf("%s %s, executed as %s at %p\n", arguments[0], arguments[2], (char*)getauxval(AT_EXECFN), (void*)arguments[1]);
    return 0;
  }
  how = arguments[1];
  if (count == 2) executes(NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, executes, NULL);
  return pthread_join(thread, NULL);
}
C
  printf '#!/bin/sh\necho "script $0: $*"\n' >"$1/script" && chmod +x "$1/script"
}
replays executes sh -c 'gcc -D_GNU_SOURCE -pthread executes.c -o executes || exit 1
  for how in name descriptor script memory folder spawn; do ./executes $how || exit 1; done'
replays threads sh -c 'gcc -D_GNU_SOURCE -pthread executes.c -o executes || exit 1
  for how in name descriptor script memory folder spawn; do ./executes $how thread || exit 1; done'

# --- a program that the recording has no copy of, as it was installed, is not replaced in silence; a copy that is damaged neither
prepare() { :; }
replays installed sh -c 'cp /bin/echo here && ./here some words && rm here'
number=$(sed -n 's/^[^ ]* \([0-9]*\) .*\/here$/\1/p' out/recording/files/list)
printf x | dd of="out/recording/files/$number" bs=1 seek=5000 conv=notrunc status=none
timeout 30 "$weir" replay out/recording >out/stdout 2>out/stderr && fail "a damaged copy is executed"
grep -q "files/$number: the sum is wrong" out/stderr || fail "a damaged copy: $(cat out/stderr)"

# --- a static program is executed under Weir, and recorded; what Weir cannot enter is named: in a recording at its end, else when
# it is executed, once by each program
rm -rf out place && mkdir out place
echo 'int puts(const char*); int main(void) { return puts("entered") < 0; }' >place/static.c
gcc -static place/static.c -o place/static || fail "no static program"
cp place/static place/outside && chmod u+s place/outside
cat >place/run <<'S'
./outside && ./outside && (./outside) && env -i ./outside && ./static && (./static)
S
(cd place && exec setpriv --reuid 65534 --clear-groups true) || fail "no setpriv"
chmod 755 "$work" && chmod 777 place out
as_nobody() { (cd place && exec setpriv --reuid 65534 --clear-groups env HOME=/nonexistent timeout 60 "$weir" "$@"); }
if as_nobody --version >/dev/null 2>&1; then  # it takes root, and a build that others can read
  as_nobody record -o "$work/out/recording" -- sh run >out/stdout 2>out/stderr </dev/null || fail "a set-uid program: $(cat out/stderr)"
  [ "$(grep -c 'weir: ./outside was executed without Weir: it is set-uid' out/stderr)" = 1 ] || fail "a set-uid program is not named: $(cat out/stderr)"
  as_nobody replay "$work/out/recording" >out/again 2>&1 || fail "a recording with a set-uid program: $(cat out/again)"
  [ "$(grep -c entered out/again)" = 2 ] || fail "a replay shows of set-uid and static programs: $(cat out/again)"
  for how in det "run --order free --view isolated"; do
    as_nobody $how -- sh -c './outside; ./outside; (./outside); ./outside | cat' >out/stdout 2>out/stderr </dev/null
    [ "$(grep -c 'weir: ./outside is set-uid: it is executed without Weir' out/stderr)" = 1 ] || fail "$how, a set-uid program: $(cat out/stderr)"
    [ "$(grep -c entered out/stdout)" = 4 ] || fail "$how, a set-uid program prints $(cat out/stdout)"
  done
  as_nobody check -- sh -c './outside; ./outside; (./outside)' >out/stdout 2>out/stderr </dev/null && fail "a set-uid program is not checked: status 0"
  [ "$(grep -c 'weir: ./outside was not checked: it is set-uid' out/stderr)" = 1 ] || fail "check, a set-uid program: $(cat out/stderr)"
fi
for how in det "run --order free --view isolated" check; do
  (cd place && exec timeout 60 "$weir" $how -- sh -c './static; ./static; (./static); ./static | cat') >out/stdout 2>out/stderr </dev/null
  grep -q 'without Weir' out/stderr && fail "$how, a static program: $(cat out/stderr)"
  [ "$(grep -c entered out/stdout)" = 4 ] || fail "$how, a static program prints $(cat out/stdout)"
done

# --- what a program has made does not keep the command when Weir has ended the program, nor where the command is told to end
cat >left.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static void* waits(void* unused) { pause(); return unused; }
int main(int count, char** arguments) {
  pthread_t thread;
  if (fork() == 0) {
    pthread_create(&thread, NULL, waits, NULL);
    if (fork() == 0) pause();
    pause();
    return 0;
  }
  usleep(200000);
  if (count > 1) {
    puts("left");
    fflush(stdout);
    if (count > 2) pause();
    return 0;
  }
  // At View direct this is the end. At the others it is a thread after a file that is mapped shared
  // over memory in use.
  syscall(SYS_shmat, 0, 1, 0);
  char* at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  at[0] = 1;
  int file = memfd_create("ring", 0);
  ftruncate(file, 4096);
  mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  pthread_create(&thread, NULL, waits, NULL);
  return 0;
}
C
gcc -w -pthread left.c -o left || fail "left.c"
for view in coherent isolated direct; do
  rm -rf left-recorded
  timeout -k 1 20 "$weir" record --quiet --view $view -o left-recorded -- ./left >left.out 2>&1
  status=$?
  [ $status = 125 ] || fail "$view, a refused call while children wait: status $status, $(cat left.out)"
  for how in behind "behind stays"; do  # the second time it is ended by the signal itself
    rm -rf left-recorded
    "$weir" record --quiet --view $view -o left-recorded -- ./left $how >left.out 2>&1 &
    command=$!
    for _ in $(seq 100); do grep -q left left.out && break; sleep 0.1; done
    sleep 0.3
    kill -TERM $command
    for _ in $(seq 100); do kill -0 $command 2>/dev/null || break; sleep 0.1; done
    kill -KILL $command 2>/dev/null && fail "$view, $how: SIGTERM does not reach what it has left"
    wait $command 2>/dev/null
    want=$([ "$how" = behind ] && echo 0 || echo 143)
    timeout -k 1 20 "$weir" replay left-recorded >left.out 2>&1
    status=$?
    [ $status = "$want" ] || fail "$view, $how: replay's status $status, $(cat left.out)"
  done
done

echo "executed: $failed failures"
[ "$failed" = 0 ]
