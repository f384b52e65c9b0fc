// A program forbids itself to ask for its parent, as sandboxes do that allow few calls, and makes
// threads afterwards.
#include "program.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

static void* add(void* sum) {
  for (int i = 0; i < 100; i++) __atomic_add_fetch((int*)sum, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

int main(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  int sum = 0;
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) CHECK_EQ(pthread_create(&threads[i], NULL, add, &sum), 0);
  for (int i = 0; i < 3; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  printf("%d\n", sum);
  return 0;
}
