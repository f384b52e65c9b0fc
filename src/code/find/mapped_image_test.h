// For tests: a file of a program, as it is mapped: three pages, of which the last is text.
#pragma once

#include <gtest/gtest.h>
#include <string.h>

#include <vector>

#include "code/find/text_map.h"

namespace weir {

class TestImage : public ::testing::Test {
 protected:
  static constexpr uint32_t kText = 2 * kPageSize;

  template <typename T>
  void put(uint32_t offset, const T& value) {
    memcpy(image_ + offset, &value, sizeof value);
  }
  void put_all(uint32_t offset, const std::vector<uint32_t>& words) {
    memcpy(image_ + offset, words.data(), 4 * words.size());
  }

  uint64_t start() const { return reinterpret_cast<uint64_t>(image_); }
  Range image() const { return {start(), start() + sizeof image_}; }
  Range text() const { return {start() + kText, start() + sizeof image_}; }
  std::vector<uint32_t> entries() {
    TextMap map;
    EXPECT_TRUE(map.build(text(), image()));
    return {map.entries(), map.entries() + map.entry_count()};
  }

  alignas(kPageSize) uint8_t image_[3 * kPageSize] = {};
};

}  // namespace weir
