#!/usr/bin/env bash
# What the user of a recorded program sees, by whatever call and descriptor, a replay shows again.
# usage: output_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"

cat >prints.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
static char input[200000], line[100];
static int file, seekable, number;
static void check(int good, const char* what) {
  if (!good) perror(what), exit(1);
}
static const char* said(const char* how) {
  snprintf(line, sizeof line, "%s %d\n", how, ++number);
  return line;
}
static void say_to(int descriptor, const char* how) {
  const size_t length = strlen(said(how));
  check(write(descriptor, line, length) == (ssize_t)length, how);
}
// A pipe that holds what was said.
static int filled(const char* how) {
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  say_to(ends[1], how);
  close(ends[1]);
  return ends[0];
}
static void by_splice(int out) {
  off_t at = 1000, none = 0;
  int in = filled("splice from a pipe");
  while (splice(in, NULL, out, NULL, 100000, 0) > 0) {}
  close(in);
  if (seekable) return;  // splice needs a pipe
  check(splice(file, &at, out, NULL, 50, 0) == 50 && at == 1050, "splice from a file");
  check(lseek(file, 2000, SEEK_SET) == 2000 && splice(file, NULL, out, NULL, 50, 0) == 50 && lseek(file, 0, SEEK_CUR) == 2050, "splice from where it stands");
  in = filled("tee");
  const ssize_t length = tee(in, out, 1000, 0);
  check(length > 0 && read(in, line, sizeof line) == length, "tee");
  check(tee(file, out, 10, 0) == -1, "tee of a file");
  check(splice(in, &none, out, NULL, 10, 0) == -1, "splice of a pipe at an offset");
  close(in);
  const struct iovec parts[2] = {{"vm", 2}, {"splice\n", 7}};
  check(vmsplice(out, parts, 2, 0) == 9, "vmsplice");
}
static void by_files(int out) {
  off_t at = 3000, more = 5000;
  const off_t big = 150000;
  check(sendfile(out, file, &at, 40) == 40 && at == 3040, "sendfile");
  check(lseek(file, 4000, SEEK_SET) == 4000, "lseek");
  for (off_t left = big, sent; left; left -= sent) check((sent = sendfile(out, file, NULL, left)) > 0 && sent <= left, "sendfile of much");
  check(lseek(file, 0, SEEK_CUR) == 4000 + big, "sendfile's place");
  while (sendfile(out, file, NULL, 1000000) > 0) {}
  check(lseek(file, 0, SEEK_CUR) == (off_t)sizeof input && sendfile(out, file, NULL, 10) == 0, "sendfile to the end");
  check(sendfile(out, -1, NULL, 10) == -1, "sendfile of nothing");
  const ssize_t copied = copy_file_range(file, &more, out, NULL, 30, 0);
  check(copied == (seekable ? 30 : -1), "copy_file_range");
  check(copied < 0 || more == 5030, "copy_file_range's offset");
}
static void by_names(void) {
  const char* const names[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  for (int i = 0; i < 3; i++) {
    const int again = open(names[i], O_WRONLY | O_APPEND);
    check(again >= 0, names[i]);
    say_to(again, names[i]);
    const int third = dup(again);
    close(again);
    say_to(third, "and duplicated");
    close(third);
  }
  FILE* stream = fopen("/dev/stdout", "a");
  fputs(said("a stream"), stream);
  fclose(stream);
  const int nothing = open("/dev/null", O_WRONLY), own = open("own", O_RDWR | O_CREAT | O_TRUNC, 0600);
  say_to(nothing, "to nowhere");
  say_to(own, "to a file");
  close(nothing), close(own), unlink("own");
}
static void by_vectors(void) {
  const struct iovec parts[3] = {{"one ", 4}, {"", 0}, {"two\n", 4}};
  check(writev(1, parts, 3) == 8, "writev");
  check(pwritev2(1, parts, 3, -1, 0) == 8, "pwritev2");
  if (seekable) {
    const off_t at = lseek(1, 0, SEEK_CUR);
    check(pwrite(1, "at an offset\n", 13, at) == 13 && pwritev(1, parts, 3, at + 13) == 8 && lseek(1, at + 21, SEEK_SET) > 0, "pwrite");
  } else {
    check(pwrite(1, "x", 1, 0) == -1, "pwrite to a pipe");
  }
}
static void by_duplicates(char* self) {
  const int high = fcntl(1, F_DUPFD, 200), nine = dup2(1, 9);
  say_to(high, "a high one");
  say_to(nine, "nine");
  close(high);
  for (int i = 0; i < 2; i++) {
    char* arguments[] = {self, i ? "spawned" : "forked", NULL};
    pid_t child;
    if (i) posix_spawn(&child, self, NULL, NULL, arguments, environ);
    else if ((child = fork()) == 0) execv(self, arguments);
    waitpid(child, NULL, 0);
  }
  fcntl(9, F_SETFD, FD_CLOEXEC);
  char* arguments[] = {self, "closed", NULL};
  pid_t child = fork();
  if (child == 0) execv(self, arguments);
  waitpid(child, NULL, 0);
}
static void* all(void* self) {
  say_to(1, "plainly");
  by_vectors();
  by_files(1);
  by_splice(1);
  by_names();
  if (seekable) lseek(1, 0, SEEK_END);  // what was opened once more had a place of its own
  by_duplicates(self);
  say_to(2, "an error");
  return NULL;
}
static void* computes(void* stop) {
  static volatile int rounds;
  while (!*(volatile int*)stop) rounds++, usleep(1000);
  return NULL;
}
int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "threads")) {
    const int mine = open("mine", O_RDWR | O_CREAT, 0600);  // nine, or the lowest: a file where an output may have been
    say_to(mine == 3 ? 1 : 2, arguments[1]);
    if (fcntl(9, F_GETFD) >= 0) say_to(9, "nine is still there");
    return unlink("mine");
  }
  for (size_t i = 0; i < sizeof input; i++) input[i] = i % 64 == 63 ? '\n' : 'a' + i / 64 % 26;
  file = open("input", O_RDWR | O_CREAT | O_TRUNC, 0600);
  check(write(file, input, sizeof input) == (ssize_t)sizeof input, "input");
  unlink("input");
  seekable = lseek(1, 0, SEEK_CUR) >= 0;
  if (count == 1) return all(arguments[0]), 0;
  pthread_t thread, other;
  int stop = 0;
  pthread_create(&other, NULL, computes, &stop);
  pthread_create(&thread, NULL, all, arguments[0]);
  pthread_join(thread, NULL);
  __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
  return pthread_join(other, NULL);
}
C
gcc -D_GNU_SOURCE -pthread -O1 prints.c -o prints || fail "cannot compile"

