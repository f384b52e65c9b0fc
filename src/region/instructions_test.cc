// Instructions that form addresses in ways of their own; random ones: fuzz/region.cc.

#include <string.h>

#include "code/decode/gather.h"
#include "region/test_regions.h"

namespace {

using namespace weir::region;

struct Closed : Owned {
  explicit Closed(size_t size = 4096, int level = PROT_NONE) : Owned(size) {
    for (size_t i = 0; i < size / 4; i++) p[i] = static_cast<int>(i);
    EXPECT_EQ(0, weir_region_protect(p, level));
  }
};

TEST(Instructions, PushPopAndCallThroughMemory) {
  Closed region(64);
  uint64_t value;
  asm volatile("pushq 8(%1)\n\tpopq %0" : "=r"(value) : "r"(fresh(region.p)) : "memory");
  EXPECT_EQ(0x300000002u, value);
  EXPECT_EQ(1, region.seen.count);
  weir_region_protect(region.p, PROT_READ);
  asm volatile("pushq %0\n\tpopq 16(%1)" ::"r"(value), "r"(fresh(region.p)) : "memory");
  EXPECT_EQ(2, region.seen.count);
  EXPECT_EQ(2, fresh(region.p)[4]);
  static int called;
  void (*function)() = +[] { called++; };
  memcpy(fresh(region.p), &function, sizeof function);
  weir_region_protect(region.p, PROT_NONE);
  (*reinterpret_cast<void (**)()>(fresh(region.p)))();
  EXPECT_EQ(1, called);
  EXPECT_EQ(3, region.seen.count);
  EXPECT_EQ(PROT_READ, region.seen.last.access);
}

TEST(Instructions, ABaseOutsideOfTheRegionIsMovedToo) {
  Closed region(4096);
  char* far = reinterpret_cast<char*>(fresh(region.p)) - 100'000;
  int value;
  asm volatile("movl 100040(%1), %0" : "=r"(value), "+r"(far)::"memory");
  EXPECT_EQ(10, value);
  EXPECT_EQ(reinterpret_cast<char*>(fresh(region.p)) - 100'000, far);
  weir_region_protect(region.p, PROT_NONE);
  uint64_t base = 40, index = reinterpret_cast<uint64_t>(fresh(region.p));
  asm volatile("movl (%1,%2), %0" : "=r"(value), "+r"(base), "+r"(index)::"memory");
  EXPECT_EQ(10, value);
  EXPECT_EQ(40u, base);
  EXPECT_EQ(reinterpret_cast<uint64_t>(fresh(region.p)), index);
}

TEST(Instructions, AllRegistersThatPointThereAreMoved) {
  Closed region(4096);
  int* at = fresh(region.p);
  int* end = at + 1024;
  long sum = 0;
  asm volatile("1: movslq (%0), %%rax\n\taddq %%rax, %2\n\taddq $4, %0\n\tcmpq %1, %0\n\tjne 1b"
               : "+r"(at), "+r"(end), "+r"(sum)::"rax", "memory", "cc");
  EXPECT_EQ(1024L * 1023 / 2, sum);
  EXPECT_EQ(1, region.seen.count);
}

TEST(Instructions, AtomicReadModifyWriteIsBoth) {
  Closed region(64, PROT_READ);
  EXPECT_EQ(3, __atomic_fetch_add(&fresh(region.p)[3], 10, __ATOMIC_SEQ_CST));
  EXPECT_EQ(PROT_READ | PROT_WRITE, region.seen.last.access);
  EXPECT_EQ(13, fresh(region.p)[3]);
}

// Pointers as indices from an address of zero: in no general register.
void gather_pointers(const uint64_t* pointers, uint64_t* values) {
  asm volatile(
      "vmovdqu (%0), %%ymm3\n\tvpcmpeqd %%ymm2, %%ymm2, %%ymm2\n\txorl %%eax, %%eax\n\t"
      "vpgatherqq %%ymm2, (%%rax,%%ymm3), %%ymm1\n\tvmovdqu %%ymm1, (%1)" ::"r"(pointers),
      "r"(values)
      : "rax", "memory", "xmm1", "xmm2", "xmm3");
}

TEST(Instructions, GathersOfPointers) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP();
  Closed a, b;
  uint64_t pointers[4], values[4];
  for (int i = 0; i < 4; i++)
    pointers[i] = reinterpret_cast<uint64_t>(fresh(i % 2 ? a.p : b.p) + 2 * i);
  gather_pointers(pointers, values);
  for (unsigned i = 0; i < 4; i++) EXPECT_EQ((uint64_t{2 * i + 1} << 32) | (2 * i), values[i]);
  EXPECT_EQ(1, a.seen.count);
  EXPECT_EQ(1, b.seen.count);
  EXPECT_EQ(8u, a.seen.last.access_size);
}

void scatter_pointers(const uint64_t* pointers, const uint64_t* values) {
  asm volatile(
      "vmovdqu64 (%0), %%zmm20\n\tvmovdqu64 (%1), %%zmm7\n\tkxnorw %%k1, %%k1, %%k1\n\txorl %%eax, "
      "%%eax\n\t"
      "vpscatterqq %%zmm7, (%%rax,%%zmm20)%{%%k1%}" ::"r"(pointers),
      "r"(values)
      : "rax", "memory");
}

TEST(Instructions, ScattersOfPointersInTheUpperRegisters) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP();
  Closed region(4096, PROT_READ);
  uint64_t pointers[8], values[8];
  for (unsigned i = 0; i < 8; i++) {
    pointers[i] = reinterpret_cast<uint64_t>(fresh(region.p) + 10 * i);
    values[i] = 1000 + i;
  }
  scatter_pointers(pointers, values);
  EXPECT_EQ(1, region.seen.count);
  EXPECT_EQ(PROT_WRITE, region.seen.last.access);
  for (unsigned i = 0; i < 8; i++) EXPECT_EQ(1000 + static_cast<int>(i), fresh(region.p)[10 * i]);
}

TEST(Instructions, GathersAreDecoded) {
  const uint8_t code[] = {0xc4, 0xe2, 0xed, 0x91,
                          0x44, 0x88, 0x10};  // vpgatherqq ymm0, [rax + ymm1*4 + 0x10], ymm2
  weir::Gather gather;
  ASSERT_TRUE(weir::decode_gather(code, sizeof code, gather));
  EXPECT_EQ(0, gather.base);
  EXPECT_EQ(1, gather.vector);
  EXPECT_EQ(4, gather.scale);
  EXPECT_EQ(8, gather.index_size);
  EXPECT_EQ(4, gather.lanes);
  EXPECT_EQ(8, gather.element_size);
  EXPECT_EQ(0x10, gather.displacement);
  EXPECT_FALSE(gather.written);
  const uint8_t other[] = {0x8b, 0x00};
  EXPECT_FALSE(weir::decode_gather(other, sizeof other, gather));
}

}  // namespace
