// A shared file mapping reaches the file, a private one does not; threads see both, and read and
// write calls agree.
#include "program.h"

enum { kPages = 8, kSize = kPages * 4096 };
static char *shared, *private_copy;
static int file;
static pthread_barrier_t barrier;

static void* body(void* number) {
  long me = (long)number % kPages;
  char got[4] = "";
  shared[me * 4096] = (char)('A' + me);
  private_copy[me * 4096 + 1] = (char)('a' + me);
  pthread_barrier_wait(&barrier);
  CHECK_EQ(shared[0], 'A');
  CHECK_EQ(private_copy[1], 'a');
  CHECK_EQ(pread(file, got, 2, me * 4096), 2);
  CHECK(got[0] == 'A' + me && got[1] == '.');
  pthread_barrier_wait(&barrier);
  CHECK_EQ(pwrite(file, "!", 1, me * 4096 + 2), 1);
  CHECK_EQ(shared[me * 4096 + 2], '!');
  return NULL;
}

int main(int argc, char** argv) {
  char name[] = "/tmp/program-XXXXXX", page[4096];
  int threads = argument(argc, argv, 1, 4);
  if (threads > kPages) threads = kPages;
  file = mkstemp(name);
  CHECK(file >= 0);
  CHECK_EQ(unlink(name), 0);
  memset(page, '.', sizeof page);
  for (int i = 0; i < kPages; ++i) CHECK_EQ(write(file, page, sizeof page), sizeof page);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
  shared = (char*)mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  private_copy = (char*)mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  CHECK(shared != MAP_FAILED && private_copy != MAP_FAILED);
  run_threads(threads, body);
  CHECK_EQ(pread(file, page, 4, 0), 4);
  CHECK(memcmp(page, "A.!.", 4) == 0);
  CHECK(private_copy[0] == '.' ||
        private_copy[0] == 'A');  // POSIX leaves open whether it sees later writes.
  CHECK_EQ(private_copy[1], 'a');
  CHECK_EQ(msync(shared, kSize, MS_SYNC), 0);
  CHECK_EQ(munmap(shared, kSize), 0);
  puts("files mapped");
  return 0;
}
