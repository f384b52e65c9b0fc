// A read beside the page cache (O_DIRECT) that comes to the file's end: the kernel fills the buffer
// beyond what it says.
#include "program.h"

int main(void) {
  enum { kBytes = 5000, kBuffer = 8192 };
  char name[] = "read_direct.XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0);
  static char text[kBytes];
  memset(text, 'a', sizeof text);
  CHECK_EQ(write(file, text, sizeof text), kBytes);
  CHECK_EQ(fsync(file), 0);
  const int direct = open(name, O_RDONLY | O_DIRECT);  // not on every file system
  char* buffer = aligned_alloc(4096, kBuffer);
  memset(buffer, 'b', kBuffer);
  if (direct >= 0) {
    const ssize_t got = read(direct, buffer, kBuffer);
    CHECK(got == kBytes || (got == -1 && errno == EINVAL));
    if (got == kBytes) CHECK(memcmp(buffer, text, kBytes) == 0);
  }
  unlink(name);
  puts("read_direct: ok");
  return 0;
}
