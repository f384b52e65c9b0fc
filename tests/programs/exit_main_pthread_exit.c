// pthread_exit in main leaves the workers going on; the process ends with status 0 after the last
// of them.
#include "program.h"

static int left;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(void) { puts("last one out"); }

static void* body(void* main_thread) {
  CHECK_EQ(pthread_join(*(pthread_t*)main_thread, NULL) == 0 ? 0 : EINVAL, 0);
  return NULL;
}

static void* works(void* number) {
  sleep_ms(2 * (long)number);
  pthread_mutex_lock(&lock);
  ++left;
  printf("left %d\n", left);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv) {
  static pthread_t self;
  pthread_t thread;
  self = pthread_self();
  CHECK_EQ(atexit(handler), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, &self), 0);
  for (long i = 0; i < argument(argc, argv, 1, 4); ++i) {
    CHECK_EQ(pthread_create(&thread, NULL, works, (void*)i), 0);
    CHECK_EQ(pthread_detach(thread), 0);
  }
  pthread_exit(NULL);
}
