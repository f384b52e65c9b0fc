#include "tape/extent.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace weir::tape {
namespace {

Bytes encoded(const Extent& extent) {
  Bytes bytes;
  extent.append_to(&bytes);
  return bytes;
}

std::optional<Extent> decoded(const Bytes& bytes, std::string* why = nullptr) {
  Reader reader(bytes);
  std::optional<Extent> extent = Extent::read_from(&reader);
  if (why) *why = reader.reason();
  if (extent && reader.left() > 0) return std::nullopt;
  return extent;
}

std::vector<uint32_t> units_of(const Extent& extent) {
  std::vector<uint32_t> units;
  for (const uint32_t unit : extent) units.push_back(unit);
  return units;
}

using Model = std::set<uint32_t>;

void expect_same(const Extent& extent, const Model& model) {
  ASSERT_EQ(extent.size(), model.size());
  ASSERT_EQ(extent.empty(), model.empty());
  ASSERT_TRUE(std::equal(extent.begin(), extent.end(), model.begin(), model.end()));
  uint64_t in_ranges = 0;
  uint64_t next = 0;
  for (const UnitRange& range : extent.ranges()) {
    ASSERT_GE(range.first, next);
    ASSERT_GE(range.last, range.first);
    ASSERT_TRUE(model.count(range.first) && model.count(range.last));
    next = uint64_t{range.last} + 2;
    in_ranges += range.size();
  }
  ASSERT_EQ(in_ranges, model.size());
  const std::optional<Extent> again = decoded(encoded(extent));
  ASSERT_TRUE(again.has_value());
  ASSERT_TRUE(*again == extent);
  ASSERT_EQ(encoded(*again), encoded(extent));
}

// Sets of different shapes around the borders of chunks: few units, blocks, every other one, nearly
// all.
uint32_t unit_near(std::mt19937* random, uint32_t spread) {
  const uint32_t bases[] = {0, 65536 - spread / 2, 3 * 65536, 0xffffffffu - spread};
  return bases[(*random)() % 4] + (*random)() % spread;
}

TEST(ExtentTest, DoesWhatASetDoes) {
  for (uint32_t seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t spread = seed % 3 == 0 ? 20000 : seed % 3 == 1 ? 200 : 40;
    Extent extents[3];
    Model models[3];
    for (int step = 0; step < 60; step++) {
      const uint32_t i = random() % 3, k = random() % 3;
      switch (random() % 8) {
        case 0:
        case 1: {
          const uint32_t unit = unit_near(&random, spread);
          extents[i].add(unit);
          models[i].insert(unit);
          break;
        }
        case 2: {
          const uint32_t first = unit_near(&random, spread),
                         last = first + random() % std::min(spread, 0xffffffffu - first);
          extents[i].add_range(first, last);
          for (uint64_t unit = first; unit <= last; unit++)
            models[i].insert(static_cast<uint32_t>(unit));
          break;
        }
        case 3: {  // sparse: makes bitmaps where the spread is wide
          const uint32_t first = unit_near(&random, spread), gap = 2 + random() % 3;
          for (uint64_t unit = first; unit < uint64_t{first} + spread && unit <= 0xffffffffu;
               unit += gap) {
            extents[i].add(static_cast<uint32_t>(unit));
            models[i].insert(static_cast<uint32_t>(unit));
          }
          break;
        }
        case 4:
          extents[i] += extents[k];
          models[i].insert(models[k].begin(), models[k].end());
          break;
        case 5: {
          extents[i] &= extents[k];
          std::erase_if(models[i], [&](uint32_t unit) { return !models[k].count(unit); });
          break;
        }
        case 6:
          if (i == k) break;
          extents[i] -= extents[k];
          std::erase_if(models[i], [&](uint32_t unit) { return models[k].count(unit) > 0; });
          break;
        default: {
          const uint32_t unit = unit_near(&random, spread);
          ASSERT_EQ(extents[i].contains(unit), models[i].count(unit) > 0) << "step " << step;
          bool common = false;
          for (const uint32_t one : models[i]) common = common || models[k].count(one);
          ASSERT_EQ(extents[i].intersects(extents[k]), common) << "step " << step;
          ASSERT_EQ(extents[i] == extents[k], models[i] == models[k]) << "step " << step;
        }
      }
      if (step % 10 == 9) {
        for (int n = 0; n < 3; n++) expect_same(extents[n], models[n]);
      }
    }
  }
}

TEST(ExtentTest, TheExampleOfTheHeader) {
  const Bytes bytes = {0x01, 0x00, 0x02, 0x05, 0x02, 0x00, 0x00};
  EXPECT_EQ(encoded(Extent{9, 5, 7, 6}), bytes);
  EXPECT_EQ(units_of(*decoded(bytes)), (std::vector<uint32_t>{5, 6, 7, 9}));
}

TEST(ExtentTest, SixteenMillionUnitsAreSmallHoweverTheyLie) {
  Extent all;
  all.add_range(0, (16 << 20) - 1);
  EXPECT_EQ(all.size(), 16u << 20);
  EXPECT_LT(all.memory(), 40u << 10);
  EXPECT_EQ(all.ranges().size(), 1u);

  Extent every_other;
  for (uint32_t unit = 0; unit < 16 << 20; unit += 2) every_other.add(unit);
  EXPECT_EQ(every_other.size(), 8u << 20);
  EXPECT_LT(every_other.memory(), 2200u << 10);
  EXPECT_LT(encoded(every_other).size(), 2200u << 10);

  // Filled up, it is ranges again.
  for (uint32_t unit = 1; unit < 16 << 20; unit += 2) every_other.add(unit);
  EXPECT_TRUE(every_other == all);
  EXPECT_EQ(encoded(every_other), encoded(all));
  EXPECT_LT(every_other.memory(), 600u << 10);
}

TEST(ExtentTest, EqualSetsInDifferentFormsAreEqual) {
  Extent ranges, bitmap;  // between a fourth of the most ranges and the most
  for (uint32_t unit = 0; unit < 2000; unit += 2) ranges.add(unit);
  for (uint32_t unit = 0; unit < 10000; unit += 2) bitmap.add(unit);
  Extent rest;
  rest.add_range(2000, 20000);
  bitmap -= rest;
  EXPECT_NE(ranges.memory(), bitmap.memory());
  EXPECT_TRUE(ranges == bitmap);
  EXPECT_EQ(encoded(ranges), encoded(bitmap));
}

TEST(ExtentTest, DamageIsRefused) {
  const std::vector<Bytes> damaged = {
      {},                                          // nothing
      {0x01},                                      // no chunk
      {0x01, 0x00},                                // no ranges
      {0x01, 0x00, 0x00, 0xff},                    // half a bitmap
      {0x80, 0x00},                                // a number with a byte too many
      {0xff, 0xff, 0xff, 0xff, 0x0f},              // too many chunks
      {0x01, 0x80, 0x80, 0x04, 0x01, 0x00, 0x00},  // chunk 65,536
      {0x02, 0xff, 0xff, 0x03, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00},  // a chunk after the last
      {0x01, 0x00, 0x01, 0xff, 0xff, 0x03, 0x01},  // a range over the chunk's end
      {0x01, 0x00, 0x81, 0x10},                    // 2,049 ranges
      {0x01, 0x00, 0x02, 0x05, 0x02, 0x00},        // cut
  };
  for (const Bytes& bytes : damaged) {
    std::string why;
    EXPECT_FALSE(decoded(bytes, &why).has_value());
    EXPECT_NE(why, "");
  }
  Bytes full = {0x01, 0x00, 0x00};
  full.resize(3 + 8192, 0xff);
  EXPECT_FALSE(decoded(full).has_value()) << "a bitmap with one range";
}

TEST(ExtentTest, NoBytesBreakIt) {
  for (uint32_t seed = 1; seed <= 3000; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Extent extent;
    for (int i = 0; i < 20; i++) extent.add(unit_near(&random, 300));
    if (seed % 50 == 0) {
      for (uint32_t unit = 0; unit < 30000; unit += 1 + random() % 4) extent.add(unit);
    }
    Bytes bytes = encoded(extent);
    for (uint32_t i = 0; i <= random() % 3; i++) {
      if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
      else if (!bytes.empty())
        bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    }
    const std::optional<Extent> read = decoded(bytes);
    if (read) { ASSERT_EQ(encoded(*read), bytes); }
  }
}

}  // namespace
}  // namespace weir::tape
