// Reads of sockets in a program with threads, where a recording asks for what is there instead of
// asking whether anything is: whole, in pieces, of nothing, at the end, within a time limit, of
// datagrams, where the program has given recvfrom away, and of a pipe.
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static int g_pair[2];

static void tell(const char* what, int descriptor, size_t size) {
  char bytes[64] = {0};
  errno = 0;
  const ssize_t got = read(descriptor, bytes, size);
  const int error = got < 0 ? errno : 0;
  printf("%s: %zd %d %.*s\n", what, got, error, got > 0 ? (int)got : 0, bytes);
}

static void* write_text(void* text) {
  if (write(g_pair[0], text, strlen(text)) < 0) perror("write");
  return NULL;
}

static void* read_without_recvfrom(void* unused) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvfrom, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) perror("prctl");
  if (write(g_pair[0], "filtered", 8) != 8) perror("write");
  tell("without recvfrom", g_pair[1], 64);
  return unused;
}

static void open_pair(int type) {
  if (socketpair(AF_UNIX, type, 0, g_pair) != 0) perror("socketpair");
}

static void close_pair(void) {
  close(g_pair[0]);
  close(g_pair[1]);
}

int main(void) {
  pthread_t thread;
  open_pair(SOCK_STREAM);
  pthread_create(&thread, NULL, write_text, "waited for");
  tell("waits", g_pair[1], 64);
  pthread_join(thread, NULL);
  if (write(g_pair[0], "in pieces", 9) != 9) perror("write");
  tell("first piece", g_pair[1], 3);
  tell("nothing asked for", g_pair[1], 0);
  tell("the rest", g_pair[1], 64);
  fcntl(g_pair[1], F_SETFL, O_NONBLOCK);
  tell("nothing there", g_pair[1], 64);
  fcntl(g_pair[1], F_SETFL, 0);
  const struct timeval limit = {0, 30000};
  setsockopt(g_pair[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  tell("time limit", g_pair[1], 64);
  shutdown(g_pair[0], SHUT_WR);
  tell("the end", g_pair[1], 64);
  close_pair();
  for (int i = 0; i < 2; i++) {
    open_pair(i ? SOCK_SEQPACKET : SOCK_DGRAM);
    if (write(g_pair[0], "one message", 11) != 11 || write(g_pair[0], "another", 7) != 7)
      perror("write");
    tell("cut off", g_pair[1], 3);
    tell("whole", g_pair[1], 64);
    close_pair();
  }
  if (pipe(g_pair) != 0) perror("pipe");
  const int end = g_pair[0];  // the number of a socket before
  if (write(g_pair[1], "of a pipe", 9) != 9) perror("write");
  tell("pipe", end, 64);
  close_pair();
  open_pair(SOCK_STREAM);
  pthread_create(&thread, NULL, read_without_recvfrom, NULL);
  pthread_join(thread, NULL);
  return 0;
}
