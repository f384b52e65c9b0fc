// Addresses that are reserved without access, and what programs do with them: parts that are opened
// and closed again, guards beside buffers, the same file mapped twice in a row, copies of files,
// pieces given back, more of it than any machine has memory. From one thread, while others are
// there, after they have come and gone, and in forked children.
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "program.h"

enum { kPage = 4096, kSmall = 400 };
static const size_t kLarge = (size_t)3 << 40;
static __thread sigjmp_buf g_back;
static __thread volatile char* g_fault;

static void on_fault(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  g_fault = information->si_addr;
  siglongjmp(g_back, 1);
}

static int faults_on_read(volatile char* at) {
  if (sigsetjmp(g_back, 1)) return g_fault == at;
  (void)*at;
  return 0;
}

static int faults_on_write(volatile char* at) {
  if (sigsetjmp(g_back, 1)) return g_fault == at;
  *at = 1;
  return 0;
}

static char* reserve(size_t size) {
  char* at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(at != MAP_FAILED);
  return at;
}

static void opens(char* at, size_t size) {
  CHECK_EQ(mprotect(at, size, PROT_READ | PROT_WRITE), 0);
}

static int file_of(size_t size) {
  const int file = memfd_create("reserved", 0);
  CHECK(file >= 0);
  CHECK_EQ(ftruncate(file, (off_t)size), 0);
  return file;
}

static void guards(void) {
  char* at = reserve(5 * kPage);
  CHECK(faults_on_read(at));
  opens(at + kPage, 2 * kPage);
  memset(at + kPage, 'x', 2 * kPage);
  CHECK(faults_on_read(at + kPage - 1));
  CHECK(faults_on_write(at + 3 * kPage));
  CHECK_EQ(mprotect(at + 2 * kPage, kPage, PROT_READ), 0);
  CHECK(faults_on_write(at + 2 * kPage));
  CHECK_EQ(at[2 * kPage], 'x');
  CHECK_EQ(mprotect(at + kPage, 2 * kPage, PROT_NONE), 0);
  CHECK(faults_on_read(at + kPage));
  opens(at, 5 * kPage);
  CHECK(at[kPage] == 'x' && at[3 * kPage - 1] == 'x' && !at[0] && !at[3 * kPage]);
  CHECK_EQ(munmap(at + kPage, 3 * kPage), 0);
  CHECK(faults_on_read(at + kPage) && faults_on_read(at + 4 * kPage - 1));
  at[0] = at[4 * kPage] = 2;
  CHECK_EQ(munmap(at, 5 * kPage), 0);
  CHECK(faults_on_read(at));
  char* again = reserve(5 * kPage);
  opens(again, 5 * kPage);
  for (int i = 0; i < 5 * kPage; ++i) CHECK_EQ(again[i], 0);
  CHECK_EQ(munmap(again, 5 * kPage), 0);
}

static void fixed(void) {
  char* at = reserve(8 * kPage);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  CHECK(mmap(at + kPage, 2 * kPage, PROT_READ | PROT_WRITE, flags, -1, 0) == at + kPage);
  at[kPage] = at[3 * kPage - 1] = 7;
  CHECK(mmap(at + kPage, kPage, PROT_NONE, flags, -1, 0) == at + kPage);
  CHECK(faults_on_read(at + kPage));
  CHECK_EQ(at[3 * kPage - 1], 7);
  CHECK(mmap(at + kPage, 2 * kPage, PROT_READ | PROT_WRITE, flags, -1, 0) == at + kPage);
  CHECK_EQ(at[kPage] + at[3 * kPage - 1], 0);
  at[kPage] = 3;
  CHECK_EQ(madvise(at + kPage, 2 * kPage, MADV_DONTNEED), 0);
  CHECK_EQ(at[kPage], 0);
  const int file = file_of(2 * kPage);
  CHECK_EQ(pwrite(file, "file", 4, kPage), 4);
  CHECK(mmap(at + 4 * kPage, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) ==
        at + 4 * kPage);
  CHECK_EQ(memcmp(at + 5 * kPage, "file", 4), 0);
  at[5 * kPage] = 'm';
  char byte;
  CHECK(pread(file, &byte, 1, kPage) == 1 && byte == 'f');
  CHECK_EQ(close(file), 0);
  CHECK(faults_on_read(at + 7 * kPage));
  CHECK_EQ(munmap(at, 8 * kPage), 0);
}

