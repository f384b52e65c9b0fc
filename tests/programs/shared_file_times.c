// A file of memory that one thread maps shared while another writes it: its time is another one
// whenever somebody looks. A page that nobody writes reads the same in all mappings. The descriptor
// comes in a register whose upper half has another one, as where a compiler passes on the first
// member of a structure of two.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMappings = 100, kWrites = 3000, kPage = 4096, kSize = 2 * kPage };

static int file;

static void* write_first_page(void* unused) {
  (void)unused;
  for (int i = 0; i < kWrites; i++) {
    if (pwrite(file, "x", 1, i) != 1) return "cannot be written";
  }
  return NULL;
}

int main(void) {
  file = memfd_create("shared", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, kSize) != 0 || pwrite(file, "constant", 8, kPage) != 8) return 1;
  pthread_t writer;
  pthread_create(&writer, NULL, write_first_page, NULL);
  int right = 0;
  for (int i = 0; i < kMappings; i++) {
    const long pair = (long)file | 77L << 32;
    const long start = syscall(SYS_mmap, 0L, (long)kSize, (long)(PROT_READ | PROT_WRITE),
                               (long)MAP_SHARED, pair, 0L);
    if (start == -1) return 1;
    right += memcmp((char*)start + kPage, "constant", 8) == 0;
    munmap((void*)start, kSize);
  }
  void* wrong;
  pthread_join(writer, &wrong);
  if (wrong) return 1;
  printf("%d of %d were right\n", right, kMappings);
  return 0;
}
