// write() lets the kernel read a message that another thread changes.
#include "program.h"

#include <fcntl.h>

char message[128];
static void* sender(void* unused) {
  int file = open("/dev/null", O_WRONLY);
  for (int i = 0; i < 20; ++i) {
    if (write(file, message, sizeof message) != sizeof message) abort();  // RACE
  }
  close(file);
  return unused;
}

static void* changer(void* unused) {
  for (int i = 0; i < 20; ++i) {
    message[i] = (char)i;  // RACE
  }
  return unused;
}

int main(void) {
  run_two(sender, changer);
  return 0;
}
