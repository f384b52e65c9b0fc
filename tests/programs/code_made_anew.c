// Code is made at run time, executed, changed and executed again, by main and by threads, in every
// way in which such memory is had; once in front of another thread, which is told by a lock.
#include <pthread.h>
#include <stdio.h>

#include "code_made.h"

typedef int Function(void);
static const unsigned char answers[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov $42,%eax; ret

static void* work(void* way_at) {
  const int way = *(int*)way_at;
  unsigned char* code = make_code(way, answers, sizeof answers);
  int sum = ((Function*)code)();
  for (int i = 0; i < 5 && way != kTwice; i++) {
    if (way == kInTurns) mprotect(code, 4096, PROT_READ | PROT_WRITE);
    code[1] = (unsigned char)i;
    if (way == kInTurns) mprotect(code, 4096, PROT_READ | PROT_EXEC);
    sum += ((Function*)code)();
  }
  printf("way %d: %d\n", way, sum);
  return code;
}

static void* call(void* code) {
  printf("another thread: %d\n", ((Function*)code)());
  return NULL;
}

int main(void) {
  for (int way = 0; way < kWays; way++) {
    work(&way);
    pthread_t thread;
    void* code;
    pthread_create(&thread, NULL, work, &way);
    pthread_join(thread, &code);
    pthread_create(&thread, NULL, call, code);
    pthread_join(thread, NULL);
    munmap(code, 4096);
  }
  return 0;
}
