// Sandboxes that let a process read, write and end only: one that is told so by an error, and two
// that the kernel ends for anything else. The last of them asks for something else.
#include "program.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#define ALLOWED(call, rest) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, rest, 0)

static void confine(unsigned action) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOWED(SYS_read, 4),
      ALLOWED(SYS_write, 3),
      ALLOWED(SYS_exit, 2),
      ALLOWED(SYS_exit_group, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  if (action == SECCOMP_RET_KILL_PROCESS)
    CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  else CHECK_EQ(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), 0);
}

enum { kNumbers = 5 };

static void triple(int from, int to) {
  long number;
  for (int i = 0; i < kNumbers; i++) {
    if (read(from, &number, sizeof number) != sizeof number) _exit(1);
    number *= 3;
    if (write(to, &number, sizeof number) != sizeof number) _exit(2);
  }
}

static void run(unsigned action, int asks) {
  int there[2], back[2], status;
  CHECK_EQ(pipe(there), 0);
  CHECK_EQ(pipe(back), 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    confine(action);
    triple(there[0], back[1]);
    if (asks) _exit(syscall(SYS_getppid) == -1 && errno == EPERM ? 7 : 3);
    _exit(0);
  }
  long number, sum = 0;
  for (long i = 0; i < kNumbers; i++) {
    CHECK_EQ(write(there[1], &i, sizeof i), (long)sizeof i);
    CHECK_EQ(read(back[0], &number, sizeof number), (long)sizeof number);
    sum += number;
  }
  CHECK_EQ(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) printf("sum %ld, signal %d\n", sum, WTERMSIG(status));
  else printf("sum %ld, exit %d\n", sum, WEXITSTATUS(status));
}

int main(void) {
  run(SECCOMP_RET_ERRNO | EPERM, 1);
  run(SECCOMP_RET_KILL_PROCESS, 0);
  run(SECCOMP_RET_KILL_PROCESS, 1);
  return 0;
}
