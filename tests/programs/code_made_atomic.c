// Threads count by a locked instruction in code that was made at run time, in each way in which a
// program has memory for that of its own.
#include <pthread.h>
#include <stdio.h>

#include "code_made.h"

static const unsigned char counts[] = {0xeb, 1,    0xcc, 0xf0,
                                       0xff, 0x07, 0xc3};  // jmp over a byte; lock incl (%rdi); ret
static void (*count)(int*);
static int counter;

static void* work(void* unused) {
  for (int i = 0; i < 250; i++) count(&counter);
  return unused;
}

int main(void) {
  for (int way = 0; way < kTwice; way++) {
    count = make_code(way, counts, sizeof counts);
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    printf("%d\n", counter);
  }
  return 0;
}
