// A buffer is freed and its length cleared, while another thread asks for the length first.
#include "twin.h"

static struct {
  char* bytes;
  long length;
} buffer;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* drop(void* unused) {
  guard(&mutex);
  free(buffer.bytes);
  buffer.bytes = NULL;  // RACE
  buffer.length = 0;  // RACE
  unguard(&mutex);
  return unused;
}

static void* look(void* unused) {
  pause_ms(5);
  guard(&mutex);
  if (buffer.length > 3 && buffer.bytes) use(buffer.bytes[3]);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  buffer.bytes = calloc(16, 1);
  buffer.length = 16;
  run_two(drop, look);
  return 0;
}
