// Threads whose stacks, with what glibc keeps of a thread beside them, lie in memory that processes
// may share: a file in memory, anonymous memory, and a private mapping of the file.
#include "program.h"

enum { kStack = 1 << 17, kRounds = 3 };

static void* body(void* argument) {
  char bytes[5000];
  memset(bytes, (int)(long)argument, sizeof bytes);
  return (void*)(long)bytes[4000];
}

static void play(const char* name, void* stack) {
  CHECK(stack != MAP_FAILED);
  for (long i = 0; i < kRounds; i++) {
    pthread_attr_t attributes;
    pthread_t thread;
    void* result = NULL;
    CHECK_EQ(pthread_attr_init(&attributes), 0);
    CHECK_EQ(pthread_attr_setstack(&attributes, stack, kStack), 0);
    CHECK_EQ(pthread_create(&thread, &attributes, body, (void*)(i + 1)), 0);
    CHECK_EQ(pthread_join(thread, &result), 0);
    printf("%s: %ld\n", name, (long)result);
  }
  CHECK_EQ(munmap(stack, kStack), 0);
}

int main(void) {
  const int file = memfd_create("stack", 0), access = PROT_READ | PROT_WRITE;
  CHECK_EQ(ftruncate(file, kStack), 0);
  play("anonymous", mmap(NULL, kStack, access, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  play("file", mmap(NULL, kStack, access, MAP_SHARED, file, 0));
  play("private", mmap(NULL, kStack, access, MAP_PRIVATE, file, 0));
  return 0;
}
