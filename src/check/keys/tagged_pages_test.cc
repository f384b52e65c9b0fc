#include "check/keys/tagged_pages.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>

namespace weir::page {
namespace {

// The kernel's part: which pages there are, and their keys.
std::map<uint64_t, uint32_t> g_pages;
uint64_t g_calls;
bool g_refuses;

const KeyBackend kFake{[](uint64_t start, uint64_t size) -> long {
                         g_calls++;
                         if (g_refuses) return -12;
                         for (uint64_t at = start; at < start + size; at += kPageSize)
                           EXPECT_TRUE(g_pages.emplace(at, 0u).second) << "mapped twice";
                         return 0;
                       },
                       [](uint64_t start, uint64_t size) {
                         g_calls++;
                         for (uint64_t at = start; at < start + size; at += kPageSize)
                           g_pages.erase(at);
                       },
                       [](uint64_t start, uint64_t size, int, uint32_t key) -> long {
                         g_calls++;
                         if (g_refuses) return -12;
                         for (uint64_t at = start; at < start + size; at += kPageSize)
                           g_pages.at(at) = key;
                         return 0;
                       }};

struct TaggedPagesTest : ::testing::Test {
  TaggedPagesTest() : pages(std::make_unique<TaggedPages>()) {
    g_pages.clear();
    g_calls = 0;
    g_refuses = false;
    pages->begin({0x10000000, 0x10000000 + 10000 * kPageSize}, kFake);
  }
  std::unique_ptr<TaggedPages> pages;
};

TEST_F(TaggedPagesTest, PagesOfTheSameKeyComeBackWithoutAnyCall) {
  const uint64_t first = pages->allocate(2, 5);
  ASSERT_NE(first, 0u);
  pages->free(first, 2, 5);
  const uint64_t calls = g_calls;
  for (int i = 0; i < 100; i++) {
    const uint64_t again = pages->allocate(2, 5);
    EXPECT_EQ(again, first);
    pages->free(again, 2, 5);
  }
  EXPECT_EQ(g_calls, calls);
  EXPECT_EQ(g_pages.at(first), 5u);
}

TEST_F(TaggedPagesTest, PagesOfAnotherKeyGetTheOneThatIsWanted) {
  const uint64_t first = pages->allocate(1, 5);
  pages->free(first, 1, 5);
  const uint64_t calls = g_calls;
  EXPECT_EQ(pages->allocate(1, 6), first);
  EXPECT_EQ(g_pages.at(first), 6u);
  EXPECT_EQ(g_calls, calls + 1);
}

TEST_F(TaggedPagesTest, PagesThatDoNotGetAnotherKeyAreGivenBack) {
  const uint64_t first = pages->allocate(1, 5);
  pages->free(first, 1, 5);
  g_refuses = true;
  EXPECT_EQ(pages->allocate(1, 6), 0u);
  EXPECT_TRUE(g_pages.empty());
  g_refuses = false;
  EXPECT_NE(pages->allocate(1, 6), 0u);
}

TEST_F(TaggedPagesTest, TheSmallestBlockThatIsLargeEnoughIsTaken) {
  const uint64_t large = pages->allocate(8, 5), small = pages->allocate(2, 5),
                 between = pages->allocate(4, 5);
  pages->free(small, 2, 5);
  pages->free(large, 8, 5);
  pages->free(between, 4, 5);
  EXPECT_EQ(pages->allocate(2, 5), small);
  EXPECT_EQ(pages->allocate(8, 5), large);
  EXPECT_EQ(pages->allocate(4, 5), between);
}

TEST_F(TaggedPagesTest, PagesWhoseKeyIsThatOfTheirPlaceComeBackWithoutAnyCall) {
  const auto key_of = [](uint64_t start) {
    return static_cast<uint32_t>(2 + start / kPageSize % 7);
  };
  uint64_t at[6];
  uint32_t key;
  for (uint64_t& start : at) {
    start = pages->allocate_own(3, key_of, key);
    ASSERT_NE(start, 0u);
    EXPECT_EQ(key, key_of(start));
    for (uint64_t page = start; page < start + 3 * kPageSize; page += kPageSize)
      EXPECT_EQ(g_pages.at(page), key_of(start));
  }
  for (const uint64_t start : at) pages->free(start, 3, key_of(start));
  const uint64_t calls = g_calls;
  std::set<uint64_t> again;
  for (int i = 0; i < 6; i++) again.insert(pages->allocate_own(3, key_of, key));
  EXPECT_EQ(again, std::set<uint64_t>(at, at + 6));
  EXPECT_EQ(g_calls, calls);
  // What has another key gets its own.
  const uint64_t other = pages->allocate(3, 12);
  pages->free(other, 3, 12);
  EXPECT_EQ(pages->allocate_own(3, key_of, key), other);
  EXPECT_EQ(g_pages.at(other), key_of(other));
}

TEST_F(TaggedPagesTest, LargeBlocksAndFullCachesGoBackToTheKernel) {
  const uint64_t large = pages->allocate(TaggedPages::kMaxInBlock + 1, 3);
  pages->free(large, TaggedPages::kMaxInBlock + 1, 3);
  EXPECT_EQ(pages->cached(3), 0u);
  EXPECT_TRUE(g_pages.empty());
  std::vector<uint64_t> many;
  for (uint64_t i = 0; i < TaggedPages::kMaxCached + 50; i++) many.push_back(pages->allocate(1, 3));
  for (const uint64_t at : many) pages->free(at, 1, 3);
  EXPECT_EQ(pages->cached(3), TaggedPages::kMaxCached);
  EXPECT_EQ(g_pages.size(), TaggedPages::kMaxCached);
}

TEST_F(TaggedPagesTest, WhatTheKernelRefusesIsFreeAgain) {
  g_refuses = true;
  EXPECT_EQ(pages->allocate(4, 2), 0u);
  g_refuses = false;
  EXPECT_NE(pages->allocate(10000, 2), 0u);
  EXPECT_EQ(pages->allocate(1, 2), 0u);
}

TEST_F(TaggedPagesTest, BlocksDoNotOverlapAndHaveTheirKeys) {
  std::mt19937 random(4);
  std::map<uint64_t, std::pair<uint64_t, uint32_t>> live;  // start: pages, key
  for (int i = 0; i < 30000; i++) {
    if (live.size() < 50 || (live.size() < 200 && random() % 2)) {
      const uint64_t count = 1 + random() % 40;
      const uint32_t key = random() % 4;
      const uint64_t at = pages->allocate(count, key);
      ASSERT_NE(at, 0u);
      const auto next = live.lower_bound(at);
      if (next != live.end()) { ASSERT_LE(at + count * kPageSize, next->first); }
      if (next != live.begin()) {
        ASSERT_LE(std::prev(next)->first + std::prev(next)->second.first * kPageSize, at);
      }
      for (uint64_t page = at; page < at + count * kPageSize; page += kPageSize)
        ASSERT_EQ(g_pages.at(page), key);
      live[at] = {count, key};
    } else {
      auto victim = live.begin();
      std::advance(victim, random() % live.size());
      uint32_t key = victim->second.second;
      if (random() % 2) {  // its policy has changed meanwhile
        key = random() % 4;
        kFake.tag(victim->first, victim->second.first * kPageSize, 3, key);
      }
      pages->free(victim->first, victim->second.first, key);
      live.erase(victim);
    }
  }
}

}  // namespace
}  // namespace weir::page
