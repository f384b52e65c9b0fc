// Two threads close a connection; each looks whether it is open before the other has said that it
// is not.
#include "planted.h"

struct Connection {
  char* volatile buffer;
};
static struct Connection connection;

static void* close_it(void* unused) {
  FIX(lock();)
  char* const buffer = connection.buffer;
  if (buffer) {
    free(buffer);
    connection.buffer = NULL;
  }
  FIX(unlock();)
  return unused;
}

int main(void) {
  connection.buffer = malloc(100);
  RUN(close_it, close_it);
  return 0;
}
