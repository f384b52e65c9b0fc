// The text that %s names is read and changed under one mutex.
#include "program.h"

char name[24] = "nobody";
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    char line[64];
    use(snprintf(line, sizeof line, "%d: %-10s %5.1f %.3s", i, name, 0.5 * i, name));
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    name[1] = (char)('a' + i);
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
