// Two threads fill the entry of a table that they miss.
#include "twin.h"

static int table[16];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int square_of(int number) {
  guard(&mutex);
  if (!table[number]) table[number] = number * number;  // RACE
  const int square = table[number];                     // RACE
  unguard(&mutex);
  return square;
}

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  use(square_of(7));
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
