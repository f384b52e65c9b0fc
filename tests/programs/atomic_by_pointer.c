// Locked instructions without a symbol or unwind information, to which only pointers lead, among
// constants that look like them, on one page: the instructions must be seen, and the constants must
// stay what they are.
#include <pthread.h>
#include <stdio.h>

asm(".text\n.p2align 4\n.byte 0xf0,0xff,0x07,0xc3\n"
    "increment: lock incl (%rdi)\nret\n"
    ".byte 0x87,0x07,0xc3\n"
    "add: mov $1,%eax\nlock xadd %eax,(%rdi)\nret\n"
    "constants: .byte 0xf0,0x48,0x0f,0xb1,0x0f,0xc3,0x11,0x22\n"
    ".data\n.balign 8\n.globl functions\nfunctions: .quad increment,add\n.globl bytes\nbytes: "
    ".quad constants\n.text\n");

extern void (*functions[2])(int*);
extern const unsigned char* bytes;
static int counters[2];

static void* work(void* unused) {
  for (int i = 0; i < 1000; i++) {
    for (int k = 0; k < 2; k++) functions[k](&counters[k]);
  }
  return unused;
}

int main(void) {
  pthread_t thread[3];
  for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, work, NULL);
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  printf("%d %d\n", counters[0], counters[1]);
  for (int i = 0; i < 8; i++) printf("%02x ", bytes[i]);
  for (int i = -3; i < 3; i++) printf("%02x ", ((const unsigned char*)functions[1])[i]);
  puts("");
  return 0;
}
