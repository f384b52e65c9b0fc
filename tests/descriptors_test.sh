#!/usr/bin/env bash
# `weir check` of programs that close a descriptor which another thread uses: closes against use, and right ways to
# close.
# usage: descriptors_test.sh BUILD [RUNS]
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"
. "$here/hazards/programs.sh"

close="close against use"

pair "$close" read_after <<'C'
#include "descriptors.h"
static void* work(void* p) { return later(), read(file, &byte, 1), p; }
int main(void) {
  file = open("/dev/zero", O_RDONLY);
  const pthread_t thread = begin(work);
  if (!WRONG) end(thread);
  close(file);
  return WRONG ? pthread_join(thread, NULL) : 0;
}
C
pair "$close" write_before <<'C'
#include "descriptors.h"
static void* work(void* p) {
  write(file, "a", 1);
  if (!WRONG) sem_post(&done);
  return later(), p;
}
int main(void) {
  sem_init(&done, 0, 0);
  file = open("/dev/null", O_WRONLY);
  const pthread_t thread = begin(work);
  if (WRONG) later();
  else sem_wait(&done);
  return close(file), end(thread), 0;
}
C
pair "$close" polled <<'C'
#include "descriptors.h"
static void* work(void* p) {
  struct pollfd both[2] = {{ends[0], POLLIN, 0}, {file, POLLIN, 0}};
  poll(both, WRONG ? 2 : 1, 60);
  return p;
}
int main(void) {
  pipe(ends);
  file = eventfd(0, 0);
  const pthread_t thread = begin(work);
  return later(), close(file), end(thread), 0;
}
C
pair "$close" selected <<'C'
#include "descriptors.h"
static void* work(void* p) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(file, &set);
  struct timeval time = {0, 60000};
  if (WRONG) select(file + 1, &set, NULL, NULL, &time);
  return p;
}
int main(void) {
  file = eventfd(0, 0);
  const pthread_t thread = begin(work);
  return later(), close(file), end(thread), 0;
}
C
# A number that stands for another file by then.
pair "$close" reused <<'C'
#include "descriptors.h"
static void* work(void* p) { return later(), (void)write(WRONG ? file : 1, "", 0), p; }
int main(void) {
  file = open("/dev/null", O_WRONLY);
  const pthread_t thread = begin(work);
  close(file), open("/dev/zero", O_RDWR);
  return end(thread), 0;
}
C
pair "$close" twice <<'C'
#include "descriptors.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* p) {
  if (!WRONG) {
    pthread_mutex_lock(&lock);
    if (file >= 0) close(file), file = -1;
    return pthread_mutex_unlock(&lock), p;
  }
  return close(file), p;
}
int main(void) {
  file = open("/dev/null", O_WRONLY);
  const pthread_t one = begin(work), two = begin(work);
  return end(one), end(two), 0;
}
C
pair "$close" stream <<'C'
#include "descriptors.h"
static FILE* stream;
static void* work(void* p) { return fputs("a", stream), fflush(stream), WRONG ? 0 : sem_post(&done), p; }
int main(void) {
  sem_init(&done, 0, 0);
  stream = fopen("/dev/null", "w");
  const pthread_t thread = begin(work);
  if (WRONG) later();
  else sem_wait(&done);
  return fclose(stream), end(thread), 0;
}
C
# close() does not wake who waits in accept(); shutdown() does.
pair "$close" socket <<'C'
#include "descriptors.h"
static void* work(void* p) { return read(ends[0], &byte, 1), WRONG ? p : (close(ends[0]), p); }
int main(void) {
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  const pthread_t thread = begin(work);
  later();
  if (WRONG) close(ends[0]), close(ends[1]);
  else shutdown(ends[0], SHUT_RDWR);
  return end(thread), 0;
}
C
pair "$close" epoll <<'C'
#include "descriptors.h"
static void* work(void* p) {
  struct epoll_event event = {EPOLLIN, {.fd = file}};
  if (WRONG) later(), epoll_ctl(ends[0], EPOLL_CTL_ADD, file, &event);
  return epoll_wait(ends[0], &event, 1, 60), p;  // what is closed leaves the set
}
int main(void) {
  struct epoll_event event = {EPOLLIN, {.fd = 0}};
  file = eventfd(0, 0), ends[0] = epoll_create1(0);
  epoll_ctl(ends[0], EPOLL_CTL_ADD, file, &event);
  const pthread_t thread = begin(work);
  if (!WRONG) later();
  return close(file), end(thread), 0;
}
C

