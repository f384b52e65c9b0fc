// pthread_once runs its routine once, others wait until it is done, and a cancelled run leaves it
// to the next.
#include "program.h"

static pthread_once_t control = PTHREAD_ONCE_INIT, cancelled = PTHREAD_ONCE_INIT;
static int runs, value, cancelled_runs;

static void routine(void) {
  ++runs;
  sleep_ms(5);
  value = 99;
}

static void* body(void* unused) {
  CHECK_EQ(pthread_once(&control, routine), 0);
  CHECK_EQ(value, 99);
  return unused;
}

static void cancels_itself(void) {
  if (++cancelled_runs == 1) {
    CHECK_EQ(pthread_cancel(pthread_self()), 0);
    pthread_testcancel();
    CHECK(!"not cancelled");
  }
}

static void* tries(void* unused) {
  CHECK_EQ(pthread_once(&cancelled, cancels_itself), 0);
  return unused;
}

int main(int argc, char** argv) {
  pthread_t thread;
  void* result = NULL;
  run_threads(argument(argc, argv, 1, 4), body);
  CHECK_EQ(runs, 1);
  CHECK_EQ(pthread_create(&thread, NULL, tries, NULL), 0);
  CHECK_EQ(pthread_join(thread, &result), 0);
  CHECK(result == PTHREAD_CANCELED);
  tries(NULL);
  tries(NULL);
  CHECK_EQ(cancelled_runs, 2);
  printf("runs %d, after a cancel %d\n", runs, cancelled_runs);
  return 0;
}
