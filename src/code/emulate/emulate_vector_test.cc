#include "code/emulate/emulate_vector_x86_64.h"

#include <cpuid.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>

#include "code/decode/registers.h"
#include "control/control.h"

// Instructions in several forms of addressing are run natively and by emulate_vector(), with the
// same registers: vectors, masks, flags and memory must come out equal.

namespace {

using namespace weir;
using weir::trap::emulate_vector;

constexpr int kState = 4096, kMemory = 4096;
constexpr uint64_t kAddressed = 2048;  // rsi, r13 and rbx point there; rax and r14 are 3

// Each: its length in a byte, where its operand is from kAddressed on, its size, the instruction,
// ret.
extern "C" const uint8_t weir_test_vectors[], weir_test_vectors_end[], weir_test_wide[],
    weir_test_wide_end[];

#define WEIR_ONE(offset, size, text) \
  ".byte 2f-1f\n .byte " offset "\n .byte " size "\n 1: " text "\n 2: ret\n"
asm(".text\n weir_test_vectors:\n"
    WEIR_ONE("0", "8", "addsd (%rsi), %xmm3")
    WEIR_ONE("16", "8", "mulsd 16(%r13), %xmm12")
    WEIR_ONE("24", "4", "subss (%rsi,%rax,8), %xmm1")
    WEIR_ONE("32", "8", "divsd 8(%r13,%r14,8), %xmm9")
    WEIR_ONE("0", "8", "sqrtsd (%rbx), %xmm2")
    WEIR_ONE("8", "8", "cvtsi2sdq 8(%rsi), %xmm4")
    WEIR_ONE("8", "4", "cvtsi2sdl 8(%rsi), %xmm4")
    WEIR_ONE("8", "4", "cvtss2sd 8(%rsi), %xmm4")
    WEIR_ONE("16", "8", "ucomisd 16(%rsi), %xmm5")
    WEIR_ONE("16", "4", "comiss 16(%rsi), %xmm15")
    WEIR_ONE("16", "16", "addpd 16(%rsi), %xmm6")
    WEIR_ONE("16", "16", "pxor 16(%r13), %xmm11")
    WEIR_ONE("16", "16", "paddd 16(%rsi), %xmm7")
    WEIR_ONE("16", "16", "pshufd $0x1b, 16(%rsi), %xmm8")
    WEIR_ONE("16", "16", "pshufb 16(%rsi), %xmm0")
    WEIR_ONE("16", "16", "palignr $5, 16(%rsi), %xmm0")
    WEIR_ONE("16", "16", "ptest 16(%rsi), %xmm0")
    WEIR_ONE("16", "16", "cmppd $1, 16(%rsi), %xmm13")
    WEIR_ONE("3", "8", "movhpd 3(%rsi), %xmm5")
    WEIR_ONE("3", "8", "movhpd %xmm5, 3(%rsi)")
    WEIR_ONE("5", "8", "movlps %xmm10, 5(%r13)")
    WEIR_ONE("16", "4", "movd 16(%rsi), %xmm5")
    WEIR_ONE("16", "8", "movq %xmm14, 16(%rsi)")
    WEIR_ONE("16", "4", "pinsrd $2, 16(%rsi), %xmm5")
    WEIR_ONE("16", "2", "pextrw $3, %xmm5, 16(%rsi)")
    WEIR_ONE("16", "8", "paddb 16(%rsi), %mm3")
    WEIR_ONE("16", "16", "movntps %xmm3, 16(%rsi)")
    WEIR_ONE("0", "8", "addsd %ds:(%rsi), %xmm3")
    "weir_test_vectors_end:\n"
    "weir_test_wide:\n"
    WEIR_ONE("0", "8", "vaddsd (%rsi), %xmm3, %xmm4")
    WEIR_ONE("16", "8", "vmulsd 16(%r13), %xmm12, %xmm1")
    WEIR_ONE("33", "32", "vaddpd 33(%rsi), %ymm9, %ymm10")
    WEIR_ONE("24", "32", "vmovupd (%r13,%r14,8), %ymm11")
    WEIR_ONE("24", "32", "vmovupd %ymm12, (%rsi,%rax,8)")
    WEIR_ONE("32", "32", "vmovdqa 32(%rsi), %ymm2")
    WEIR_ONE("8", "4", "vbroadcastss 8(%r13), %ymm2")
    WEIR_ONE("16", "8", "vcvtsi2sdq 16(%rsi), %xmm3, %xmm14")
    WEIR_ONE("16", "8", "vucomisd 16(%rsi), %xmm14")
    WEIR_ONE("40", "32", "vpshufb 40(%rsi), %ymm5, %ymm6")
    WEIR_ONE("40", "16", "vinsertf128 $1, 40(%rsi), %ymm5, %ymm6")
    WEIR_ONE("40", "16", "vextracti128 $1, %ymm5, 40(%r13)")
    WEIR_ONE("40", "32", "vmaskmovpd 40(%rsi), %ymm5, %ymm6")
    "weir_test_wide_end:\n");

// What a signal's frame has of the processor's state.
struct State {
  alignas(64) uint8_t bytes[kState];
};

uint64_t components() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low & 0xe7;
}