for view in coherent isolated direct; do
  for threads in '' threads; do
    for kind in pipe file; do
      rm -rf recording
      if [ $kind = pipe ]; then
        timeout 20 "$weir" record --quiet --view $view -o recording -- ./prints $threads 2>err | cat >out
        timeout 20 "$weir" replay recording 2>err_again | cat >out_again
      else
        timeout 20 "$weir" record --quiet --view $view -o recording -- ./prints $threads >out 2>err
        timeout 20 "$weir" replay recording >out_again 2>err_again
      fi
      ./prints $threads 2>err_native >out_native
      [ $kind = pipe ] && ./prints $threads 2>err_native | cat >out_native
      cmp -s out out_native || fail "$view $threads $kind: recorded, it prints something else: $(diff out out_native | cut -c 1-100 | head -6) $(cat err)"
      cmp -s out out_again || fail "$view $threads $kind: the replay shows something else: $(diff out out_again | cut -c 1-100 | head -6)"
      cmp -s err err_again || fail "$view $threads $kind: errors: $(diff err err_again | head -6)"
    done
  done
done

# --- the terminal, by its own name; one output for both; what cat does between files
timeout 20 script -qec "'$weir' record --quiet -o tty -- sh -c 'echo one; echo two >/dev/tty; echo three >/dev/stderr; echo four >\$(tty)'" /dev/null </dev/null >out
timeout 20 script -qec "'$weir' replay tty" /dev/null </dev/null >out_again
[ "$(tr -d '\r' <out | tr '\n' ' ')" = 'one two three four ' ] || fail "a terminal: $(cat out)"
cmp -s out out_again || fail "a terminal: the replay shows $(cat out_again)"
"$weir" record --quiet -o both -- sh -c 'echo one; echo two >&2; echo three >/dev/stderr; exec 3>&1 1>&2; echo four >&3; /bin/echo five >&3; bash -c "echo six >&3"' 2>&1 | cat >out
"$weir" replay both 2>&1 | cat >out_again
[ "$(wc -l <out)" = 6 ] && cmp -s out out_again || fail "one output for both: $(diff out out_again)"
head -c 300000 /dev/urandom >bytes
for view in coherent direct; do
  rm -rf cats && "$weir" record --quiet --view $view -o cats -- cat bytes bytes >out && rm -f out_again && "$weir" replay cats >out_again
  cmp -s out out_again && [ "$(stat -c %s out)" = 600000 ] || fail "cat from file to file, $view: $(ls -l out out_again)"
