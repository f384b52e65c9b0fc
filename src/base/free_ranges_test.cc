#include "base/free_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace weir {
namespace {

// Against a model of one flag for each address.
TEST(FreeRangesTest, IsAsAModelOfEachAddress) {
  constexpr uint64_t kAll = 200;
  for (unsigned seed = 0; seed < 200; seed++) {
    std::mt19937 random(seed);
    Range table[kAll];
    uint32_t count = 0;
    uint64_t top = 0;
    FreeRanges ranges{table, count, kAll, top};
    std::vector<bool> is_free(kAll, true);
    for (unsigned step = 0; step < 60; step++) {
      const uint64_t start = random() % kAll, limit = start + 1 + random() % (kAll - start);
      const bool gives = random() % 2;
      if (gives) {
        ranges.give({start, limit});
      } else if (count > 0 && random() % 3 == 0) {
        const uint32_t index = static_cast<uint32_t>(random() % count);
        const uint64_t size = 1 + random() % table[index].size(), at = ranges.take(index, size);
        std::fill_n(is_free.begin() + static_cast<long>(at), size, false);
        continue;
      } else {
        ranges.claim({start, limit});
      }
      std::fill(is_free.begin() + static_cast<long>(start),
                is_free.begin() + static_cast<long>(limit), gives);
    }
    for (uint64_t at = 0; at < kAll; at++) {
      unsigned holders = at >= top;
      for (uint32_t i = 0; i < count; i++) holders += table[i].contains(at);
      ASSERT_EQ(holders, is_free[at] ? 1u : 0u) << "seed " << seed << ", address " << at;
    }
  }
}

TEST(FreeRangesTest, ForgetsWhatTheTableHasNoRoomFor) {
  Range table[1];
  uint32_t count = 0;
  uint64_t top = 100;
  FreeRanges ranges{table, count, 1, top};
  ranges.give({10, 20});
  ranges.give({30, 40});
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(table[0].start, 10u);
  ranges.give({20, 100});  // joined with the first, and with what is above
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(top, 10u);
}

}  // namespace
}  // namespace weir
