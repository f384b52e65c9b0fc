// A tracer's buffers: writers put their lines into the current one; who finds it full gives it to a
// flusher and makes a new one current. A writer that has chosen its buffer before that writes into
// one that the flusher has emptied meanwhile, and the line is lost.
#include "planted.h"

enum { kLines = 4, kWriters = 3, kEach = 3 };
struct Buffer {
  int count;
  int lines[kLines];
};
static struct Buffer buffers[2], *volatile current = &buffers[0];
static int flushed;

static void flush(struct Buffer* buffer) {
  flushed += buffer->count;
  buffer->count = 0;
}

static void put(int line) {
  BUG(struct Buffer* buffer = current;)
  lock();
  FIX(struct Buffer* buffer = current;)
  BUG(if (buffer != current) {
    buffer->lines[buffer->count % kLines] = line;  // nobody flushes it again before it is current
    unlock();
    return;
  })
  buffer->lines[buffer->count++] = line;
  if (buffer->count == kLines) {
    current = buffer == &buffers[0] ? &buffers[1] : &buffers[0];
    flush(buffer);
  }
  unlock();
}

static void* writes(void* number) {
  for (int i = 0; i < kEach; i++) put((int)(long)number);
  return number;
}

int main(void) {
  run_many(kWriters, writes, 0, NULL);
  flush(&buffers[0]);
  flush(&buffers[1]);
  REQUIRE(flushed == kWriters * kEach);
  return 0;
}