// The states here, which are loaded, have exceptions of computations on: what runs after a test in
// the same process is to have them off, as before.
class KeepsControl {
 public:
  KeepsControl() { asm volatile("stmxcsr %0\n fnstcw %1" : "=m"(vectors_), "=m"(others_)); }
  ~KeepsControl() { asm volatile("emms\n ldmxcsr %0\n fldcw %1" : : "m"(vectors_), "m"(others_)); }
  KeepsControl(const KeepsControl&) = delete;
  KeepsControl& operator=(const KeepsControl&) = delete;

 private:
  uint32_t vectors_;
  uint16_t others_;
};

void run_natively(const uint8_t* code, State& state, uint8_t* memory, uint64_t& flags) {
  const uint64_t low = components();
  const uint64_t at = reinterpret_cast<uint64_t>(memory) + kAddressed;
  asm volatile(
      "mov %[at],%%rsi\n mov %%rsi,%%r13\n mov $3,%%r14d\n"
      "mov %[low],%%rax\n xor %%edx,%%edx\n xrstor64 (%[state])\n"
      "mov %%rsi,%%rbx\n mov $3,%%eax\n push %[low]\n push %[flags]\n popfq\n call *%[code]\n "
      "pushfq\n pop %[flags]\n pop %%rax\n"
      "xor %%edx,%%edx\n xsave64 (%[state])\n"
      : [flags] "+&r"(flags)
      : [state] "r"(state.bytes), [code] "r"(code), [low] "r"(low), [at] "r"(at)
      : "memory", "cc", "rax", "rbx", "rdx", "rsi", "r13", "r14", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15");
  asm volatile("emms");
}

void fill(State& state, uint8_t* memory, uint32_t seed) {
  srandom(seed);
  memset(state.bytes, 0, sizeof state.bytes);
  for (int i = 0; i < kMemory / 8; i++) {
    const double value = static_cast<double>(random()) / 1000 - 1e6;
    memcpy(memory + 8 * i, &value, 8);
  }
  const uint64_t has = components();
  uint32_t mxcsr = 0x1f80;
  memcpy(state.bytes + 24, &mxcsr, 4);
  for (int i = 0; i < 16 * 2; i++) {
    const double value = static_cast<double>(random()) / 1000 - 1e6;
    memcpy(state.bytes + 160 + 8 * i, &value, 8);
  }
  if (has & 4) {
    uint32_t size, offset, c, d;
    __cpuid_count(13, 2, size, offset, c, d);
    for (uint32_t i = 0; i < size; i++) state.bytes[offset + i] = static_cast<uint8_t>(random());
  }
  const uint64_t present = has & 7;
  memcpy(state.bytes + 512, &present, 8);
  const uint32_t magic = 0x46505853;
  memcpy(state.bytes + 464, &magic, 4);
  memcpy(state.bytes + 472, &has, 8);
}

void compare(const uint8_t* list, const uint8_t* limit) {
  const KeepsControl keeps;
  alignas(64) static uint8_t natively[kMemory], here[kMemory];
  uint32_t count = 0;
  for (const uint8_t* at = list; at < limit; count++) {
    const uint32_t length = at[0], offset = at[1], size = at[2];
    const uint8_t* code = at + 3;
    at = code + length + 1;
    for (uint32_t seed = 0; seed < 20; seed++) {
      State native_state, state;
      fill(native_state, natively, seed);
      fill(state, here, seed);
      uint64_t native_flags = 0x202 | (seed % 2 ? kStatusFlags : 0);
      ucontext_t context{};
      context.uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(state.bytes);
      context.uc_mcontext.gregs[REG_EFL] = static_cast<greg_t>(native_flags);
      run_natively(code, native_state, natively, native_flags);
      Shape shape;
      ASSERT_TRUE(read_shape(code, 15, shape));
      ASSERT_EQ(shape.length, length);
      ASSERT_TRUE(emulate_vector(context, shape, code, here + kAddressed + offset, size))
          << "instruction " << count;
      asm volatile("emms");
      ASSERT_EQ(memcmp(natively, here, kMemory), 0) << "instruction " << count;
      ASSERT_EQ(memcmp(native_state.bytes + 32, state.bytes + 32, 416 - 32), 0)
          << "instruction " << count;
      ASSERT_EQ(memcmp(native_state.bytes + 576, state.bytes + 576, 256), 0)
          << "instruction " << count;
      ASSERT_EQ(native_flags & kStatusFlags,
                static_cast<uint64_t>(context.uc_mcontext.gregs[REG_EFL]) & kStatusFlags)
          << "instruction " << count;
    }
  }
  EXPECT_GT(count, 10u);
}

TEST(EmulateVector, LeavesWhatTheProcessorLeaves) {
  compare(weir_test_vectors, weir_test_vectors_end);
}

TEST(EmulateVector, LeavesWhatTheProcessorLeavesOfWideVectors) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this processor has no AVX2";
  compare(weir_test_wide, weir_test_wide_end);
}

