// The table of protections against a model that has one protection a page.
#include "memory/backing.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace weir::page {
namespace {

constexpr int kUsual = 3;
constexpr uint64_t kPages = 64;

struct Table {
  std::vector<ProtectedRange> entries;
  uint32_t count = 0;
  explicit Table(uint32_t capacity) : entries(capacity) {}
  bool note(uint64_t from, uint64_t to, int protection) {
    return note_protection(entries.data(), count, static_cast<uint32_t>(entries.size()),
                           Range{from * kPageSize, to * kPageSize}, protection, kUsual);
  }
};

TEST(Protection, IsWhatWasNotedLastForEachPage) {
  std::mt19937 random(7);
  for (int run = 0; run < 200; run++) {
    Table table(kPages);
    std::vector<int> model(kPages, kUsual);
    for (int step = 0; step < 100; step++) {
      const uint64_t from = random() % kPages, to = from + 1 + random() % (kPages - from);
      const int protection = static_cast<int>(random() % 4);
      ASSERT_TRUE(table.note(from, to, protection));
      for (uint64_t page = from; page < to; page++) model[page] = protection;
      std::vector<int> seen(kPages, kUsual);
      for (uint32_t i = 0; i < table.count; i++) {
        const ProtectedRange& entry = table.entries[i];
        ASSERT_FALSE(entry.range.empty());
        if (i > 0) {
          const ProtectedRange& before = table.entries[i - 1];
          ASSERT_LE(before.range.limit, entry.range.start);
          ASSERT_FALSE(before.range.limit == entry.range.start &&
                       before.protection == entry.protection);
        }
        for (uint64_t page = entry.range.start / kPageSize; page < entry.range.limit / kPageSize;
             page++)
          seen[page] = entry.protection;
      }
      ASSERT_EQ(seen, model);
      for (uint64_t page = 0; page < kPages; page++) {
        const bool noted = is_noted(table.entries.data(), table.count,
                                    Range{page * kPageSize, (page + 1) * kPageSize});
        ASSERT_EQ(noted, model[page] != kUsual);
      }
    }
  }
}

TEST(Protection, RefusesWhatHasNoRoomAndChangesNothing) {
  Table table(3);
  for (uint64_t page = 0; page < 6; page += 2) EXPECT_TRUE(table.note(page, page + 1, 0));
  EXPECT_FALSE(table.note(6, 7, 0));
  EXPECT_EQ(table.count, 3u);
  EXPECT_TRUE(table.note(5, 6, 0));  // a neighbour grows
  EXPECT_TRUE(table.note(0, 7, 1));
  EXPECT_EQ(table.count, 1u);
}

}  // namespace
}  // namespace weir::page
