#!/usr/bin/env bash
# Debuggers and Valgrind below Weir: right, or refused by name; nothing waits for ever.
# usage: traced_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"

cat >tracer.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
// tracer fork|vfork|attach [threads]: traces a child until it executes /bin/true, or says what ptrace answers.
static void* idle(void* none) { return none; }
int main(int count, char** words) {
  pthread_t thread;
  int how = 0, ends[2];
  if (count < 2 || pipe(ends)) return 2;
  if (count > 2 && (pthread_create(&thread, 0, idle, 0) || pthread_join(thread, 0))) return 2;
  const int attaches = !strcmp(words[1], "attach");
  const pid_t child = !strcmp(words[1], "vfork") ? vfork() : fork();
  if (child == 0) {
    if (attaches) {
      char byte;
      close(ends[1]);
      _exit(read(ends[0], &byte, 1) != 0);
    }
    if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(errno);
    execl("/bin/true", "true", (char*)0);
    _exit(100);
  }
  if (attaches) {
    if (ptrace(PTRACE_ATTACH, child, 0, 0)) {
      printf("refused %d\n", errno);
    } else {
      waitpid(child, &how, 0);
      printf("stopped\n");
      ptrace(PTRACE_DETACH, child, 0, 0);
    }
    close(ends[1]);
    waitpid(child, &how, 0);
    return WEXITSTATUS(how);
  }
  while (waitpid(child, &how, 0) == child && WIFSTOPPED(how)) {
    printf("stopped\n");
    ptrace(PTRACE_CONT, child, 0, 0);
  }
  return WEXITSTATUS(how);
}
C
cc -O1 -pthread -o tracer tracer.c || fail "cannot compile"

# A program without threads traces as ever; one with threads does so where they are threads.
for way in fork attach; do
  ends 0 '' "$weir" det -- ./tracer $way
  grep -q stopped stdout || fail "det, $way: $(cat stdout)"
done
for way in fork vfork attach; do
  ends 0 '' "$weir" run --order token --view direct -- ./tracer $way threads
  grep -q stopped stdout || fail "direct, $way: $(cat stdout)"
done
for way in fork vfork; do
  ends 1 'a debugger with threads does not work under Weir' "$weir" det -- ./tracer $way threads  # EPERM
done
ends 0 'a debugger with threads does not work under Weir' "$weir" det -- ./tracer attach threads
grep -q 'refused 1' stdout || fail "attach: $(cat stdout)"

# A tool of Valgrind's is a static program in a folder of that name.
mkdir valgrind
echo 'int main(void) { return 3; }' >tool.c
cc -static -o valgrind/memcheck-amd64-linux tool.c || fail "cannot compile a static program"
tool=$work/valgrind/memcheck-amd64-linux
for command in det check "record -o it"; do
  # shellcheck disable=SC2086
  ends 126 "$tool is Valgrind, which executes its program by itself: run it without Weir" "$weir" $command -- sh -c "exec $tool"
done
ends 126 '' "$weir" replay it
ends 3 '' "$weir" run --order free --view direct -- sh -c "exec $tool"

echo "traced: $failed failures"
[ "$failed" = 0 ]
