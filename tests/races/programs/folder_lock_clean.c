// Two threads count while a folder exists that the one made who counts.
#include <sys/stat.h>

#include "program.h"

char name[64];
int count;

static void* body(void* unused) {
  for (int i = 0; i < 10; i++) {
    while (mkdir(name, 0700) != 0) usleep(200);
    count++;
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
