#include "code/decode/unused_load.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir {
namespace {

bool in_vain(std::vector<uint8_t> text) { return may_load_in_vain(text.data(), text.size(), 0); }

// mov (%rdi),%eax
std::vector<uint8_t> loaded(std::initializer_list<uint8_t> rest) {
  std::vector<uint8_t> text = {0x8b, 0x07};
  text.insert(text.end(), rest);
  return text;
}

TEST(UnusedLoad, ConditionalMoveDropsIt) {
  EXPECT_TRUE(in_vain(loaded({0x85, 0xf6, 0x0f, 0x44, 0xc2, 0xc3})));  // cmove %edx,%eax; ret
  EXPECT_TRUE(in_vain(loaded({0x85, 0xf6, 0x0f, 0x44, 0xd0, 0x89, 0xd0, 0xc3})));  // into %edx
  EXPECT_TRUE(in_vain({0x0f, 0x44, 0x07, 0xc3}));  // cmove (%rdi),%eax
}

TEST(UnusedLoad, DroppedWhereABranchGoes) {
  // test %esi,%esi; je 1f; mov %eax,(%rdx); 1: xor %eax,%eax; ret
  EXPECT_TRUE(in_vain(loaded({0x85, 0xf6, 0x74, 0x02, 0x89, 0x02, 0x31, 0xc0, 0xc3})));
}

TEST(UnusedLoad, UsedAtOnce) {
  EXPECT_FALSE(in_vain(loaded({0xc3})));                                      // returned
  EXPECT_FALSE(in_vain(loaded({0x89, 0x02, 0x31, 0xc0, 0xc3})));              // stored
  EXPECT_FALSE(in_vain(loaded({0x85, 0xc0, 0x74, 0x00, 0x31, 0xc0, 0xc3})));  // branched on
  EXPECT_FALSE(in_vain(loaded({0x8b, 0x08, 0x31, 0xc0, 0xc3})));              // an address
  EXPECT_FALSE(in_vain(loaded({0x89, 0xc7, 0xe8, 0, 0, 0, 0, 0xc3})));        // an argument
  EXPECT_FALSE(in_vain({0x39, 0x07, 0x74, 0x00, 0xc3}));                      // cmp %eax,(%rdi); je
}

TEST(UnusedLoad, ComparedBeforeAConditionalMove) {
  EXPECT_FALSE(in_vain(loaded({0x39, 0xd0, 0x0f, 0x4c, 0xc2, 0xc3})));  // the smaller one
}

TEST(UnusedLoad, NeverUsedIsNoCompilersLoad) { EXPECT_FALSE(in_vain(loaded({0x31, 0xc0, 0xc3}))); }

TEST(UnusedLoad, NoLoad) {
  EXPECT_FALSE(in_vain({0x89, 0x07, 0xc3}));  // mov %eax,(%rdi)
  EXPECT_FALSE(in_vain({0x01, 0x07, 0xc3}));  // add %eax,(%rdi)
}

// `ready && shared` as clang makes it: both are loaded, whatever the first one is.
TEST(UnusedLoad, ChosenByAMask) {
  // test %edi,%edi; setne %al; cmpl $0,(%rsi); setne %cl; and %al,%cl; movzbl %cl,%eax; ret
  const std::vector<uint8_t> text = {0x85, 0xff, 0x0f, 0x95, 0xc0, 0x83, 0x3e, 0x00, 0x0f,
                                     0x95, 0xc1, 0x20, 0xc1, 0x0f, 0xb6, 0xc1, 0xc3};
  EXPECT_TRUE(may_load_in_vain(text.data(), text.size(), 5));
  EXPECT_TRUE(in_vain({0x23, 0x07, 0xc3}));                    // and (%rdi),%eax; ret
  EXPECT_TRUE(in_vain(loaded({0x21, 0xd0, 0xc3})));            // and %edx,%eax
  EXPECT_TRUE(in_vain(loaded({0x85, 0xc2, 0x74, 0, 0xc3})));   // test %eax,%edx; je
  EXPECT_FALSE(in_vain(loaded({0x83, 0xe0, 0x01, 0xc3})));     // and $1,%eax
  EXPECT_FALSE(in_vain(loaded({0x85, 0xc0, 0x74, 0, 0xc3})));  // test %eax,%eax; je
}

TEST(UnusedLoad, InVectors) {
  EXPECT_FALSE(in_vain({0x0f, 0x10, 0x07, 0xc3}));        // movups (%rdi),%xmm0; ret
  EXPECT_FALSE(in_vain({0xf2, 0x0f, 0x58, 0x07, 0xc3}));  // addsd (%rdi),%xmm0; ret
  EXPECT_TRUE(in_vain({0x66, 0x0f, 0xdf, 0x07, 0xc3}));   // pandn (%rdi),%xmm0; ret
  // movsd (%rdi),%xmm1; je 1f; movapd %xmm1,%xmm0; 1: xorps %xmm1,%xmm1; movsd %xmm0,(%rsi); ret
  EXPECT_TRUE(in_vain({0xf2, 0x0f, 0x10, 0x0f, 0x74, 0x04, 0x66, 0x0f, 0x28, 0xc1, 0x0f, 0x57, 0xc9,
                       0xf2, 0x0f, 0x11, 0x06, 0xc3}));
  // fldt (%rdi); fldz; fcmove %st(1),%st; fstpt (%rsi); ret
  EXPECT_TRUE(in_vain({0xdb, 0x2f, 0xd9, 0xee, 0xda, 0xc9, 0xdb, 0x3e, 0xc3}));
}

// A register that is kept on the stack has not been used by that.
TEST(UnusedLoad, Spilled) {
  // mov %eax,8(%rsp); call; test %ebx,%ebx; je 1f; mov 8(%rsp),%eax; mov %eax,(%rbx); 1: ret
  EXPECT_TRUE(in_vain(loaded({0x89, 0x44, 0x24, 0x08, 0xe8, 0,    0,    0,    0,    0x85,
                              0xdb, 0x74, 0x06, 0x8b, 0x44, 0x24, 0x08, 0x89, 0x03, 0xc3})));
  // push %rbx; mov %eax,16(%rsp); pop %rbx; mov 8(%rsp),%eax; mov %eax,(%rbx); ret
  EXPECT_FALSE(in_vain(
      loaded({0x53, 0x89, 0x44, 0x24, 0x10, 0x5b, 0x8b, 0x44, 0x24, 0x08, 0x89, 0x03, 0xc3})));
}

// bits |= ready: the place is read whatever is stored there.
TEST(UnusedLoad, StoredBack) {
  EXPECT_FALSE(in_vain(loaded({0x09, 0xd0, 0x89, 0x07, 0xc3})));  // or %edx,%eax; mov %eax,(%rdi)
  EXPECT_TRUE(in_vain(loaded({0x09, 0xd0, 0x89, 0x06, 0xc3})));   // or %edx,%eax; mov %eax,(%rsi)
  // ...; add $4,%rdi; mov %eax,(%rdi)
  EXPECT_TRUE(in_vain(loaded({0x09, 0xd0, 0x48, 0x83, 0xc7, 0x04, 0x89, 0x07, 0xc3})));
}

// What stands behind a call that does not return is another function's.
TEST(UnusedLoad, EndsWithTheFunction) {
  // movslq (%rdi),%rbx; test %eax,%eax; jne 1f; pop %rbx; ret; 1: call
  const std::vector<uint8_t> text = {0x48, 0x63, 0x1f, 0x85, 0xc0, 0x75, 0x02,
                                     0x5b, 0xc3, 0xe8, 0,    0,    0,    0};
  EXPECT_FALSE(in_vain(text));
}

// What a loop would read at each turn is read before it: void f(...) { for (...) if (c) x = shared;
// }
TEST(UnusedLoad, MayBeAResultByChance) {
  // test %esi,%esi; je 1f; mov %eax,(%rdx); 1: ret
  EXPECT_TRUE(in_vain(loaded({0x85, 0xf6, 0x74, 0x02, 0x89, 0x02, 0xc3})));
}

TEST(UnusedLoad, LoopsEnd) {
  EXPECT_FALSE(in_vain({0x03, 0x07, 0x48, 0x39, 0xf7, 0x75, 0xf9, 0xc3}));  // add (%rdi),%eax; jne
}

}  // namespace
}  // namespace weir
