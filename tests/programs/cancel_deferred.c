// A deferred cancel takes effect at the next cancellation point only, runs cleanup handlers and key
// destructors.
#include "program.h"

static pthread_key_t key;
static int cleaned, destroyed, past_request;
static volatile int requested;

static void clean(void* unused) { (void)unused, ++cleaned; }
static void destroy(void* unused) { (void)unused, ++destroyed; }

static void* body(void* unused) {
  CHECK_EQ(pthread_setspecific(key, &key), 0);
  pthread_cleanup_push(clean, NULL);
  while (!requested) sched_yield();
  past_request = 1;
  pthread_testcancel();
  CHECK(!"ran past a cancellation point");
  pthread_cleanup_pop(0);
  return unused;
}

int main(void) {
  pthread_t thread;
  void* value = NULL;
  CHECK_EQ(pthread_key_create(&key, destroy), 0);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_cancel(thread), 0);
  requested = 1;
  CHECK_EQ(pthread_join(thread, &value), 0);
  CHECK(value == PTHREAD_CANCELED);
  CHECK_EQ(cleaned, 1);
  CHECK_EQ(destroyed, 1);
  CHECK_EQ(past_request, 1);
  puts("cancelled at the point");
  return 0;
}
