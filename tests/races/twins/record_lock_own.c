// Record locks of fcntl() are the process's, so they do not keep two of its threads apart; those of
// the open file description do.
#include "twin.h"

#include <fcntl.h>

static char name[] = "/tmp/recordXXXXXX";
static int balance;

static void* body(void* number) {
  const int file = open(name, O_RDWR);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
  pause_ms(5 * (int)(long)number);
  if (fcntl(file, RACY ? F_SETLKW : F_OFD_SETLKW, &lock) != 0) abort();
  balance += 1;  // RACE
  pause_ms(20);
  balance += 1;  // RACE
  lock.l_type = F_UNLCK;
  if (fcntl(file, RACY ? F_SETLKW : F_OFD_SETLKW, &lock) != 0) abort();
  close(file);
  return NULL;
}

int main(void) {
  const int file = mkstemp(name);
  if (file < 0) return 1;
  run_threads(2, body);
  close(file);
  unlink(name);
  use(balance);
  return 0;
}
