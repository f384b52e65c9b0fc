// Two threads count while a folder exists that the one made who counts. Nobody makes it.
#include <sys/stat.h>

#include "program.h"

char name[64];
int count;

static void* body(void* unused) {
  for (int i = 0; i < 10; i++) {
    usleep(10);
    count++;  // RACE
    rmdir(name);
    usleep(100);
  }
  return unused;
}

int main(void) {
  snprintf(name, sizeof name, "/tmp/folder_lock.%d", (int)getpid());
  run_two(body, body);
  return 0;
}
