// Places that a thread chooses: one in use is refused to MAP_FIXED_NOREPLACE, one that was free
// belongs to who took it. Descriptors that cannot be mapped are refused.
#include "program.h"

enum { kSize = 16 * 4096 };
static const int kRights = PROT_READ | PROT_WRITE;

static char* map(void* at, size_t size, int flags) {
  return (char*)mmap(at, size, kRights, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void refused(int descriptor, int error) {
  CHECK(mmap(NULL, 4096, kRights, MAP_PRIVATE, descriptor, 0) == MAP_FAILED);
  CHECK_EQ(errno, error);
}

static void* body(void* unused) {
  char* used = map(NULL, kSize, 0);
  char* freed = map(NULL, kSize, 0);
  char* last = map(NULL, 4096, 0);
  CHECK(used != MAP_FAILED && freed != MAP_FAILED && last != MAP_FAILED);
  memset(used, 7, kSize);
  CHECK(map(used, 4096, MAP_FIXED_NOREPLACE) == MAP_FAILED);
  CHECK_EQ(errno, EEXIST);
  CHECK_EQ(munmap(freed + 4096, kSize - 2 * 4096), 0);
  CHECK(map(freed, kSize, MAP_FIXED_NOREPLACE) == MAP_FAILED);  // the ends are in use
  CHECK_EQ(errno, EEXIST);
  char* inner = freed + 2 * 4096;
  CHECK(map(inner, 4 * 4096, MAP_FIXED_NOREPLACE) == inner);
  CHECK(map(inner + 4 * 4096, 4096, MAP_FIXED) == inner + 4 * 4096);
  memset(inner, 5, 5 * 4096);
  for (int i = 1; i <= 24; ++i) {
    char* other = map(NULL, (size_t)i % 12 * 4096 + 4096, 0);
    CHECK(other != MAP_FAILED);
    memset(other, 9, (size_t)i % 12 * 4096 + 4096);
  }
  for (int i = 0; i < 5 * 4096; ++i) CHECK_EQ(inner[i], 5);
  for (int i = 0; i < kSize; ++i) CHECK_EQ(used[i], 7);

  char name[] = "/tmp/weir-placesXXXXXX";
  int ends[2], file = mkstemp(name), only = open(name, O_WRONLY);
  CHECK(file >= 0 && only >= 0);
  CHECK_EQ(unlink(name), 0);
  CHECK_EQ(write(file, "text", 4), 4);
  CHECK_EQ(pipe(ends), 0);
  refused(-1, EBADF);
  refused(only, EACCES);
  refused(ends[0], ENODEV);
  char* text = (char*)mmap(NULL, 4096, kRights, MAP_PRIVATE, file, 0);
  CHECK(text != MAP_FAILED);
  CHECK_EQ(memcmp(text, "text", 5), 0);
  return unused;
}

int main(void) {
  run_threads(1, body);
  puts("every place has one owner");
  return 0;
}
