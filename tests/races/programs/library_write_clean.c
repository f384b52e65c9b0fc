// write() lets the kernel read a message that another thread changes, each under the mutex.
#include "program.h"

#include <fcntl.h>

char message[128];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* sender(void* unused) {
  int file = open("/dev/null", O_WRONLY);
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    if (write(file, message, sizeof message) != sizeof message) abort();
    pthread_mutex_unlock(&mutex);
  }
  close(file);
  return unused;
}

static void* changer(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    message[i] = (char)i;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(sender, changer);
  return 0;
}
