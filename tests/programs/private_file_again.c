/* Private mappings of a file, written and given up by MADV_DONTNEED: they have the file's bytes
   again, of part of a mapping too; so does a mapping that grows. Mapped before there are threads
   and afterwards. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

enum { kPage = 4096, kPages = 8, kGrown = 12 };

static int file;
static char* early;

static char expected(int page) { return (char)('a' + page); }

static char* map(int protection, int flags, char* at, int pages) {
  char* const p = mmap(at, (size_t)pages * kPage, protection, MAP_PRIVATE | flags, file, 0);
  CHECK(p != MAP_FAILED);
  return p;
}

static void* see(void* of) {
  const char* const p = of;
  for (int i = 0; i < kPages; i++) CHECK_EQ(p[i * kPage], i == 1 || i == 2 ? expected(i) : 'X');
  return NULL;
}

static void use(char* p, int threads) {
  for (int i = 0; i < kPages; i++) p[i * kPage] = 'X';
  CHECK_EQ(madvise(p + kPage, 2 * kPage, MADV_DONTNEED), 0);
  see(p);
  if (threads) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, see, p), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  const pid_t child = fork();
  if (child == 0) {
    if (madvise(p, kPages * kPage, MADV_DONTNEED) != 0) _exit(1);
    for (int i = 0; i < kPages; i++) {
      if (p[i * kPage] != expected(i)) _exit(2 + i);
    }
    _exit(0);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  see(p);
  CHECK_EQ(madvise(p, kPages * kPage, MADV_DONTNEED), 0);
  for (int i = 0; i < kPages; i++) CHECK_EQ(p[i * kPage], expected(i));
  /* What lies there afterwards is no file's. */
  CHECK(mmap(p + 3 * kPage, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == p + 3 * kPage);
  p[3 * kPage] = 'Y';
  CHECK_EQ(madvise(p, kPages * kPage, MADV_DONTNEED), 0);
  for (int i = 0; i < kPages; i++) CHECK_EQ(p[i * kPage], i == 3 ? 0 : expected(i));
}

static void* work(void* unused) {
  use(map(PROT_READ | PROT_WRITE, 0, NULL, kPages), 1);
  char* const late = map(PROT_READ, 0, NULL, kPages);
  CHECK_EQ(mprotect(late, kPages * kPage, PROT_READ | PROT_WRITE), 0);
  use(late, 1);
  char* const room =
      mmap(NULL, 16 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  use(map(PROT_READ | PROT_WRITE, MAP_FIXED, room + 2 * kPage, kPages), 1);
  char* const small = map(PROT_READ | PROT_WRITE, 0, NULL, kPages);
  small[kPage] = 'X';
  char* const grown = mremap(small, kPages * kPage, kGrown * kPage, MREMAP_MAYMOVE);
  CHECK(grown != MAP_FAILED);
  for (int i = 0; i < kGrown; i++) CHECK_EQ(grown[i * kPage], i == 1 ? 'X' : expected(i));
  CHECK_EQ(madvise(grown, kGrown * kPage, MADV_DONTNEED), 0);
  for (int i = 0; i < kGrown; i++) CHECK_EQ(grown[i * kPage], expected(i));
  return unused;
}

int main(void) {
  char name[] = "again-XXXXXX";
  file = mkstemp(name);
  CHECK(file >= 0);
  for (int i = 0; i < kGrown; i++) {
    char page[kPage];
    memset(page, expected(i), sizeof page);
    CHECK_EQ(write(file, page, sizeof page), kPage);
  }
  use(map(PROT_READ | PROT_WRITE, 0, NULL, kPages), 0);
  early = map(PROT_READ | PROT_WRITE, 0, NULL, kPages);
  early[0] = 'X';
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, work, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  use(early, 1);
  unlink(name);
  puts("the file's bytes again");
  return 0;
}
