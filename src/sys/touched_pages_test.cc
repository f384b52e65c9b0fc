#include "sys/touched_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

namespace weir::sys {
namespace {

constexpr uint64_t kSize = uint64_t{1} << 40;

// A terabyte of which a few pages were written.
class Sparse {
 public:
  Sparse() {
    void* at = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    madvise(at, kSize, MADV_NOHUGEPAGE);
    start_ = reinterpret_cast<uint64_t>(at);
  }
  ~Sparse() { munmap(reinterpret_cast<void*>(start_), kSize); }
  Range range() const { return {start_, start_ + kSize}; }
  void write(uint64_t page) { *reinterpret_cast<volatile uint8_t*>(start_ + page * kPageSize) = 1; }
  std::vector<uint64_t> touched(Range within, bool may_scan) const {
    std::vector<uint64_t> pages;
    const auto add = [&](Range part) {
      for (uint64_t at = part.start; at < part.limit; at += kPageSize)
        pages.push_back((at - start_) / kPageSize);
    };
    each_touched(within, add, may_scan);
    return pages;
  }

 private:
  uint64_t start_ = 0;
};

class TouchedPages : public testing::TestWithParam<bool> {};

TEST_P(TouchedPages, OfATerabyteTheWrittenOnesAreFound) {
  Sparse memory;
  const std::vector<uint64_t> pages = {0,     1,         2,         513,
                                       70000, 100000000, 100000001, kSize / kPageSize - 1};
  for (const uint64_t page : pages) memory.write(page);
  EXPECT_EQ(memory.touched(memory.range(), GetParam()), pages);
}

TEST_P(TouchedPages, OfAnUntouchedRangeThereIsNone) {
  Sparse memory;
  EXPECT_TRUE(memory.touched(memory.range(), GetParam()).empty());
  EXPECT_TRUE(sys::TouchedPages(GetParam()).next({4096, 4096}).empty());
}

TEST_P(TouchedPages, WhatLiesBesideTheRangeIsNotTold) {
  Sparse memory;
  for (uint64_t page = 0; page < 40; page++) memory.write(page);
  const uint64_t start = memory.range().start;
  const Range within{start + 10 * kPageSize, start + 20 * kPageSize};
  const std::vector<uint64_t> expected = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  EXPECT_EQ(memory.touched(within, GetParam()), expected);
}

INSTANTIATE_TEST_SUITE_P(Ways, TouchedPages, testing::Bool());

}  // namespace
}  // namespace weir::sys
