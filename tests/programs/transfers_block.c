// Calls that wait for another thread in the middle: writev and sendfile into a full pipe, splice,
// MSG_WAITALL, sendmmsg, recvmmsg. And a descriptor at a high number is the program's own: it can
// be closed and replaced.
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "program.h"

enum { kPart = 50000, kParts = 4, kMessages = 600 };
static int ends[2], sockets[2], datagrams[2], onward[2], file;
static char part[kPart];

static void* sends(void* unused) {
  struct iovec parts[kParts];
  off_t offset = 1000;
  loff_t from = 500;
  long sent = 0;
  for (int i = 0; i < kParts; ++i) parts[i] = (struct iovec){part, kPart};
  CHECK_EQ(writev(ends[1], parts, kParts), kParts * kPart);
  while (sent < kPart - 1000) {
    ssize_t n = sendfile(ends[1], file, &offset, (size_t)(kPart - 1000 - sent));
    CHECK(n > 0);
    sent += n;
    CHECK_EQ(offset, 1000 + sent);
  }
  CHECK_EQ(splice(file, &from, ends[1], NULL, 1500, 0), 1500);
  CHECK_EQ(from, 2000);
  CHECK_EQ(close(ends[1]), 0);
  for (int i = 0; i < 10; ++i) {
    CHECK_EQ(send(sockets[1], part + i * 100, 100, 0), 100);
    sched_yield();
  }
  struct mmsghdr messages[kMessages];
  struct iovec texts[kMessages];
  memset(messages, 0, sizeof messages);
  for (int i = 0; i < kMessages; ++i) {
    texts[i] = (struct iovec){part + i, 1 + (size_t)i % 7};
    messages[i].msg_hdr.msg_iov = &texts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  CHECK_EQ(sendmmsg(datagrams[1], messages, kMessages, 0), kMessages);
  for (int i = 0; i < kMessages; ++i) CHECK_EQ(messages[i].msg_len, 1 + i % 7);
  return unused;
}

static void* splices(void* unused) {
  char text[5];
  CHECK_EQ(splice(sockets[0], NULL, onward[1], NULL, 5, 0), 5);
  CHECK_EQ(read(onward[0], text, 5), 5);
  CHECK_EQ(memcmp(text, "splic", 5), 0);
  return unused;
}

int main(void) {
  pthread_t thread;
  static char buffer[7000], all[1000];
  long total = 0;
  for (int i = 0; i < kPart; ++i) part[i] = (char)(i * 37 >> 4);
  char name[] = "/tmp/weir-transfersXXXXXX";
  CHECK((file = mkstemp(name)) >= 0);
  CHECK_EQ(unlink(name), 0);
  CHECK_EQ(write(file, part, kPart), kPart);
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(pipe(onward), 0);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams), 0);
  CHECK_EQ(pthread_create(&thread, NULL, sends, NULL), 0);
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0; total += n) {
    for (ssize_t i = 0; i < n; ++i) {
      const long at = total + i, body = (long)kParts * kPart, tail = body + kPart - 1000;
      CHECK_EQ(buffer[i], at < body   ? part[at % kPart]
                          : at < tail ? part[at - body + 1000]
                                      : part[at - tail + 500]);
    }
  }
  CHECK_EQ(total, (long)kParts * kPart + kPart + 500);
  CHECK_EQ(recv(sockets[0], all, 700, MSG_WAITALL), 700);
  struct iovec two[2] = {{all + 700, 100}, {all + 800, 200}};
  struct msghdr header = {.msg_iov = two, .msg_iovlen = 2};
  CHECK_EQ(recvmsg(sockets[0], &header, MSG_WAITALL), 300);
  CHECK_EQ(memcmp(all, part, sizeof all), 0);
  for (int i = 0; i < kMessages; i += 2) {
    struct mmsghdr messages[2] = {{{.msg_iov = &two[0], .msg_iovlen = 1}, 0},
                                  {{.msg_iov = &two[1], .msg_iovlen = 1}, 0}};
    CHECK_EQ(recvmmsg(datagrams[0], messages, 2, 0, NULL), 2);
    CHECK_EQ(messages[0].msg_len, 1 + i % 7);
    CHECK_EQ(messages[1].msg_len, 1 + (i + 1) % 7);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, splices, NULL), 0);
  sleep_ms(5);
  CHECK_EQ(write(sockets[1], "splic", 5), 5);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  // The highest number that there can be, unless Weir has it: then the next one below.
  int high = (int)sysconf(_SC_OPEN_MAX) - 1, mine = 0;
  if (high > 64000) high = 64000;
  for (; !mine && high > 3; --high)
    mine = fcntl(high, F_GETFD) == -1 && dup2(file, high) == high ? high : 0;
  CHECK_EQ(dup2(ends[0], mine), mine);
  CHECK_EQ(close(mine), 0);
  CHECK_EQ(close(mine), -1);
  CHECK_EQ(errno, EBADF);
  printf("bytes %ld\n", total);
  return 0;
}
