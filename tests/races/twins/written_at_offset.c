// pwrite() takes its bytes from a table that another thread fills.
#include "twin.h"

static char table[128];
static int file;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* save(void* unused) {
  guard(&mutex);
  if (pwrite(file, table, sizeof table, 0) != sizeof table) abort();  // RACE
  unguard(&mutex);
  return unused;
}

static void* fill(void* unused) {
  guard(&mutex);
  for (int i = 0; i < 128; ++i) table[i] = (char)i;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  char name[] = "/tmp/twin_XXXXXX";
  file = mkstemp(name);
  if (file < 0 || unlink(name)) abort();
  run_two(save, fill);
  return 0;
}
