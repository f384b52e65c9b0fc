// Two nodes refer to one buffer, and the lock lies with the buffer.
#include "program.h"

struct Buffer {
  pthread_mutex_t mutex;
  int value;
};
struct Node {
  pthread_mutex_t mutex;
  struct Buffer* buffer;
};
static struct Buffer buffer = {PTHREAD_MUTEX_INITIALIZER, 0};
static struct Node nodes[2] = {{PTHREAD_MUTEX_INITIALIZER, &buffer}, {PTHREAD_MUTEX_INITIALIZER, &buffer}};

static void* body(void* argument) {
  struct Node* node = (struct Node*)argument;
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&node->buffer->mutex);
    node->buffer->value += i;
    pthread_mutex_unlock(&node->buffer->mutex);
  }
  return NULL;
}

int main(void) {
  pthread_t one = start(body, &nodes[0]), two = start(body, &nodes[1]);
  join(one);
  join(two);
  return 0;
}
