// strcpy into a text and strlen of it, both under the mutex.
#include "program.h"

char title[64] = "first";
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* writer(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    strcpy(title, i % 2 ? "a long title of many words" : "short");
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void* reader(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    use((long)strlen(title));
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
