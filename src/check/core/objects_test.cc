#include "check/core/objects.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <map>
#include <random>

namespace weir::view::checked {
namespace {

struct CheckedObjectsTest : ::testing::Test {
  CheckedObjectsTest() {
    memory = mmap(nullptr, sizeof(ObjectTable), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
  }
  ~CheckedObjectsTest() override { munmap(memory, sizeof(ObjectTable)); }
  ObjectTable& table() { return *static_cast<ObjectTable*>(memory); }
  void* memory;
  FoundLately found[2];  // of two tasks
};

// Against a map of starts: the same additions succeed, the same addresses are found.
TEST_F(CheckedObjectsTest, AddRemoveFindAgainstAMap) {
  std::mt19937 random(7);
  struct Known {
    uint64_t size;
    uint32_t index;
  };
  std::map<uint64_t, Known> model;
  for (int i = 0; i < 60000; i++) {
    const uint64_t address = random() % 20000, size = 1 + random() % 40;
    const auto above = [&](uint64_t at) {
      auto next = model.upper_bound(at);
      if (next != model.begin() && std::prev(next)->first + std::prev(next)->second.size > at)
        --next;
      return next;
    };
    const auto next = above(address);
    switch (random() % 3) {
      case 0: {
        const bool overlaps = next != model.end() && next->first < address + size;
        const uint32_t index = table().add(address, size);
        ASSERT_EQ(index == 0, overlaps);
        if (index) model[address] = {size, index};
        break;
      }
      case 1:
        if (next == model.end()) break;
        table().remove(next->second.index);
        model.erase(next);
        break;
      default: {
        ASSERT_EQ(table().find_above(address), next == model.end() ? 0 : next->second.index);
        const bool within = next != model.end() && next->first <= address;
        ASSERT_EQ(table().find(address), within ? next->second.index : 0);
        FoundLately& lately = found[random() % 2];
        ASSERT_EQ(lately.find_above(table(), address),
                  next == model.end() ? 0 : next->second.index);
        ASSERT_EQ(lately.find(table(), address), within ? next->second.index : 0);
        if (within) {
          const Declared& object = table().at(next->second.index);
          ASSERT_EQ(object.start, next->first);
          ASSERT_EQ(object.size, next->second.size);
        }
      }
    }
    ASSERT_EQ(table().count(), model.size());
  }
}

// Objects end and others get their numbers, with other bounds in the same pages.
TEST_F(CheckedObjectsTest, WhatWasFoundLatelyIsFoundAsItIsNow) {
  const uint32_t first = table().add(0x5000, 100);
  EXPECT_EQ(found[0].find(table(), 0x5010), first);
  EXPECT_EQ(found[0].find(table(), 0x4ff0), 0u);
  table().remove(first);
  EXPECT_EQ(found[0].find(table(), 0x5010), 0u);
  ASSERT_EQ(table().add(0x4f00, 0x108), first);
  EXPECT_EQ(found[0].find(table(), 0x5007), first);
  EXPECT_EQ(found[0].find(table(), 0x5010), 0u);
  EXPECT_EQ(found[0].find(table(), 0x4ff0), first);
  table().set_size(first, 0x80);
  EXPECT_EQ(found[0].find(table(), 0x5007), 0u);
  EXPECT_EQ(found[0].find(table(), 0x4ff0), 0u);
}

// Zones have versions of their own: objects at their edges, and across them, are found from both
// sides.
TEST_F(CheckedObjectsTest, WhatWasFoundLatelyNearTheEdgesOfZones) {
  constexpr uint64_t kEdge = ObjectTable::kZone * 5;
  std::mt19937 random(11);
  std::map<uint64_t, std::pair<uint64_t, uint32_t>> model;  // start: size, index
  for (int i = 0; i < 60000; i++) {
    const uint64_t address = kEdge * (1 + random() % 2) - 300 + random() % 600,
                   size = 1 + random() % 50;
    auto next = model.upper_bound(address);
    if (next != model.begin() && std::prev(next)->first + std::prev(next)->second.first > address)
      --next;
    switch (random() % 3) {
      case 0:
        if (const uint32_t index = table().add(address, size)) model[address] = {size, index};
        break;
      case 1:
        if (next == model.end()) break;
        table().remove(next->second.second);
        model.erase(next);
        break;
      default:
        FoundLately& lately = found[random() % 2];
        ASSERT_EQ(lately.find_above(table(), address),
                  next == model.end() ? 0 : next->second.second);
        ASSERT_EQ(lately.find(table(), address),
                  next != model.end() && next->first <= address ? next->second.second : 0);
    }
  }
}

TEST_F(CheckedObjectsTest, HundredThousandInOrder) {
  for (uint64_t i = 0; i < 100000; i++) ASSERT_NE(table().add(i * 64, 64), 0u);
  for (uint64_t i = 0; i < 100000; i += 7)
    ASSERT_EQ(table().at(table().find(i * 64 + 63)).start, i * 64);
  EXPECT_EQ(table().add(50 * 64 + 8, 8), 0u);
}

TEST_F(CheckedObjectsTest, ReadersAreUsedAgain) {
  const uint32_t first = table().take_readers(), second = table().take_readers();
  EXPECT_NE(first, second);
  table().readers_at(first).number[3] = 9;
  table().give_readers(first);
  EXPECT_EQ(table().take_readers(), first);
  EXPECT_EQ(table().readers_at(first).number[3], 0u);
  for (uint32_t i = 2; i < ObjectTable::kMaxReaders; i++) ASSERT_NE(table().take_readers(), 0u);
  EXPECT_EQ(table().take_readers(), 0u);
}

}  // namespace
}  // namespace weir::view::checked
