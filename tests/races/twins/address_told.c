// An address is converted into the memory that another thread reads.
#include <arpa/inet.h>

#include "twin.h"

static struct in_addr address;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    if (inet_pton(AF_INET, "127.0.0.1", &address) != 1) abort();  // RACE
  } else {
    use((long)address.s_addr);  // RACE
  }
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
