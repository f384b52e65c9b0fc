#!/usr/bin/env bash
# `weir check` of programs that are executed by others, which give them no variables and close all
# descriptors: their races are found; what cannot be checked is named, and the status says so.
# usage: check_executed_test.sh BUILD
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"

fail() {
  failed=$((failed + 1))
  echo "FAILED: $*"
}

cat >racy.c <<'C'
#include <pthread.h>
#include <unistd.h>
static long counter;
static void* count(void* unused) {
  for (int i = 0; i < 100; i++) counter++;  // RACE
  return unused;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, count, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
C
cat >closes.c <<'C'
// Executes what it is told, with every descriptor closed and nothing but what LD_PRELOAD says left.
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>
int main(int count, char** arguments) {
  if (count < 2) return 0;
  for (int i = 3; i < 70000; i++) close(i);
  execv(arguments[1], arguments + 1);
  return 1;
}
C
cat >daemon.c <<'C'
#define _GNU_SOURCE
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char** arguments) {
  char* none[] = {NULL};
  if (arguments[2]) {
    if (fork() > 0) return 0;
    setsid();
    if (fork() > 0) _exit(0);
    close_range(3, ~0u, 0);
    usleep(200000);
    execve(arguments[1], arguments + 1, none);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  pid_t child;
  int status = 1;
  if (posix_spawn(&child, arguments[1], &actions, NULL, arguments + 1, none) == 0) waitpid(child, &status, 0);
  return status;
}
C
cat >nameless.c <<'C'
// Executes a copy of a program that has no name: a static one cannot be entered then.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>
extern char** environ;
int main(int count, char** arguments) {
  const int from = open(arguments[1], O_RDONLY), to = memfd_create("copy", MFD_CLOEXEC);
  while (sendfile(to, from, 0, 1 << 20) > 0) {}
  fexecve(to, arguments + 1, environ);
  return 1;
}
C
gcc nameless.c -o nameless && gcc -g -O1 -pthread racy.c -o racy && gcc -static closes.c -o closes-static && gcc closes.c -o closes && gcc -w daemon.c -o daemon || exit 1
printf '#!/bin/sh\nexec %s/racy\n' "$PWD" >script && chmod +x script
line=racy.c:$(grep -n "// RACE" racy.c | cut -d: -f1)

# finds COMMAND...: the race of racy.c is reported, with its line.
finds() {
  local status
  timeout 60 "$weir" check -- "$@" >out 2>err </dev/null
  status=$?
  [ $status = 66 ] && grep -q "data race: counter: .*$line" err || fail "$*: status $status: $(cat err)"
}
python=$(command -v python3)
finds ./closes "$PWD/racy"
finds ./daemon "$PWD/racy"
finds ./daemon "$PWD/racy" leaves
finds env -i ./racy
finds env -i ./script
finds sh -c "exec env -i sh -c ./script"
if [ -n "$python" ]; then
  finds "$python" -c "import subprocess; subprocess.run(['./racy'])"
  finds "$python" -c "import subprocess; subprocess.run(['./racy'], env={}, capture_output=True)"
  finds "$python" -c "import os; os.closerange(3, 65536); os.execv('./racy', ['racy'])"
  finds sh -c "$python -c \"import subprocess; subprocess.run(['sh', '-c', './racy'])\""
  # Another program's modules lie where this one's do.
  finds "$python" -c "
import subprocess, threading
thread = threading.Thread(target=lambda: None)
thread.start()
thread.join()
subprocess.run(['./racy'])"
fi

finds ./closes-static "$PWD/racy"
finds sh -c "./closes-static $PWD/racy"

# A program that Weir cannot enter: its name and the cause; what it executes is checked all the same, though it has
# closed all descriptors.
unchecked() { # STATUS OPTION... -- COMMAND...
  local want=$1 status
  shift
  timeout 60 "$weir" check "$@" >out 2>err </dev/null
  status=$?
  [ $status = "$want" ] || fail "$*: status $status instead of $want: $(cat err)"
  [ "$(grep -c "^weir: (a descriptor) was not checked: it is statically linked$" err)" = 1 ] || fail "$*: $(cat err)"
}
unchecked 125 -- sh -c './nameless ./closes-static; ./nameless ./closes-static; sh -c "./nameless ./closes-static"'
grep -q 'no race found in what was checked' err || fail "$(cat err)"
unchecked 0 --allow-unchecked -- ./nameless ./closes-static
unchecked 3 -- sh -c './nameless ./closes-static; exit 3'
unchecked 66 -- sh -c "./nameless ./closes-static $PWD/racy"
timeout 60 "$weir" check --format json -- sh -c './nameless ./closes-static' 2>err >out </dev/null
grep -q '"program": "(a descriptor)"' err || fail "JSON: $(cat err)"

# What cannot be executed, and what was in order, is not named.
timeout 60 "$weir" check -- sh -c './none; ./racy.c; ./closes; cd /; ls >/dev/null' >out 2>err </dev/null
status=$?
[ $status = 0 ] && ! grep -q "not checked" err || fail "in order: status $status: $(cat err)"

exit $((failed != 0))
