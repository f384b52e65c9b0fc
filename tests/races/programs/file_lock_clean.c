// Two threads count under the lock of a file. One after the other.
#include <fcntl.h>
#include <sys/file.h>

#include "program.h"

char name[64];
int count;

static void* body(void* unused) {
  int file = open(name, O_RDWR);
  for (int i = 0; i < 20; i++) {
    if (flock(file, LOCK_EX) != 0) abort();
    count++;
    flock(file, LOCK_UN);
  }
  return unused;
}

int main(void) {
  snprintf(name, sizeof name, "/tmp/file_lock.%d", (int)getpid());
  if (open(name, O_CREAT | O_RDWR, 0600) < 0) abort();
  run_two(body, body);
  unlink(name);
  return 0;
}