bool is_known(const uint8_t* code, uint8_t* memory, uint64_t size, uint32_t mxcsr = 0x1f80) {
  const KeepsControl keeps;
  static State state;
  static uint8_t unused[kMemory];
  fill(state, unused, 1);
  memcpy(state.bytes + 24, &mxcsr, 4);
  ucontext_t context{};
  context.uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(state.bytes);
  Shape shape;
  return read_shape(code, 15, shape) && emulate_vector(context, shape, code, memory, size);
}

TEST(EmulateVector, LeavesToASingleStepWhatIsNotItsBusiness) {
  alignas(64) static uint8_t memory[256];
  const uint8_t to_general[] = {0xf2, 0x48, 0x0f, 0x2c, 0x06, 0xc3};  // cvttsd2si (%rsi), %rax
  const uint8_t searches[] = {0x66, 0x0f, 0x3a, 0x61,
                              0x06, 0x00, 0xc3};  // pcmpestri $0, (%rsi), %xmm0
  const uint8_t gathers[] = {0xc4, 0xe2, 0xf1, 0x92, 0x14, 0x06, 0xc3, 0};  // vgatherdpd
  const uint8_t adds[] = {0xf2, 0x0f, 0x58, 0x06, 0xc3};                    // addsd (%rsi), %xmm0
  const uint8_t adds_both[] = {0x66, 0x0f, 0x58, 0x06, 0xc3};               // addpd (%rsi), %xmm0
  const uint8_t not_vector[] = {0x48, 0x0f, 0xaf, 0x06, 0xc3};              // imul (%rsi), %rax
  EXPECT_FALSE(is_known(to_general, memory, 8));
  EXPECT_FALSE(is_known(searches, memory, 16));
  EXPECT_FALSE(is_known(gathers, memory, 32));
  EXPECT_FALSE(is_known(not_vector, memory, 8));
  EXPECT_TRUE(is_known(adds, memory, 8));
  EXPECT_FALSE(is_known(adds, memory, 8, 0x1e00));  // exceptions of arithmetic are signals
  EXPECT_TRUE(is_known(adds_both, memory + 16, 16));
  EXPECT_FALSE(is_known(adds_both, memory + 8, 16));  // a fault natively
}

}  // namespace
