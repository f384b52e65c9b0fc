// A mutex that processes may share, in memory that they may share.
#include <sys/mman.h>

#include "twin.h"

static pthread_mutex_t* mutex;
static int count;

static void* body(void* number) {
  for (int i = 0; i < 20; ++i) {
    guard(mutex);
    count += (int)(long)number;  // RACE
    unguard(mutex);
  }
  return NULL;
}

int main(void) {
  pthread_mutexattr_t attributes;
  mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(mutex, &attributes);
  run_threads(3, body);
  use(count);
  return 0;
}
