// The only part of a message is changed while it is received.
#define _GNU_SOURCE 1
#include <sys/socket.h>
#include <sys/uio.h>

#include "twin.h"

static char text[8];
static struct iovec part = {text, 4};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    int ends[2];
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || write(ends[1], "ab", 2) != 2) abort();
    if (recvmsg(ends[0], &header, 0) < 0) abort();  // RACE
  } else {
    part.iov_len = 3;  // RACE
  }
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
