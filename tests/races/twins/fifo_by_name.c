// Two threads open a FIFO by its name; what is written through it orders them.
#include "twin.h"

#include <fcntl.h>
#include <sys/stat.h>

static char name[64];
static int value;

static void* sender(void* unused) {
  const int file = open(name, O_WRONLY);
  value = 1;
  if (write(file, "x", 1) != 1) abort();
  if (RACY) value = 2;  // RACE
  close(file);
  return unused;
}

static void* receiver(void* unused) {
  char byte;
  const int file = open(name, O_RDONLY);
  if (read(file, &byte, 1) != 1) abort();
  pause_ms(RACY ? 20 : 0);
  use(value);  // RACE
  close(file);
  return unused;
}

int main(void) {
  char folder[] = "/tmp/fifoXXXXXX";
  if (!mkdtemp(folder)) return 1;
  snprintf(name, sizeof name, "%s/f", folder);
  if (mkfifo(name, 0600) != 0) return 1;
  run_two(sender, receiver);
  unlink(name);
  rmdir(folder);
  return 0;
}
