// A sound buffer is replaced by a smaller one; a writer goes on with the old size.
#include "planted.h"

static struct {
  char* bytes;
  int size;
} buffer;

static void* write_bytes(void* unused) {
  lock();
  const int size = buffer.size;
  BUG(unlock(); lock();)
  for (int i = 0; i < size; i++) buffer.bytes[i] = 1;
  unlock();
  return unused;
}

static void* shrink(void* unused) {
  lock();
  free(buffer.bytes);
  buffer.bytes = malloc(16);
  buffer.size = 16;
  unlock();
  return unused;
}

int main(void) {
  buffer.bytes = malloc(64);
  buffer.size = 64;
  RUN(write_bytes, shrink);
  free(buffer.bytes);
  return 0;
}
