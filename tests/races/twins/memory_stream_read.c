// The text of a memory stream is read while another thread prints to the stream.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char* text;
static size_t size;
static FILE* stream;

static void* printer(void* unused) {
  for (int i = 0; i < 4; ++i) {
    guard(&mutex);
    fprintf(stream, "line %d\n", i);
    fflush(stream);  // RACE
    unguard(&mutex);
    pause_ms(2);
  }
  return unused;
}

static void* reader(void* unused) {
  for (int i = 0; i < 4; ++i) {
    guard(&mutex);
    use((long)size + (text != NULL));  // RACE
    unguard(&mutex);
    pause_ms(2);
  }
  return unused;
}

int main(void) {
  stream = open_memstream(&text, &size);
  run_two(printer, reader);
  fclose(stream);
  free(text);
  return 0;
}
