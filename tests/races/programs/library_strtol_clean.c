// Digits are read by strtol and changed under one mutex.
#include "program.h"

char digits[16] = "1000";
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    use(strtol(digits, NULL, 10));
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    digits[3] = (char)('0' + i % 10);
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
