// MADV_WIPEONFORK and MADV_DONTFORK: a forked child finds memory zero, or none; a child of the
// child, a child after the advice was taken back, and after the memory was given back and mapped
// again.
#include "program.h"

enum { kPage = 4096 };

static char *g_early, *g_late;

static char* pages(int count) {
  char* at =
      mmap(NULL, (size_t)count * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  return at;
}

// How a child ends that reads this byte: its value, or -signal.
static int read_in_child(const char* at) {
  int status;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const pid_t grandchild = *at == 0 ? fork() : -1;
    if (grandchild == 0) _exit(*(volatile const char*)at);
    if (grandchild > 0) CHECK_CHILD(grandchild);
    _exit(*(volatile const char*)at);
  }
  CHECK_EQ(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void fills(char* at) {
  for (int i = 0; i < 4; ++i) memset(at + i * kPage, i + 1, kPage);
}

static void finds(char* at) {
  CHECK_EQ(read_in_child(at), 0);
  CHECK_EQ(read_in_child(at + 2 * kPage - 1), 0);
  CHECK_EQ(read_in_child(at + 2 * kPage), 3);
  CHECK_EQ(read_in_child(at + 3 * kPage), -SIGSEGV);
  for (int i = 0; i < 4; ++i) CHECK_EQ(at[i * kPage], i + 1);
}

static void advises(char* at) {
  fills(at);
  CHECK_EQ(madvise(at, 2 * kPage, MADV_WIPEONFORK), 0);
  CHECK_EQ(madvise(at + 3 * kPage, kPage, MADV_DONTFORK), 0);
  finds(at);
}

static void takes_back(char* at) {
  CHECK_EQ(madvise(at + kPage, kPage, MADV_KEEPONFORK), 0);
  CHECK_EQ(madvise(at + 3 * kPage, kPage, MADV_DOFORK), 0);
  CHECK_EQ(read_in_child(at), 0);
  CHECK_EQ(read_in_child(at + kPage), 2);
  CHECK_EQ(read_in_child(at + 3 * kPage), 4);
}

static void maps_again(void) {
  char* at = pages(4);
  advises(at);
  CHECK_EQ(munmap(at, 4 * kPage), 0);
  at = mmap(at, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  fills(at);
  for (int i = 0; i < 4; ++i) CHECK_EQ(read_in_child(at + i * kPage), i + 1);
  CHECK_EQ(munmap(at, 4 * kPage), 0);
}

static void* in_thread(void* unused) {
  finds(g_early);
  takes_back(g_early);
  advises(g_late = pages(4));
  maps_again();
  return unused;
}

int main(void) {
  char* first = pages(4);
  advises(first);
  takes_back(first);
  maps_again();
  advises(g_early = pages(4));
  char* reserved = mmap(NULL, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK_EQ(mprotect(reserved, 4 * kPage, PROT_READ | PROT_WRITE), 0);
  advises(reserved);
  run_threads(1, in_thread);
  finds(g_late);
  finds(reserved);
  takes_back(reserved);
  puts("advice");
  return 0;
}
