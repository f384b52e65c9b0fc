// The header of a message is changed while it is sent.
#define _GNU_SOURCE 1
#include <sys/socket.h>
#include <sys/uio.h>

#include "twin.h"

static char text[8];
static struct iovec part = {text, 4};
static struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    if (sendmsg(ends[0], &header, 0) < 0) abort();  // RACE
  } else {
    header.msg_iovlen = 1;  // RACE
  }
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
