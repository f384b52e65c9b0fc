// An array is grown by realloc while another thread reads it.
#include "twin.h"

static int* numbers;
static int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* append(void* unused) {
  for (int i = 0; i < 8; ++i) {
    guard(&mutex);
    int* grown = realloc(numbers, sizeof *grown * (size_t)(count + 1));  // RACE
    if (!grown) abort();
    numbers = grown;          // RACE
    numbers[count++] = i;     // RACE
    unguard(&mutex);
  }
  return unused;
}

static void* look(void* unused) {
  for (int i = 0; i < 8; ++i) {
    guard(&mutex);
    use(count);  // RACE
    unguard(&mutex);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(append, look);
  free(numbers);
  return 0;
}
