// System calls on pages that the program has closed, or opened for reading only: what cannot be
// written answers EFAULT as often as it is tried, a buffer that ends before a closed page is filled
// to there, and what can be read is read, whoever wrote it.
#include "program.h"

#include <sys/uio.h>

enum { kPage = 4096, kPages = 8, kTimes = 8 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *closed, *constant, *executable, *partly;
static char* untouched[4];  // of each thread: for reading only, and never written to
static int files[4], zero;  // opened by one thread: their numbers would depend on who is first
static int faults, done;

static void count(long result) {
  CHECK_EQ(result, -1);
  CHECK_EQ(errno, EFAULT);
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  ++faults;
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
}

static void check_bytes(const char* bytes, int size, int want) {
  for (int i = 0; i < size; ++i) CHECK_EQ(bytes[i], want);
}

static void* run(void* number) {
  char* own = untouched[(long)number];
  char* back = malloc(kPages * kPage);
  const int file = files[(long)number];
  CHECK(back);
  for (int i = 0; i < kTimes; ++i) {
    count(syscall(SYS_clock_gettime, CLOCK_REALTIME, closed));
    count(syscall(SYS_clock_gettime, CLOCK_REALTIME, constant + i * kPage));
    count(syscall(SYS_gettimeofday, own, NULL));
    count(syscall(SYS_uname, own));
    count(read(zero, own + 8, 100));
    count(pread(zero, constant + kPage, 2 * kPage, 0));
    count(write(file, closed, 10));
    struct iovec parts[2] = {{constant, kPages * kPage}, {executable, kPage}};
    const long whole = (kPages + 1) * kPage;
    CHECK_EQ(pwritev(file, parts, 2, 0), whole);
    CHECK_EQ(pread(file, back, kPages * kPage, 0), kPages * kPage);
    check_bytes(back, kPages * kPage, 'c');
    CHECK_EQ(pread(file, back, kPage, kPages * kPage), kPage);
    check_bytes(back, kPage, 'e');
  }
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  memset(partly, 'x', kPage);
  CHECK_EQ(pread(file, partly, 2 * kPage, 0), kPage);
  check_bytes(partly, kPage, 'c');
  ++done;
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  free(back);
  return NULL;
}

static char* map(int pages, int protection) {
  char* at = mmap(NULL, (size_t)pages * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  return at;
}

int main(void) {
  closed = map(1, PROT_NONE);
  constant = map(kPages, PROT_READ | PROT_WRITE);
  executable = map(1, PROT_READ | PROT_WRITE | PROT_EXEC);
  partly = map(2, PROT_READ | PROT_WRITE);
  zero = open("/dev/zero", O_RDONLY);
  CHECK(zero >= 0);
  for (int i = 0; i < 4; ++i) {
    untouched[i] = map(1, PROT_READ);
    files[i] = memfd_create("closed_pages", 0);
    CHECK(files[i] >= 0);
  }
  memset(constant, 'c', kPages * kPage);
  memset(executable, 'e', kPage);
  CHECK_EQ(mprotect(constant, kPages * kPage, PROT_READ), 0);
  CHECK_EQ(mprotect(partly + kPage, kPage, PROT_NONE), 0);
  run_threads(2, run);
  run((void*)2);
  run_threads(4, run);
  printf("%d faults, %d done\n", faults, done);
  return 0;
}
