// Events in the middle of a computation (locked instructions, system calls, locks) leave vector
// registers, the x87 stack, the rounding mode and the red zone as they were.
#include "program.h"

enum { kRounds = 25, kRounding = 0x6000, kDownward = 0x2000, kUpward = 0x4000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared_count;
// registers_race: each publishes a part of this word.
__attribute__((unused)) static volatile uint64_t contended;

static void* body(void* number) {
  double seed = (double)(long)number + 0.5;
  uint64_t in[2], out[16][2];
  const unsigned rounding = (long)number % 2 ? kUpward : kDownward;
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | rounding);
  for (int round = 0; round < kRounds; ++round) {
    long pid = SYS_getpid;
    in[0] = 0x1111111111111111u * (uint64_t)((long)number + 1);
    in[1] = in[0] ^ (uint64_t)round;
#ifdef RACE
    contended = (uint64_t)(round * 8 + (long)number + 1);
#endif
    __asm__ volatile(
        "movups (%[in]), %%xmm0\n movaps %%xmm0, %%xmm1\n paddq %%xmm0, %%xmm1\n movaps %%xmm1, "
        "%%xmm7\n"
        "movaps %%xmm0, %%xmm15\n fldl %[seed]\n movq $77, -64(%%rsp)\n"
        "lock incq %[count]\n"
        "syscall\n"
        "lock incq %[count]\n"
        "cmpq $77, -64(%%rsp)\n jne 1f\n"
        "fstpl %[seed]\n movups %%xmm0, (%[out])\n movups %%xmm1, 16(%[out])\n movups %%xmm7, "
        "32(%[out])\n"
        "movups %%xmm15, 48(%[out])\n jmp 2f\n 1: ud2\n 2:\n"
        : [count] "+m"(shared_count), [seed] "+m"(seed), "+a"(pid)
        : [in] "r"(in), [out] "r"(out)
        : "rcx", "r11", "xmm0", "xmm1", "xmm7", "xmm15", "memory", "cc", "st");
    CHECK_EQ(pid, getpid());
    for (int half = 0; half < 2; ++half) {
      CHECK_EQ(out[0][half], in[half]);
      CHECK_EQ(out[1][half], in[half] * 2);
      CHECK_EQ(out[2][half], in[half] * 2);
      CHECK_EQ(out[3][half], in[half]);
    }
    CHECK(seed == (double)(long)number + 0.5);
    pthread_mutex_lock(&lock);
    ++shared_count;
    pthread_mutex_unlock(&lock);
    CHECK_EQ(__builtin_ia32_stmxcsr() & kRounding, rounding);
  }
  return NULL;
}

int main(int argc, char** argv) {
  run_threads(argument(argc, argv, 1, 4), body);
  CHECK(shared_count > 0);
  CHECK_EQ(__builtin_ia32_stmxcsr() & kRounding, 0);
  puts("registers kept");
  return 0;
}
