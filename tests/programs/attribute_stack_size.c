// A thread gets the stack size that its attributes ask for, can use it, and pthread_getattr_np
// tells it so.
#include "program.h"

static const size_t kSizes[] = {96 << 10, 256 << 10, 1 << 20, 16 << 20};

static void* body(void* argument) {
  size_t want = *(const size_t*)argument, size = 0;
  void* base = NULL;
  pthread_attr_t mine;
  char here;
  CHECK_EQ(pthread_getattr_np(pthread_self(), &mine), 0);
  CHECK_EQ(pthread_attr_getstack(&mine, &base, &size), 0);
  CHECK_EQ(pthread_attr_destroy(&mine), 0);
  CHECK(size >= want);
  CHECK(&here > (char*)base && &here < (char*)base + size);
  volatile char deep[want / 2];
  for (size_t i = 0; i < want / 2; i += 4096) deep[i] = (char)i;
  CHECK_EQ(deep[4096], 0);
  return NULL;
}

int main(void) {
  pthread_attr_t attributes;
  size_t got = 0;
  CHECK_EQ(pthread_attr_init(&attributes), 0);
  CHECK_EQ(pthread_attr_setstacksize(&attributes, 100), EINVAL);
  for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes; ++i) {
    pthread_t thread;
    CHECK_EQ(pthread_attr_setstacksize(&attributes, kSizes[i]), 0);
    CHECK_EQ(pthread_attr_getstacksize(&attributes, &got), 0);
    CHECK_EQ(got, kSizes[i]);
    CHECK_EQ(pthread_create(&thread, &attributes, body, (void*)&kSizes[i]), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  CHECK_EQ(pthread_attr_destroy(&attributes), 0);
  puts("stack sizes honoured");
  return 0;
}
