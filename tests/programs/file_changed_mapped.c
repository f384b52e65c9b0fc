// A file is mapped shared, and one thread holds its pages; another changes the file by calls. The
// first one sees that at its next look, and a replay shows it the same.
#include "program.h"

#include <sys/uio.h>

enum { kPage = 4096, kPages = 4, kKinds = 7 };
static pthread_barrier_t meeting;
static int file;

static void change(int kind) {
  const struct iovec part = {(char*)"V", 1};
  switch (kind) {
    case 0: CHECK_EQ(pwrite(file, "P", 1, kPage + 1), 1); break;
    case 1:
      CHECK_EQ(lseek(file, kPage + 1, SEEK_SET), kPage + 1);
      CHECK_EQ(write(file, "W", 1), 1);
      break;
    case 2:
      CHECK_EQ(lseek(file, kPage + 1, SEEK_SET), kPage + 1);
      CHECK_EQ(writev(file, &part, 1), 1);
      break;
    case 3: CHECK_EQ(pwritev(file, &part, 1, kPage + 1), 1); break;
    case 4:
      CHECK_EQ(ftruncate(file, kPage), 0);
      CHECK_EQ(ftruncate(file, kPages * kPage), 0);
      break;
    case 5:
      CHECK_EQ(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kPage, kPage), 0);
      break;
    default: CHECK_EQ(pwrite(file, "abcdefgh", 8, kPage - 2), 8); break;
  }
}

static void* change_all(void* unused) {
  for (int kind = 0; kind < kKinds; kind++) {
    pthread_barrier_wait(&meeting);
    change(kind);
    pthread_barrier_wait(&meeting);
  }
  return unused;
}

int main(void) {
  char name[] = "/var/tmp/changed-XXXXXX";
  file = mkstemp(name);
  CHECK(file >= 0);
  CHECK_EQ(unlink(name), 0);
  CHECK_EQ(ftruncate(file, kPages * kPage), 0);
  volatile char* const m =
      (char*)mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(m != MAP_FAILED);
  pthread_t thread;
  CHECK_EQ(pthread_barrier_init(&meeting, NULL, 2), 0);
  CHECK_EQ(pthread_create(&thread, NULL, change_all, NULL), 0);
  for (int kind = 0; kind < kKinds; kind++) {
    m[kPage - 1] = m[kPage + 1] = 'a';
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    printf("%d %d\n", m[kPage - 1], m[kPage + 1]);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 0;
}
