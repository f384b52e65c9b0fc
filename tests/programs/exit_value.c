// pthread_exit from deep inside runs the cleanup handlers, newest first, and hands its value to
// join.
#include "program.h"

static char order[8];
static int length;

static void note(void* letter) { order[length++] = *(const char*)letter; }

static __attribute__((noinline)) void leave(void) {
  pthread_cleanup_push(note, (void*)"c");
  pthread_exit((void*)1234L);
  pthread_cleanup_pop(0);
}

static __attribute__((noinline)) void deeper(void) {
  leave();
  note((void*)"!");
}

static void* body(void* unused) {
  pthread_cleanup_push(note, (void*)"a");
  pthread_cleanup_push(note, (void*)"b");
  pthread_cleanup_push(note, (void*)"x");
  pthread_cleanup_pop(1);
  deeper();
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return unused;
}

int main(void) {
  pthread_t thread;
  void* value = NULL;
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_join(thread, &value), 0);
  CHECK_EQ((long)value, 1234);
  CHECK(strcmp(order, "xcba") == 0);
  puts(order);
  return 0;
}