# Right in other ways.
program replaced <<'C'
#include "descriptors.h"
static void* work(void* p) {
  for (int i = 0; i < 20; i++) write(file, "a", 1), usleep(1000);
  return p;
}
int main(void) {
  file = open("/dev/null", O_WRONLY);
  const pthread_t thread = begin(work);
  usleep(5000);
  const int other = open("/dev/zero", O_WRONLY);
  return dup2(other, file), close(other), end(thread), close(file), 0;
}
C
program in_the_child <<'C'
#include "descriptors.h"
static void* work(void* p) { return write(file, "a", 1), later(), write(file, "a", 1), p; }
int main(void) {
  file = open("/dev/null", O_WRONLY);
  const pthread_t thread = begin(work);
  usleep(5000);
  const pid_t child = fork();
  if (!child) close(file), _exit(0);
  return waitpid(child, NULL, 0), end(thread), close(file), 0;
}
C
program numbers_again <<'C'
#include "descriptors.h"
static void* work(void* p) {
  for (int i = 0; i < 200; i++) {
    const int own = open(i % 2 ? "/dev/zero" : "/dev/null", O_RDWR);
    write(own, "a", 1), read(own, &byte, 1), close(own);
    int pair[2];
    if (i % 3 == 0) pipe(pair), write(pair[1], "a", 1), read(pair[0], &byte, 1), close(pair[0]), close(pair[1]);
  }
  return p;
}
int main(void) {
  const pthread_t one = begin(work), two = begin(work), three = begin(work);
  return end(one), end(two), end(three), 0;
}
C
program handed_over <<'C'
#include "descriptors.h"
static void* work(void* p) {
  for (int got; read(ends[0], &got, sizeof got) == sizeof got;) write(got, "a", 1), close(got);
  return p;
}
int main(void) {
  pipe(ends);
  const pthread_t one = begin(work), two = begin(work);
  for (int i = 0; i < 50; i++) {
    const int made = open("/dev/null", O_WRONLY);
    write(made, "a", 1), write(ends[1], &made, sizeof made);
  }
  return close(ends[1]), end(one), end(two), close(ends[0]), 0;
}
C
# What comes in a message has a number that another thread has closed.
program in_a_message <<'C'
#include "descriptors.h"
static int closed_one;
static void* shut(void* p) { return close(closed_one), p; }
static void* take(void* p) {
  later();
  char room[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  recvmsg(ends[0], &message, 0);
  int got;
  memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof got);
  write(got, "a", 1), close(got);
  return got == closed_one ? p : (void*)1;
}
int main(void) {
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  closed_one = open("/dev/null", O_WRONLY);
  file = open("/dev/null", O_WRONLY);
  char room[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &file, sizeof file);
  sendmsg(ends[1], &message, 0);
  const pthread_t one = begin(shut), two = begin(take);
  void* result;
  return end(one), pthread_join(two, &result), result != NULL;
}
C
program log_of_the_library <<'C'
#include "descriptors.h"
static void* work(void* p) { return syslog(LOG_DEBUG, "weir: a test"), later(), syslog(LOG_DEBUG, "weir: a test"), p; }
int main(void) {
  const pthread_t one = begin(work), two = begin(work);
  usleep(15000);
  return closelog(), end(one), end(two), 0;
}
C
program at_the_end <<'C'
#include "descriptors.h"
static void* work(void* p) {
  for (;;) write(file, "a", 1), usleep(500);
  return p;
}
static void shut(void) { close(file); }
int main(void) {
  file = open("/dev/null", O_WRONLY);
  atexit(shut), begin(work);
  return usleep(10000), 0;
}
C
for name in replaced in_the_child numbers_again handed_over in_a_message log_of_the_library at_the_end; do clean $name; done

# --- its words; by an option, and by suppressions
timeout 60 "$weir" check -- ./write_before.wrong >out 2>err
for words in "^weir: close against use: close of descriptor [0-9]* at write_before.c:13, use of descriptor [0-9]* at write_before.c:3" \
  "  first: use of descriptor [0-9]* by thread T1" "  then: close of descriptor [0-9]* by the main thread" \
  "^weir: 1 close against use found"; do
  grep -q "$words" err || fail "no '$words' in: $(cat err)"
done
clean write_before.wrong --hazards lock-order,lifetime
echo 'descriptor:^work$' >known
clean write_before.wrong --suppressions known
timeout 60 "$weir" check --format sarif -- ./write_before.wrong >out 2>err
grep -q '"ruleId": "descriptor"' err || fail "SARIF: $(cat err)"

exit $((failed != 0))
