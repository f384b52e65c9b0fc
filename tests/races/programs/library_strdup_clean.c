// The text that strdup copies is only changed under the same mutex.
#include "program.h"

char text[32] = "some words";
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    char* copy = strdup(text);
    use(copy[0]);
    free(copy);
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    text[5] = (char)('a' + i);
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
