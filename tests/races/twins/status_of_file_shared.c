// Two threads ask for the status of files into one struct.
#include "twin.h"

#include <sys/stat.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct stat status;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  guard(&mutex);
  if (stat((long)number ? "/" : "/tmp", &status) != 0) abort();  // RACE
  use((long)status.st_ino);                                       // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
