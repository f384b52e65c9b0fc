// What the kernel reads of a filter of system calls (seccomp) was written by another thread: the
// filter, the record that says where it is, and an action that is asked for.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "program.h"

enum { kPage = 4096 };

// Each on a page of its own.
static struct {
  _Alignas(kPage) struct sock_filter code[1];
  _Alignas(kPage) struct sock_fprog program;
  _Alignas(kPage) unsigned action;
  _Alignas(kPage) int end;
} g_made;

static void* makes(void* unused) {
  g_made.code[0] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  g_made.program = (struct sock_fprog){1, g_made.code};
  g_made.action = SECCOMP_RET_ERRNO;
  return unused;
}

static void* asks(void* unused) {
  printf("action: %ld\n", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &g_made.action));
  return unused;
}

static void* sets(void* unused) {
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  printf("prctl: %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &g_made.program));
  return unused;
}

static void* sets_by_seccomp(void* unused) {
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  printf("seccomp: %ld\n", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &g_made.program));
  return unused;
}

int main(void) {
  void* (*const works[])(void*) = {makes, asks, makes, sets, makes, sets_by_seccomp};
  for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, works[i], NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  return 0;
}
