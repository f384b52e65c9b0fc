// Reserved memory of which parts are readable or executable already when the first thread comes: a
// part that becomes writable later changes nothing of what lies beside it; in a forked process
// neither.
#include <sys/mman.h>
#include <sys/wait.h>

#include "program.h"

enum { kPage = 4096, kPages = 64 };

static void* nothing(void* argument) { return argument; }

static char* reserve(void) {
  char* at =
      mmap(NULL, kPages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(at != MAP_FAILED);
  return at;
}

static char* fill(int protection) {
  char* at = reserve();
  CHECK_EQ(mprotect(at, 8 * kPage, PROT_READ | PROT_WRITE), 0);
  for (int i = 0; i < 8; i++) at[i * kPage] = (char)(i + 1);
  CHECK_EQ(mprotect(at, 8 * kPage, protection), 0);
  return at;
}

static int sum(const char* at) {
  int sum = 0;
  for (int i = 0; i < 8; i++) sum += ((const volatile char*)at)[i * kPage];
  return sum;
}

int main(void) {
  char* kinds[] = {fill(PROT_READ), fill(PROT_READ | PROT_WRITE), fill(PROT_READ)};
  CHECK_EQ(mprotect(kinds[2], kPage, PROT_NONE), 0);
  pthread_t id;
  CHECK_EQ(pthread_create(&id, NULL, nothing, NULL), 0);
  CHECK_EQ(pthread_join(id, NULL), 0);
  for (int k = 0; k < 3; k++) {
    CHECK_EQ(mprotect(kinds[k], 2 * kPage, PROT_READ | PROT_WRITE), 0);
    kinds[k][kPage] = 40;
    printf("%d: %d\n", k, sum(kinds[k]));
  }
  fflush(stdout);
  const int child = fork();
  if (child == 0) {
    for (int k = 0; k < 3; k++) {
      kinds[k][0] = 50;
      CHECK_EQ(sum(kinds[k]), 50 + 40 + 3 + 4 + 5 + 6 + 7 + 8);
    }
    _exit(3);
  }
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  printf("child: %d\n", WEXITSTATUS(status));
  return 0;
}
