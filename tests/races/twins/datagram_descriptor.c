// A descriptor is passed by sendmsg() to another thread, with the job that goes with it.
#include "twin.h"

#include <sys/socket.h>
#include <sys/uio.h>

static int ends[2], job[2];

static void* sender(void* unused) {
  char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec vector = {&byte, 1};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control,
                           .msg_controllen = sizeof control};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int own = dup(1);
  memcpy(CMSG_DATA(header), &own, sizeof own);
  if (!RACY) job[1] = 4;
  if (sendmsg(ends[0], &message, 0) != 1) abort();
  if (RACY) job[1] = 4;  // RACE
  close(own);
  return unused;
}

static void* receiver(void* unused) {
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec vector = {&byte, 1};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control,
                           .msg_controllen = sizeof control};
  if (recvmsg(ends[1], &message, 0) != 1) abort();
  int file;
  memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  pause_ms(RACY ? 20 : 0);
  use(job[1]);  // RACE
  close(file);
  return unused;
}

int main(void) {
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return 1;
  run_two(sender, receiver);
  return 0;
}
