// An executable segment that holds constants, too (-z noseparate-code, as gold and old linkers do
// it): a megabyte of pseudo-random words, which hold the bytes of every locked instruction. They
// must be what they were when the program was built.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { kWords = 1 << 18 };
extern const uint32_t words[kWords];
asm(".section .rodata\n.balign 4\n.globl words\n.type words,@object\nwords:\n.set value,12345\n"
    ".rept 262144\n.set value,(value*1664525+1013904223)&0xffffffff\n.long value\n.endr\n.size "
    "words,.-words\n.text\n");

static int counter;

static void* compare(void* unused) {
  uint32_t value = 12345;
  int changed = 0;
  for (int i = 0; i < kWords; i++) {
    value = value * 1664525 + 1013904223;
    changed += words[i] != value;
  }
  for (int i = 0; i < 1000; i++) __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&counter, changed, __ATOMIC_SEQ_CST);
  return unused;
}

int main(void) {
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, compare, NULL);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  printf("%d\n", counter);
  return 0;
}
