// A thread runs on the stack that the program hands it, from the heap or a mapping, and main reads
// it afterwards.
#include "program.h"

enum { kSize = 256 << 10 };

static void* body(void* argument) {
  volatile char local[64];
  char* stack = (char*)argument;
  CHECK((char*)local > stack && (char*)local < stack + kSize);
  for (int i = 0; i < 64; ++i) local[i] = (char)i;
  for (int i = 0; i < 64; ++i) CHECK_EQ(local[i], i);
  stack[0] = 'x';
  return NULL;
}

static void run_on(char* stack) {
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK_EQ(pthread_attr_init(&attributes), 0);
  CHECK_EQ(pthread_attr_setstack(&attributes, stack, kSize), 0);
  CHECK_EQ(pthread_create(&thread, &attributes, body, stack), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(stack[0], 'x');
}

int main(void) {
  char* heap = (char*)aligned_alloc(4096, kSize);
  char* mapping =
      (char*)mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(heap && mapping != MAP_FAILED);
  for (int i = 0; i < 3; ++i) {
    run_on(heap);
    run_on(mapping);
    heap[0] = mapping[0] = 0;
  }
  free(heap);
  CHECK_EQ(munmap(mapping, kSize), 0);
  puts("own stacks used");
  return 0;
}
