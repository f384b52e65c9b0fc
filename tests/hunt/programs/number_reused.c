// A descriptor is closed by one thread while another still has its number, which a third gets for
// another file.
#include <fcntl.h>

#include "planted.h"

static volatile int file;

static void* write_to_it(void* unused) {
  FIX(lock();)
  const int number = file;
  if (number >= 0) {
    const char word[] = "x";
    REQUIRE(write(number, word, 1) == 1);
  }
  FIX(unlock();)
  return unused;
}

static void* close_it(void* unused) {
  FIX(lock();)
  const int number = file;
  file = -1;
  close(number);
  FIX(unlock();)
  return unused;
}

// It is opened for reading only.
static void* open_another(void* unused) {
  const int other = open("/dev/null", O_RDONLY);
  REQUIRE(other >= 0);
  return unused;
}

int main(void) {
  file = open("/dev/null", O_WRONLY);
  RUN(write_to_it, close_it, open_another);
  return 0;
}
