// A thread executes: what cannot be executed answers as natively and the program goes on; execvp
// runs a file of no kind by the shell; fexecve and execveat make the program another one with the
// same pid. The program calls itself by stages.
#include "program.h"

static char self[PATH_MAX], stage[4], pid[16];
static int next;

static void write_file(const char* name, const char* text, int mode) {
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, mode);
  CHECK(file >= 0);
  CHECK_EQ(write(file, text, strlen(text)), (ssize_t)strlen(text));
  CHECK_EQ(close(file), 0);
}

static void refused(const char* name, int wanted) {
  char* arguments[] = {(char*)name, NULL};
  CHECK_EQ(execve(name, arguments, environ), -1);
  CHECK_EQ(errno, wanted);
}

static void* refusals(void* unused) {
  write_file("plain", "exit 7\n", 0755);
  write_file("closed", "#!/bin/sh\nexit 7\n", 0644);
  write_file("orphan", "#!/no/such/interpreter\n", 0755);
  write_file("loop", "#!./loop\n", 0755);
  write_file("elf", "\177ELF\2\1\1", 0755);
  refused("./plain", ENOEXEC);
  refused("./elf", ENOEXEC);
  refused("./closed", EACCES);
  refused("./orphan", ENOENT);
  refused("./loop", ELOOP);
  refused("./none", ENOENT);
  refused("/", EACCES);
  refused((char*)8, EFAULT);
  CHECK_EQ(syscall(SYS_execve, self, (char**)8, environ), -1);
  CHECK_EQ(errno, EFAULT);
  char* big = malloc(200000);
  memset(big, 'x', 199999);
  big[199999] = 0;
  char* arguments[] = {self, big, NULL};
  CHECK_EQ(execve(self, arguments, environ), -1);
  CHECK_EQ(errno, E2BIG);
  static char* many[201];
  big[100000] = 0;
  for (int i = 0; i < 200; ++i) many[i] = big;
  CHECK_EQ(execve(self, many, environ), -1);
  CHECK_EQ(errno, E2BIG);
  CHECK_EQ(syscall(SYS_execveat, AT_FDCWD, "", arguments, environ, 0), -1);
  CHECK_EQ(errno, ENOENT);
  CHECK_EQ(syscall(SYS_execveat, -5, "x", arguments, environ, 0), -1);
  CHECK_EQ(errno, EBADF);
  free(big);
  const char* names[] = {"plain", "closed", "orphan", "loop", "elf"};
  for (int i = 1; i < 5; ++i) CHECK_EQ(unlink(names[i]), 0);
  puts("refused");
  fflush(stdout);
  return unused;
}

static void* executes(void* unused) {
  char* arguments[] = {self, stage, pid, self, NULL};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  snprintf(stage, sizeof stage, "%d", next);
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  int file = open(self, O_RDONLY | O_CLOEXEC);
  CHECK(file >= 0);
  if (next == 1) fexecve(file, arguments, environ);
  if (next == 2) {
    char* slash = strrchr(self, '/');
    *slash = 0;
    int folder = open(self, O_PATH | O_DIRECTORY);
    *slash = '/';
    CHECK(folder >= 0);
    syscall(SYS_execveat, folder, slash + 1, arguments, environ, 0);
  }
  if (next == 3) {
    char* by_shell[] = {(char*)"./plain", NULL};
    execvp("./plain", by_shell);
  }
  CHECK(!"executed");
  return unused;
}

int main(int argc, char** argv) {
  pthread_t thread;
  sigset_t set;
  const int now = argument(argc, argv, 1, 0);
  if (now == 0) {
    CHECK(realpath("/proc/self/exe", self) != NULL);
    CHECK_EQ(pthread_create(&thread, NULL, refusals, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  } else {
    snprintf(self, sizeof self, "%s", argv[3]);
    CHECK_EQ(getpid(), argument(argc, argv, 2, 0));
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &set), 0);
    CHECK_EQ(sigismember(&set, SIGUSR2), 1);
    printf("stage %d\n", now);
    fflush(stdout);
  }
  next = now + 1;
  CHECK_EQ(pthread_create(&thread, NULL, executes, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 1;
}
