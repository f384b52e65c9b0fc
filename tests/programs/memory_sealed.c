// Seals of memory files: refused while the file is mapped shared, wherever, and right after that
// not; what is mapped before and after a seal.
#include "faults.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 16
#endif

static void* map_file(int file, int protection, int kind) {
  return mmap(NULL, kPage, protection, kind, file, 0);
}

static void body(void) {
  const int both = PROT_READ | PROT_WRITE;
  int file = memfd_create("sealed", MFD_ALLOW_SEALING);
  CHECK_EQ(ftruncate(file, kPage), 0);
  char* m = (char*)map_file(file, both, MAP_SHARED);
  m[0] = 5;
  CHECK_FAILS(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE), EBUSY);
  CHECK_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
  CHECK_EQ(store(m, 6), 0);
  CHECK(map_file(file, both, MAP_SHARED) == MAP_FAILED && errno == EPERM);
  char* r = (char*)map_file(file, PROT_READ, MAP_SHARED);
  CHECK_EQ(load(r), 6);
  CHECK_FAILS(mprotect(r, kPage, both), EACCES);
  CHECK_EQ(munmap(r, kPage), 0);
  CHECK_EQ(munmap(m, kPage), 0);
  CHECK_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK), 0);
  CHECK_FAILS(ftruncate(file, 0), EPERM);
  CHECK_FAILS(pwrite(file, "x", 1, 0), EPERM);
  m = (char*)map_file(file, both, MAP_PRIVATE);
  CHECK_EQ(load(m), 6);
  CHECK_EQ(store(m, 3), 0);
  CHECK_EQ(munmap(m, kPage), 0);
  m = (char*)map_file(file, PROT_READ, MAP_SHARED);
  CHECK_EQ(load(m), 6);
  CHECK_EQ(munmap(m, kPage), 0);
  CHECK_EQ(close(file), 0);
}

int main(void) {
  run_everywhere(body);
  printf("sealed\n");
  return 0;
}
