// A length is read twice from memory that another thread changes.
#include "twin.h"

static struct {
  unsigned length;
  char text[64];
} request;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* kernel(void* unused) {
  char copy[64];
  guard(&mutex);
  if (request.length <= sizeof copy) {  // RACE
    use(0);
    unsigned length = request.length;  // RACE
    memcpy(copy, request.text, length & 63);
    use(copy[0]);
  }
  unguard(&mutex);
  return unused;
}

static void* attacker(void* unused) {
  guard(&mutex);
  request.length = 40;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  request.length = 8;
  run_two(kernel, attacker);
  return 0;
}