static char* ring(size_t size, int protection) {
  const int file = file_of(size);
  char* at = mmap(NULL, 2 * size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  for (int i = 0; i < 2; ++i) {
    CHECK(mmap(at + (size_t)i * size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
               0) == at + (size_t)i * size);
  }
  CHECK_EQ(close(file), 0);
  return at;
}

static void* writes_ring(void* at) {
  for (int i = 0; i < 2 * kPage; i += 16) ((volatile char*)at)[2 * kPage + i] = (char)(i / 16);
  return NULL;
}

static void reads_ring(const volatile char* at) {
  for (int i = 0; i < 2 * kPage; i += 16)
    CHECK(at[i] == (char)(i / 16) && at[2 * kPage + i] == (char)(i / 16));
}

static void rings(void) {
  char* at = ring(2 * kPage, PROT_NONE);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, writes_ring, at), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  reads_ring(at);
  CHECK_EQ(munmap(at, 4 * kPage), 0);
  CHECK(faults_on_read(at));
}

static void large(void) {
  char* at = reserve(kLarge);
  char* places[] = {at, at + kLarge / 3, at + kLarge - kPage};
  for (int i = 0; i < 3; ++i) {
    CHECK(faults_on_write(places[i]));
    opens(places[i], kPage);
    memset(places[i], i + 1, kPage);
  }
  for (int i = 0; i < 3; ++i) CHECK_EQ(places[i][kPage - 1], i + 1);
  CHECK(faults_on_read(at + kLarge / 2));
  CHECK_EQ(munmap(at, kLarge), 0);
}

// Kept over the making of threads, and looked at in a child.
struct Kept {
  char *small[kSmall], *hidden, *rest, *ring;
};

static void keeps(struct Kept* kept) {
  for (int i = 0; i < kSmall; ++i) {
    kept->small[i] = reserve(3 * kPage);
    opens(kept->small[i] + kPage, kPage);
    kept->small[i][kPage] = (char)i;
  }
  kept->hidden = reserve(2 * kPage);
  opens(kept->hidden, 2 * kPage);
  kept->hidden[kPage + 5] = 'h';
  CHECK_EQ(mprotect(kept->hidden, 2 * kPage, PROT_NONE), 0);
  kept->rest = reserve((size_t)40 << 30);
  opens(kept->rest + kPage, kPage);
  kept->rest[kPage] = 'r';
  kept->ring = ring(2 * kPage, PROT_NONE);
  writes_ring(kept->ring);
}

static void finds(struct Kept* kept) {
  for (int i = 0; i < kSmall; ++i) {
    CHECK_EQ(kept->small[i][kPage], (char)i);
    CHECK(faults_on_read(kept->small[i]) && faults_on_write(kept->small[i] + 2 * kPage));
  }
  opens(kept->hidden, 2 * kPage);
  CHECK_EQ(kept->hidden[kPage + 5], 'h');
  CHECK_EQ(mprotect(kept->hidden, 2 * kPage, PROT_NONE), 0);
  CHECK(faults_on_read(kept->hidden));
  CHECK_EQ(kept->rest[kPage], 'r');
  CHECK(faults_on_read(kept->rest + ((size_t)20 << 30)));
  reads_ring(kept->ring);
}

static struct Kept g_kept;

static void in_child(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    finds(&g_kept);
    g_kept.rest[kPage] = 'c';
    guards();
    fixed();
    rings();
    _exit(0);
  }
  CHECK_CHILD(child);
  CHECK_EQ(g_kept.rest[kPage], 'r');
}

// One at a time: what one has given back another could be given.
static void* all(void* unused) {
  static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
  CHECK_EQ(pthread_mutex_lock(&turn), 0);
  guards();
  fixed();
  rings();
  large();
  finds(&g_kept);
  CHECK_EQ(pthread_mutex_unlock(&turn), 0);
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
  guards();
  fixed();
  large();
  keeps(&g_kept);
  finds(&g_kept);
  in_child();
  run_threads(3, all);
  all(NULL);
  in_child();
  puts("reserved");
  return 0;
}
