// mremap to a place that the program names, with what was there before left behind or not; its
// errors; protection, files and sharing go along.
#include "faults.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static void move_to(int more, int shared) {
  const int kind = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS;
  char* from = (char*)mmap(NULL, 4 * kPage, PROT_READ | PROT_WRITE, kind, -1, 0);
  char* place = map_pages(8, PROT_NONE);
  for (int i = 0; i < 4; i++) from[i * kPage] = (char)(i + 1);
  CHECK(mremap(from, 4 * kPage, 4 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED | more, place + kPage) ==
        place + kPage);
  CHECK_EQ(load(place + kPage), 1);
  CHECK_EQ(load(place + 4 * kPage), 4);
  CHECK_EQ(load(place), kSegv);
  CHECK_EQ(load(place + 5 * kPage), kSegv);
  CHECK_EQ(store(place + 2 * kPage, 9), 0);
  CHECK_EQ(load(from), more ? 0 : kSegvNone);
  CHECK_EQ(munmap(from, 4 * kPage), 0);
  CHECK_EQ(munmap(place, 8 * kPage), 0);
  if (shared) return;
  from = map_pages(4, PROT_READ | PROT_WRITE);
  place = map_pages(8, PROT_READ | PROT_WRITE);
  from[0] = 3, place[0] = 5, place[7 * kPage] = 6;
  CHECK(mremap(from, 4 * kPage, 4 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED | more, place) == place);
  CHECK_EQ(load(place), 3);
  CHECK_EQ(load(place + 3 * kPage), 0);
  CHECK_EQ(load(place + 7 * kPage), 6);
  CHECK_EQ(munmap(from, 4 * kPage), 0);
  CHECK_EQ(munmap(place, 8 * kPage), 0);
}

// From a reservation, where a move has brought it; what is left there can be used.
static void move_from_reserved(void) {
  char* from = map_pages(2, PROT_READ | PROT_WRITE);
  char* const place = map_pages(8, PROT_NONE);
  from[kPage] = 7;
  from = (char*)mremap(from, 2 * kPage, 2 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, place + kPage);
  CHECK(from == place + kPage);
  char* const to = (char*)mremap(from, 2 * kPage, 2 * kPage, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
  CHECK(to != (char*)MAP_FAILED && to != from);
  CHECK_EQ(load(to + kPage), 7);
  CHECK_EQ(load(from + kPage), 0);
  CHECK_EQ(store(from, 3), 0);
  CHECK_EQ(load(place), kSegv);
  CHECK_EQ(munmap(to, 2 * kPage), 0);
  CHECK_EQ(munmap(place, 8 * kPage), 0);
}

static void errors(void) {
  char* m = map_pages(6, PROT_READ | PROT_WRITE);
  char* const failed = (char*)MAP_FAILED;
  CHECK(mremap(m, 6 * kPage, 0, MREMAP_MAYMOVE) == failed && errno == EINVAL);
  CHECK(mremap(m, 6 * kPage, 6 * kPage, 64) == failed && errno == EINVAL);
  CHECK(mremap(m + 1, kPage, kPage, MREMAP_MAYMOVE) == failed && errno == EINVAL);
  CHECK(mremap(m, 2 * kPage, 2 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, m + kPage) == failed &&
        errno == EINVAL);
  CHECK(mremap(m, kPage, kPage, MREMAP_FIXED, m + 4 * kPage) == failed && errno == EINVAL);
  CHECK(mremap(m, 0, 2 * kPage, MREMAP_MAYMOVE) == failed && errno == EINVAL);
  CHECK_EQ(munmap(m + kPage, kPage), 0);
  CHECK(mremap(m, 3 * kPage, 9 * kPage, MREMAP_MAYMOVE) == failed && errno == EFAULT);
  CHECK(mremap(m + kPage, kPage, 2 * kPage, MREMAP_MAYMOVE) == failed && errno == EFAULT);
  CHECK_EQ(munmap(m, 6 * kPage), 0);
  m = map_pages(4, PROT_READ | PROT_WRITE);
  CHECK_EQ(mprotect(m + 2 * kPage, 2 * kPage, PROT_READ), 0);
  CHECK(mremap(m, 4 * kPage, 8 * kPage, MREMAP_MAYMOVE) == failed && errno == EFAULT);
  CHECK_EQ(munmap(m, 4 * kPage), 0);
}

static void with_protection(void) {
  char* m = map_pages(2, PROT_READ | PROT_WRITE);
  m[0] = 5;
  CHECK_EQ(mprotect(m, 2 * kPage, PROT_READ), 0);
  m = (char*)mremap(m, 2 * kPage, 40 * kPage, MREMAP_MAYMOVE);
  CHECK(m != MAP_FAILED);
  CHECK_EQ(load(m), 5);
  CHECK_EQ(store(m, 1), kSegv);
  CHECK_EQ(store(m + 30 * kPage, 1), kSegv);
  CHECK_EQ(munmap(m, 40 * kPage), 0);
}

static void of_files(void) {
  char bytes[kPage];
  const int file = memfd_create("moved", 0);
  for (int i = 0; i < 6; i++) {
    memset(bytes, i + 1, kPage);
    CHECK_EQ(pwrite(file, bytes, kPage, (off_t)i * kPage), kPage);
  }
  char* m = (char*)mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  CHECK_EQ(store(m, 66), 0);
  m = (char*)mremap(m, 2 * kPage, 6 * kPage, MREMAP_MAYMOVE);
  CHECK(m != MAP_FAILED);
  CHECK_EQ(load(m), 66);
  CHECK_EQ(load(m + kPage), 2);
  CHECK_EQ(load(m + 5 * kPage), 6);
  char* place = map_pages(6, PROT_NONE);
  CHECK(mremap(m, 6 * kPage, 6 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
  CHECK_EQ(load(place), 66);
  CHECK_EQ(load(place + 4 * kPage), 5);
  CHECK_EQ(madvise(place, kPage, MADV_DONTNEED), 0);
  CHECK_EQ(load(place), 1);
  CHECK_EQ(munmap(place, 6 * kPage), 0);
  m = (char*)mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, kPage);
  place = (char*)mremap(m, 0, 2 * kPage, MREMAP_MAYMOVE);  // once more
  CHECK(place != MAP_FAILED);
  m[0] = 44;
  CHECK_EQ(load(place), 44);
  CHECK_EQ(munmap(m, 2 * kPage), 0);
  CHECK_EQ(munmap(place, 2 * kPage), 0);
  CHECK_EQ(close(file), 0);
}

static void body(void) {
  move_to(0, 0);
  move_to(MREMAP_DONTUNMAP, 0);
  move_to(0, 1);
  move_from_reserved();
  errors();
  with_protection();
  of_files();
}

int main(void) {
  run_everywhere(body);
  printf("moved\n");
  return 0;
}
