// Locked instructions in their rarer encodings give the right memory, registers and flags: on the
// stack, in the red zone, with high bytes, relative to rip, rsp and r12 to r15, with 8-bit, 16-bit
// and immediate operands.
#include "program.h"

static uint32_t word = 100;
static uint8_t byte_word = 250;
static uint64_t table[16];

static void check_flags(void) {
  uint8_t carry, zero, sign, overflow;
  __asm__ volatile("lock addb $6, %4"
                   : "=@ccc"(carry), "=@ccz"(zero), "=@ccs"(sign), "=@cco"(overflow),
                     "+m"(byte_word));
  CHECK(carry && zero && !sign && !overflow);
  __asm__ volatile("lock decb %3"
                   : "=@ccz"(zero), "=@ccs"(sign), "=@cco"(overflow), "+m"(byte_word));
  CHECK(!zero && sign && !overflow);
  CHECK_EQ(byte_word, 255);
  __asm__ volatile("stc; lock incl %1"
                   : "=@ccc"(carry), "+m"(word));  // inc leaves the carry alone.
  CHECK(carry);
  __asm__ volatile("lock negl %1" : "=@ccc"(carry), "+m"(word));
  CHECK(carry);
  __asm__ volatile("stc; lock notl %1" : "=@ccc"(carry), "+m"(word));
  CHECK(carry);
  CHECK_EQ(word, 100);
  __asm__ volatile("stc; lock adcl $5, %0; lock sbbl $1, %0" : "+m"(word));
  CHECK_EQ(word, 105);
}

static void check_registers(void) {
  uint32_t high = 0x1200, expected = 105, fresh = 9;
  uint8_t equal;
  __asm__ volatile("xchgb %%ah, %1" : "+a"(high), "+m"(byte_word));
  CHECK(high == 0xff00 && byte_word == 0x12);
  __asm__ volatile("lock xaddb %%ah, %1" : "+a"(high), "+m"(byte_word));
  CHECK(high == 0x1200 && byte_word == 0x11);
  __asm__ volatile("lock cmpxchgl %3, %1"
                   : "=@ccz"(equal), "+m"(word), "+a"(expected)
                   : "r"(fresh));
  CHECK(equal && word == 9 && expected == 105);
  __asm__ volatile("lock cmpxchgl %3, %1"
                   : "=@ccz"(equal), "+m"(word), "+a"(expected)
                   : "r"(fresh));
  CHECK(!equal && word == 9 && expected == 9);
  uint32_t low = (uint32_t)table[1], top = (uint32_t)(table[1] >> 32);
  __asm__ volatile("lock cmpxchg8b %1"
                   : "=@ccz"(equal), "+m"(table[1]), "+a"(low), "+d"(top)
                   : "b"(11), "c"(22));
  CHECK(equal && table[1] == (22ull << 32 | 11));
}

static void check_addressing(void) {
  uint64_t index = 3, one = 1, stacked;
  __asm__ volatile(
      "mov %[base], %%r12\n mov %[index], %%r13\n mov %[base], %%r15\n"
      "lock xaddq %[one], 8(%%r12,%%r13,8)\n lock orw $0x101, 2(%%r15)\n lock btsq $7, (%%r12)\n"
      : [one] "+r"(one)
      : [base] "r"(table), [index] "r"(index)
      : "r12", "r13", "r15", "memory", "cc");
  CHECK(one == 0 && table[4] == 1);
  CHECK_EQ(table[0], 0x1010000 | 1 << 7);
  __asm__ volatile(
      "movq $40, -16(%%rsp)\n lock addq $2, -16(%%rsp)\n movq -16(%%rsp), %0\n"  // The red zone.
      "push %0\n lock subq $1, (%%rsp)\n pop %0\n"
      : "=&r"(stacked)
      :
      : "memory", "cc");
  CHECK_EQ(stacked, 41);
  __asm__ volatile("lock incl word(%%rip)" : : : "memory", "cc");
  CHECK_EQ(word, 10);
}

static void* body(void* unused) {
  check_flags();
  check_registers();
  check_addressing();
  return unused;
}

int main(void) {
  run_threads(1, body);
  puts("encodings right");
  return 0;
}
