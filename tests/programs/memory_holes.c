// Calls on a range of which the program has some pages only, or whose protection forbids them, do
// and answer what the kernel does and answers; brk that goes down and up gives zeros.
#include "faults.h"

static void holes(void) {
  enum { kPopulateRead = 22, kPopulateWrite = 23 };
  unsigned char resident[6];
  char* m = map_pages(6, PROT_READ | PROT_WRITE);
  memset(m, 1, 6 * kPage);
  CHECK_EQ(munmap(m + 2 * kPage, kPage), 0);
  CHECK_FAILS(msync(m, 6 * kPage, MS_SYNC), ENOMEM);
  CHECK_EQ(msync(m, 2 * kPage, MS_ASYNC), 0);
  CHECK_FAILS(msync(m + 1, kPage, MS_SYNC), EINVAL);
  CHECK_FAILS(msync(m, kPage, MS_SYNC | MS_ASYNC), EINVAL);
  CHECK_FAILS(mincore(m, 6 * kPage, resident), ENOMEM);
  CHECK_FAILS(madvise(m, 6 * kPage, MADV_NORMAL), ENOMEM);
  CHECK_FAILS(madvise(m + 1, kPage, MADV_NORMAL), EINVAL);
  CHECK_FAILS(madvise(m, 6 * kPage, MADV_DONTNEED), ENOMEM);
  CHECK_EQ(load(m), 0);
  CHECK_EQ(load(m + 2 * kPage), kSegvNone);
  CHECK_EQ(load(m + 5 * kPage), 0);
  CHECK_FAILS(madvise(m, 6 * kPage, MADV_DONTFORK), ENOMEM);
  CHECK_FAILS(mprotect(m, 6 * kPage, PROT_READ), ENOMEM);
  CHECK_EQ(store(m, 1), kSegv);  // up to the hole
  CHECK_EQ(store(m + 3 * kPage, 1), 0);
  CHECK_FAILS(mprotect(m + 2 * kPage, kPage, PROT_READ), ENOMEM);
  CHECK_FAILS(mprotect(m + 1, kPage, PROT_READ | PROT_WRITE), EINVAL);
  CHECK_FAILS(munlock(m, 6 * kPage), ENOMEM);
  CHECK_FAILS(syscall(SYS_mlock2, m, (long)kPage, 8), EINVAL);
  if (madvise(m + 3 * kPage, kPage, kPopulateRead) == 0) {  // Linux 5.14
    CHECK_FAILS(madvise(m, kPage, kPopulateWrite), EINVAL);
    CHECK_FAILS(madvise(m, 6 * kPage, kPopulateRead), ENOMEM);
  }
  CHECK_EQ(munmap(m, 6 * kPage), 0);
  CHECK_EQ(munmap(m, 6 * kPage), 0);
  CHECK_FAILS(syscall(SYS_mprotect, m, (long)kPage, 0x1000), EINVAL);
}

static void removed(void) {
  char* m = map_pages(2, PROT_READ | PROT_WRITE);
  m[0] = 1;
  CHECK_FAILS(madvise(m, kPage, MADV_REMOVE), EINVAL);
  CHECK_EQ(load(m), 1);
  CHECK_FAILS(remap_file_pages(m, kPage, 0, 1, 0), EINVAL);
  CHECK_EQ(munmap(m, 2 * kPage), 0);
  const int file = memfd_create("removed", 0);
  CHECK_EQ(ftruncate(file, 2 * kPage), 0);
  m = (char*)mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  memset(m, 7, 2 * kPage);
  CHECK_EQ(madvise(m + kPage, kPage, MADV_REMOVE), 0);
  CHECK_EQ(load(m + kPage), 0);
  CHECK_EQ(load(m), 7);
  CHECK_EQ(munmap(m, 2 * kPage), 0);
  m = (char*)mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  CHECK_FAILS(madvise(m, kPage, MADV_REMOVE), EACCES);
  CHECK_EQ(store(m, 8), 0);
  CHECK_EQ(madvise(m, kPage, MADV_DONTNEED), 0);  // of a file without a name
  CHECK_EQ(load(m), 7);
  CHECK_EQ(munmap(m, kPage), 0);
  CHECK_EQ(close(file), 0);
}

static void heap_end(void) {
  char* start = (char*)sbrk(0);
  CHECK(sbrk(8 * kPage) == start);
  memset(start, 7, 8 * kPage);
  CHECK(sbrk(-6 * kPage) == start + 8 * kPage);
  CHECK_EQ(load(start + kPage), 7);
  CHECK_EQ(load(start + 7 * kPage), kSegvNone);
  CHECK(sbrk(6 * kPage) == start + 2 * kPage);
  CHECK_EQ(load(start + 7 * kPage), 0);
  CHECK(sbrk(-8 * kPage) == start + 8 * kPage);
}

static void forked(void) {
  char* m = map_pages(2, PROT_READ | PROT_WRITE);
  int status;
  m[0] = 3, m[kPage] = 4;
  CHECK_EQ(madvise(m, kPage, MADV_WIPEONFORK), 0);
  CHECK_EQ(madvise(m + kPage, kPage, MADV_DONTFORK), 0);
  const pid_t child = fork();
  if (!child) _exit(load(m) == 0 && load(m + kPage) == kSegvNone ? 5 : 6);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(WEXITSTATUS(status), 5);
  CHECK_EQ(munmap(m, 2 * kPage), 0);
}

static void body(void) {
  holes();
  removed();
  heap_end();
  forked();
}

int main(void) {
  run_everywhere(body);
  printf("as the kernel has it\n");
  return 0;
}
