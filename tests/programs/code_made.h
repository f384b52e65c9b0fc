// Memory for code that a program makes itself, in the ways that JIT compilers have.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kCommitted, kOpened, kAtOnce, kInTurns, kTwice, kWays };

static void* checked(void* memory) {
  if (memory == MAP_FAILED) abort();
  return memory;
}

// A page of code, made in that way in the program's own memory.
static inline void* make_code(int way, const unsigned char* code, size_t size) {
  enum { kSize = 65536 };
  const int all = PROT_READ | PROT_WRITE | PROT_EXEC, data = PROT_READ | PROT_WRITE,
            run = PROT_READ | PROT_EXEC;
  if (way == kTwice) {  // one file in memory, written here and executed there
    const int file = memfd_create("code", 0);
    if (file < 0 || ftruncate(file, kSize) != 0) abort();
    memcpy(checked(mmap(NULL, kSize, data, MAP_SHARED, file, 0)), code, size);
    void* place = checked(mmap(NULL, kSize, run, MAP_SHARED, file, 0));
    close(file);
    return place;
  }
  const int reserved = way == kAtOnce ? all : way == kInTurns ? data : PROT_NONE;
  char* place =
      checked(mmap(NULL, 16 * kSize, reserved, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (way == kCommitted)
    checked(mmap(place, kSize, all, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (way == kOpened && mprotect(place, kSize, all) != 0) abort();
  memcpy(place, code, size);
  if (way == kInTurns && mprotect(place, kSize, run) != 0) abort();
  return place;
}