done

# --- a program that waits for a pipe's other end inside splice, tee: other threads go on
cat >waits.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static int ends[2];
static void* feeds(void* unused) {
  for (int i = 0; i < 20; i++) {
    usleep(2000);
    if (write(ends[1], "some words of a line\n", 21) != 21) return ends;
  }
  return close(ends[1]), NULL;
}
int main(int count, char** arguments) {
  char skipped[100];
  ssize_t moved;
  pthread_t thread;
  if (pipe(ends) != 0) return 1;
  pthread_create(&thread, NULL, feeds, NULL);
  if (count == 1) {
    while ((moved = splice(ends[0], NULL, 1, NULL, 30, SPLICE_F_MOVE)) > 0) {}
  } else {
    while ((moved = tee(ends[0], 1, 30, 0)) > 0 && read(ends[0], skipped, moved) == moved) {}
  }
  return pthread_join(thread, NULL) || moved < 0;
}
C
gcc -D_GNU_SOURCE -pthread -O1 waits.c -o waits || fail "cannot compile"
for view in coherent isolated direct; do
  for how in '' tee; do
    rm -rf waiting
    timeout 30 "$weir" record --quiet --view $view -o waiting -- ./waits $how | cat >out || fail "$view: splice that waits: $?"
    timeout 30 "$weir" replay waiting | cat >out_again || fail "$view: the replay of splice that waits: $?"
    [ "$(grep -c '^some words of a line$' out)" = 20 ] && cmp -s out out_again || fail "$view $how: splice that waits: $(diff out out_again | head -5)"
  done
done

# --- processes and threads that print at once, in pieces: the pieces come in the same order again
cat >at_once.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void* prints(void* name) {
  char piece[40];
  for (int i = 0; i < 250; i++) {
    const int out = i % 3 ? 1 : 2;
    if (write(out, name, strlen(name)) < 0) return name;
    if (write(out, piece, snprintf(piece, sizeof piece, " %d\n", i)) < 0) return name;
  }
  return NULL;
}
int main(void) {
  static char* names[] = {"a process", "another", "a third"};
  pthread_t thread;
  int status, bad = 0;
  for (int i = 0; i < 3; i++) {
    if (fork() == 0) _exit(prints(names[i]) != NULL);
  }
  pthread_create(&thread, NULL, prints, "a thread");
  bad = prints("the first") != NULL;
  pthread_join(thread, NULL);
  while (wait(&status) > 0) bad |= status;
  return bad;
}
C
gcc -D_GNU_SOURCE -pthread -O1 at_once.c -o at_once || fail "cannot compile"
for view in coherent isolated direct coherent isolated direct coherent isolated direct; do
  rm -rf together
  timeout 30 "$weir" record --quiet --view $view -o together -- ./at_once 2>&1 | cat >out || fail "$view: prints at once: $?"
  timeout 30 "$weir" replay together 2>&1 | cat >out_again || fail "$view: the replay of prints at once: $?"
  [ "$(wc -l <out)" = 1250 ] && cmp -s out out_again || fail "$view: prints at once: $(diff out out_again | head -5)"
  timeout 30 "$weir" replay together 2>errors_again | cat >out_again || fail "$view: the replay of prints at once, apart: $?"
  [ $(($(wc -l <out_again) + $(wc -l <errors_again))) = 1250 ] || fail "$view: prints at once, apart: $(wc -l out_again errors_again)"
done

echo "output: $failed failures"
[ "$failed" = 0 ]
