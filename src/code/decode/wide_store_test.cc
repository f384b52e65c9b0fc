#include "code/decode/wide_store.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace weir;

struct ExpectedStore {
  std::vector<uint8_t> code;
  int size, source;
  bool is_aligned;
};

WideStore store_of(const std::vector<uint8_t>& code) {
  Shape shape;
  EXPECT_TRUE(read_shape(code.data(), code.size(), shape));
  EXPECT_EQ(shape.length, code.size());
  return wide_store(shape, code.data());
}

TEST(WideStore, MovesOfWholeRegistersInEachEncoding) {
  const ExpectedStore all[] = {
      {{0x0f, 0x11, 0x07}, 16, 0, false},                     // movups %xmm0,(%rdi)
      {{0x44, 0x0f, 0x11, 0x27}, 16, 12, false},              // movups %xmm12,(%rdi)
      {{0x66, 0x0f, 0x11, 0x07}, 16, 0, false},               // movupd
      {{0x0f, 0x29, 0x0f}, 16, 1, true},                      // movaps
      {{0x66, 0x0f, 0x7f, 0x0f}, 16, 1, true},                // movdqa
      {{0xf3, 0x0f, 0x7f, 0x0f}, 16, 1, false},               // movdqu
      {{0x66, 0x0f, 0xe7, 0x07}, 16, 0, true},                // movntdq
      {{0xc5, 0xfc, 0x11, 0x07}, 32, 0, false},               // vmovups %ymm0,(%rdi)
      {{0xc5, 0x7c, 0x11, 0x0f}, 32, 9, false},               // vmovups %ymm9,(%rdi)
      {{0xc4, 0xc1, 0x7c, 0x11, 0x00}, 32, 0, false},         // vmovups %ymm0,(%r8)
      {{0xc5, 0xfa, 0x7f, 0x07}, 16, 0, false},               // vmovdqu %xmm0,(%rdi)
      {{0xc5, 0xfd, 0x7f, 0x07}, 32, 0, true},                // vmovdqa %ymm0,(%rdi)
      {{0x62, 0xe1, 0xfe, 0x28, 0x7f, 0x2f}, 32, 21, false},  // vmovdqu64 %ymm21,(%rdi)
      {{0x62, 0xf1, 0x7f, 0x48, 0x7f, 0x17}, 64, 2, false},   // vmovdqu8 %zmm2,(%rdi)
  };
  for (const ExpectedStore& one : all) {
    const WideStore store = store_of(one.code);
    EXPECT_EQ(store.size, one.size) << std::hex << int{one.code[0]} << " " << int{one.code[1]};
    EXPECT_EQ(store.source, one.source);
    EXPECT_EQ(store.is_aligned, one.is_aligned);
  }
}

TEST(WideStore, OtherInstructionsAreNone) {
  const std::vector<uint8_t> all[] = {
      {0x0f, 0x7f, 0x0f},                    // movq %mm1,(%rdi)
      {0xf3, 0x0f, 0x11, 0x07},              // movss
      {0xf2, 0x0f, 0x11, 0x07},              // movsd
      {0xc5, 0xfa, 0x11, 0x07},              // vmovss
      {0x0f, 0x11, 0xc1},                    // movups %xmm0,%xmm1
      {0x0f, 0x10, 0x07},                    // movups (%rdi),%xmm0
      {0x0f, 0x13, 0x07},                    // movlps %xmm0,(%rdi)
      {0x62, 0xf1, 0xfe, 0x29, 0x7f, 0x07},  // vmovdqu64 %ymm0,(%rdi){%k1}
      {0x89, 0x07},                          // mov %eax,(%rdi)
  };
  for (const std::vector<uint8_t>& code : all) EXPECT_EQ(store_of(code).size, 0);
}

TEST(WideStore, PartsCoverTheWhole) {
  for (const uint8_t size : {16, 32, 64}) {
    for (const bool is_aligned : {false, true}) {
      const WideStore store{size, 0, is_aligned};
      EXPECT_EQ(store.part(0), 0u);
      EXPECT_EQ(store.part(store.parts()), size);
      for (unsigned i = 0; i < store.parts(); i++) EXPECT_LT(store.part(i), store.part(i + 1));
    }
  }
}

}  // namespace
