// Calls by which a program names itself or one of its threads, alone and among threads: what two of
// them share, which thread gets a descriptor's signals, where memory lies, the base of a segment.
#include <asm/prctl.h>
#include <linux/kcmp.h>

#include "program.h"

static volatile sig_atomic_t seen, wrong;
static volatile int wanted;

static void on_ready(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
  if (gettid() != wanted) wrong = 1;
  seen = 1;
}

static long compare(pid_t one, pid_t other, int what, long first, long second) {
  return syscall(SYS_kcmp, one, other, what, first, second);
}

static void compare_all(void) {
  const pid_t pid = getpid(), tid = gettid();
  const int copy = dup(1), other = open("/dev/null", O_RDONLY);
  const long same = compare(pid, pid, KCMP_FILE, 1, copy);
  if (same != 0) {  // a kernel without it
    CHECK(errno == ENOSYS || errno == EPERM);
  } else {
    CHECK(compare(pid, pid, KCMP_FILE, 1, other) > 0);
    CHECK_EQ(compare(tid, pid, KCMP_FILE, 1, copy), 0);
    CHECK_EQ(compare(pid, tid, KCMP_FILES, 0, 0), 0);
    CHECK_EQ(compare(pid, tid, KCMP_FS, 0, 0), 0);
    CHECK_EQ(compare(pid, tid, KCMP_VM, 0, 0), 0);
    CHECK_EQ(compare(pid, tid, KCMP_SIGHAND, 0, 0), 0);
    CHECK_EQ(compare(pid, pid, KCMP_FILE, 1, 999), -1);
    CHECK_EQ(errno, EBADF);
  }
  CHECK_EQ(close(copy), 0);
  CHECK_EQ(close(other), 0);
}

static void own_descriptor(void) {
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  struct f_owner_ex owner = {F_OWNER_TID, gettid()}, told = {0, 0};
  CHECK_EQ(fcntl(ends[0], F_SETOWN_EX, &owner), 0);
  CHECK_EQ(fcntl(ends[0], F_GETOWN_EX, &told), 0);
  CHECK_EQ(told.type, F_OWNER_TID);
  CHECK_EQ(told.pid, gettid());
  wanted = gettid(), seen = 0;
  CHECK_EQ(fcntl(ends[0], F_SETSIG, SIGUSR1), 0);
  CHECK_EQ(fcntl(ends[0], F_SETFL, O_ASYNC), 0);
  CHECK_EQ(write(ends[1], "x", 1), 1);
  for (int i = 0; i < 5000 && !seen; ++i) sleep_ms(1);
  CHECK_EQ(seen, 1);
  CHECK_EQ(wrong, 0);
  owner.type = F_OWNER_PID, owner.pid = getpid();
  CHECK_EQ(fcntl(ends[0], F_SETOWN_EX, &owner), 0);
  CHECK_EQ(fcntl(ends[0], F_GETOWN_EX, &told), 0);
  CHECK_EQ(told.pid, getpid());
  CHECK_EQ(close(ends[0]), 0);
  CHECK_EQ(close(ends[1]), 0);
}

static void* body(void* unused) {
  unsigned long base = 1;
  char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* pages[1] = {page};
  int node = -99;
  compare_all();
  own_descriptor();
  page[0] = 1;
  if (syscall(SYS_move_pages, getpid(), 1, pages, NULL, &node, 0) == 0) CHECK(node != -99);
  else CHECK(errno == ENOSYS || errno == EPERM);
  const unsigned long nodes = 1;
  CHECK(syscall(SYS_migrate_pages, getpid(), 64, &nodes, &nodes) >= 0 || errno == ENOSYS ||
        errno == EPERM);
  CHECK_EQ(munmap(page, 4096), 0);
  CHECK_EQ(syscall(SYS_arch_prctl, ARCH_GET_GS, &base), 0);
  CHECK_EQ(base, 0);
  return unused;
}

int main(void) {
  pthread_t thread;
  const struct sigaction action = {.sa_sigaction = on_ready, .sa_flags = SA_SIGINFO | SA_RESTART};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  body(NULL);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  body(NULL);
  puts("all are its own");
  return 0;
}
