// Containers whose memory is regions: they refer to what they give back, until they are done.
#include <errno.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "weir/region.hpp"

namespace {

using numbers = std::vector<int, weir::region_allocator<int>>;

std::atomic<long> g_traps;
void open_again(weir_region_trap* trap) {
  g_traps++;
  weir_region_protect(trap->start, trap->access & PROT_WRITE ? PROT_READ | PROT_WRITE : PROT_READ);
}

class RegionAllocator : public testing::Test {
 protected:
  void SetUp() override {
    g_traps = 0;
    weir_region_handler(nullptr, open_again, nullptr);
  }
  void TearDown() override { weir_region_handler(nullptr, nullptr, nullptr); }
};

bool is_region(const void* address) { return weir_region_level(address) >= 0; }

TEST_F(RegionAllocator, WhatAContainerGivesBackIsFreed) {
  std::vector<void*> were;
  {
    numbers all;
    for (int i = 0; i < 5000; i++) {
      all.push_back(5000 - i);
      void* const now = weir_region_open(all.data());
      if (were.empty() || were.back() != now) were.push_back(now);
    }
    EXPECT_GT(were.size(), 10u);
    EXPECT_TRUE(is_region(were.back()));
    ASSERT_EQ(weir_region_protect(&all.front(), PROT_NONE), 0);
    std::sort(all.begin(), all.end());
    EXPECT_GT(g_traps, 0);
    EXPECT_EQ(all.front(), 1);
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    all.clear();
    all.shrink_to_fit();
    EXPECT_FALSE(is_region(were.back()));
    all.assign(100, 7);
    were.push_back(weir_region_open(all.data()));
  }
  for (void* const one : were) EXPECT_FALSE(is_region(one)) << one;
}

TEST_F(RegionAllocator, EachLevelIsFreed) {
  for (const int level : {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE}) {
    void* memory;
    {
      const numbers all(3000, 4);
      memory = weir_region_open(all.data());
      weir_region_protect(memory, level);
      EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0), 12000);
    }
    EXPECT_FALSE(is_region(memory));
  }
}

TEST_F(RegionAllocator, ContainersMoveSwapAndNest) {
  numbers left(100, 1), right(200, 2);
  const void* const of_left = weir_region_open(left.data());
  std::swap(left, right);
  EXPECT_EQ(weir_region_open(right.data()), of_left);
  const numbers moved = std::move(left);
  EXPECT_EQ(moved.size(), 200u);
  std::vector<numbers, weir::region_allocator<numbers>> rows;
  for (int row = 0; row < 50; row++) {
    rows.emplace_back(static_cast<size_t>(row) + 1, row);
    weir_region_protect(&rows.front(), PROT_READ);
  }
  int sum = 0;
  for (const numbers& row : rows) sum += std::accumulate(row.begin(), row.end(), 0);
  EXPECT_EQ(sum, 41650);
}

TEST_F(RegionAllocator, AnotherPointerKeepsTheRegion) {
  weir::region_ptr<int> kept;
  {
    numbers all(10, 5);
    kept = all.data();
  }
  EXPECT_EQ(kept[9], 5);
  void* const memory = kept.open();
  EXPECT_TRUE(is_region(memory));
  kept = nullptr;
  EXPECT_FALSE(is_region(memory));
}

TEST_F(RegionAllocator, APointerOfCsKeepsTheRegionUntilTheNextAllocation) {
  int* pointer = nullptr;
  void* const memory = weir_region_alloc(100, &pointer, nullptr);
  EXPECT_EQ(weir_region_free(memory), EBUSY);
  EXPECT_EQ(weir_region_free_later(memory), 0);
  EXPECT_EQ(weir_region_free_later(memory), 0);
  EXPECT_TRUE(is_region(memory));
  pointer = nullptr;
  void* const other = weir_region_alloc(5000, nullptr, nullptr);
  EXPECT_FALSE(is_region(memory));
  EXPECT_EQ(weir_region_free_later(memory), ENOENT);
  EXPECT_EQ(weir_region_free(other), 0);
}

TEST_F(RegionAllocator, ADyingRegionMayBeFreedAtOnce) {
  weir::region_ptr<int> pointer = weir::make_region<int>(3);
  void* const memory = pointer.open();
  EXPECT_EQ(weir_region_free_later(memory), 0);
  EXPECT_EQ(weir_region_free(memory), EBUSY);
  pointer = weir::make_region<int>(4);
  EXPECT_EQ(weir_region_free(memory), ENOENT);
  EXPECT_EQ(*pointer, 4);
}

TEST_F(RegionAllocator, ThreadsHaveContainersOfTheirOwn) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int number = 0; number < 4; number++) {
    threads.emplace_back([number, &wrong] {
      for (int round = 0; round < 200; round++) {
        numbers all;
        for (int i = 0; i < 200; i++) all.push_back(i * number);
        numbers other = all;
        all.clear();
        all.shrink_to_fit();
        wrong += std::accumulate(other.begin(), other.end(), 0) != 19900 * number;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
