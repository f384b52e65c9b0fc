#include "code/patch/bound_jump.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace weir {
namespace {

constexpr uint64_t kEntry = 0x401030, kSlot = 0x404000;

std::vector<uint8_t> entry_of(std::vector<uint8_t> before, std::vector<uint8_t> after) {
  std::vector<uint8_t> code = std::move(before);
  code.insert(code.end(), {0xff, 0x25, 0, 0, 0, 0});
  const auto displacement = static_cast<int32_t>(kSlot - (kEntry + code.size()));
  memcpy(code.data() + code.size() - 4, &displacement, 4);
  code.insert(code.end(), after.begin(), after.end());
  return code;
}

const std::vector<uint8_t> kBinds = {0x68, 1, 0, 0, 0, 0xe9, 0, 0, 0, 0};
const std::vector<uint8_t> kNop = {0x0f, 0x1f, 0x44, 0, 0};

TEST(BoundJump, EachLayoutIsKnown) {
  for (const auto& code : {entry_of({}, kBinds), entry_of({0xf3, 0x0f, 0x1e, 0xfa, 0xf2}, kNop),
                           entry_of({0xf3, 0x0f, 0x1e, 0xfa}, {0x66, 0x0f, 0x1f, 0x44, 0, 0})}) {
    ASSERT_EQ(code.size(), 16u);
    EXPECT_TRUE(is_bound_jump(code.data(), kEntry, kSlot));
    EXPECT_FALSE(is_bound_jump(code.data(), kEntry, kSlot + 8));
  }
}

TEST(BoundJump, OtherCodeIsLeftAlone) {
  EXPECT_FALSE(is_bound_jump(entry_of({}, std::vector<uint8_t>(10, 0x90)).data(), kEntry, kSlot));
  EXPECT_FALSE(is_bound_jump(
      entry_of({0xf3, 0x0f, 0x1e, 0xfa}, std::vector<uint8_t>(6, 0x90)).data(), kEntry, kSlot));
  std::vector<uint8_t> call = entry_of({}, kBinds);
  call[1] = 0x15;
  EXPECT_FALSE(is_bound_jump(call.data(), kEntry, kSlot));
}

}  // namespace
}  // namespace weir
