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
  // test %esi,%esi; je 1f; mov %eax,(%rdx); 1: ret
  EXPECT_FALSE(in_vain(loaded({0x85, 0xf6, 0x74, 0x02, 0x89, 0x02, 0xc3})));
  // je 1f; mov %eax,(%rdx); 1: xor %eax,%eax; ret
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
  EXPECT_FALSE(in_vain(loaded({0x39, 0xd0, 0x0f, 0x4c, 0xc2, 0xc3})));  // the greater one
}

TEST(UnusedLoad, NeverUsedIsNoCompilersLoad) { EXPECT_FALSE(in_vain(loaded({0x31, 0xc0, 0xc3}))); }

TEST(UnusedLoad, NoLoad) {
  EXPECT_FALSE(in_vain({0x89, 0x07, 0xc3}));        // mov %eax,(%rdi)
  EXPECT_FALSE(in_vain({0x01, 0x07, 0xc3}));        // add %eax,(%rdi)
  EXPECT_FALSE(in_vain({0x0f, 0x10, 0x07, 0xc3}));  // movups (%rdi),%xmm0
}

TEST(UnusedLoad, LoopsEnd) {
  EXPECT_FALSE(in_vain({0x03, 0x07, 0x48, 0x39, 0xf7, 0x75, 0xf9, 0xc3}));  // add (%rdi),%eax; jne
}

}  // namespace
}  // namespace weir
