// Two threads have an address printed into one text.
#include <arpa/inet.h>

#include "twin.h"

static char text[32];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  const struct in_addr address = {0x0100007f};
  if (!inet_ntop(AF_INET, &address, text, sizeof text)) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(text[0]);
  return 0;
}
