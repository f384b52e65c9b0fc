// Instructions that read memory, change it and write it, with what becomes of memory, registers and
// flags: the same whether each is made at once or in two steps.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint8_t memory[256];
static uint64_t hash = 1;

static void add_to_hash(uint64_t value) { hash = (hash ^ value) * 0x100000001b3; }

#define CHANGE(instruction, ...)                                         \
  do {                                                                   \
    uint64_t flags = 0x202 | (hash & 0x8d5), value = hash >> 7;          \
    __asm__ volatile("sub $128,%%rsp; push %0; popf; " instruction       \
                     "; pushf; pop %0; add $128,%%rsp"                   \
                     : "+r"(flags), "+c"(value)                          \
                     : "r"(memory + 64 + hash % 64)                      \
                     : "memory", "cc");                                  \
    add_to_hash(flags & 0x8d5);                                          \
    add_to_hash(value);                                                  \
    for (unsigned i = 0; i < sizeof memory; i++) add_to_hash(memory[i]); \
  } while (0)
#define SIZES(name)              \
  CHANGE(name "b %%cl,(%2)");    \
  CHANGE(name "w %%cx,(%2)");    \
  CHANGE(name "l %%ecx,(%2)");   \
  CHANGE(name "q %%rcx,(%2)");   \
  CHANGE(name "b %%ch,(%2)");    \
  CHANGE(name "b $77,(%2)");     \
  CHANGE(name "l $-70000,(%2)"); \
  CHANGE(name "q $-3,(%2)");     \
  CHANGE(name "w $300,(%2)")
#define UNARY(name)      \
  CHANGE(name "b (%2)"); \
  CHANGE(name "w (%2)"); \
  CHANGE(name "l (%2)"); \
  CHANGE(name "q (%2)")
#define BITS(name)                                \
  CHANGE("and $255,%%rcx; " name "w %%cx,(%2)");  \
  CHANGE("and $255,%%rcx; " name "l %%ecx,(%2)"); \
  CHANGE("and $255,%%rcx; " name "q %%rcx,(%2)"); \
  CHANGE(name "l $9,(%2)")

static void* change(void* argument) {
  for (unsigned i = 0; i < sizeof memory; i++) memory[i] = (uint8_t)(i * 37);
  for (int i = 0; i < 3; i++) {
    SIZES("add");
    SIZES("or");
    SIZES("adc");
    SIZES("sbb");
    SIZES("and");
    SIZES("sub");
    SIZES("xor");
    UNARY("inc");
    UNARY("dec");
    UNARY("not");
    UNARY("neg");
    BITS("bts");
    BITS("btr");
    BITS("btc");
  }
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, change, NULL);
  pthread_join(thread, NULL);
  printf("%llx\n", (unsigned long long)hash);
  return 0;
}
