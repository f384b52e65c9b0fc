// A thread puts out a line that another one changes.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char line[] = "a line of text\n";
static FILE* out;

static void* writer(void* unused) {
  guard(&mutex);
  fputs(line, out);  // RACE
  unguard(&mutex);
  return unused;
}

static void* editor(void* unused) {
  pause_ms(20);
  guard(&mutex);
  line[3] = 'L';  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  out = fopen("/dev/null", "w");
  if (!out) return 1;
  run_two(writer, editor);
  return fclose(out) != 0;
}
