// Two buffers: one is written while the other is read. The racy writer writes the one that is shown.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int buffers[2][16], shown;

static void* writer(void* unused) {
  for (int round = 0; round < 5; ++round) {
    pthread_mutex_lock(&mutex);
    const int next = RACY ? shown : 1 - shown;
    if (RACY) pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 16; ++i) {
      buffers[next][i] = round;  // RACE
      if (RACY && i == 8) pause_ms(5);
    }
    if (RACY) pthread_mutex_lock(&mutex);
    shown = 1 - shown;
    pthread_mutex_unlock(&mutex);
    pause_ms(2);
  }
  return unused;
}

static void* reader(void* unused) {
  for (int round = 0; round < 5; ++round) {
    pthread_mutex_lock(&mutex);
    long sum = 0;
    for (int i = 0; i < 16; ++i) sum += buffers[shown][i];  // RACE
    pthread_mutex_unlock(&mutex);
    use(sum);
    pause_ms(2);
  }
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
