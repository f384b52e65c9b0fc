#include "tape/interval_tape.h"

#include <gtest/gtest.h>

#include <memory>

namespace weir::tape {
namespace {

struct Tape : ::testing::Test {
  std::unique_ptr<IntervalTape> tape = std::make_unique<IntervalTape>();
  void add_pages(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) tape->add((i + 1) * kPageSize, false);
  }
};

TEST_F(Tape, KnowsNothingAtFirstAndNeverKeyZero) {
  EXPECT_EQ(tape->find(1), nullptr);
  EXPECT_EQ(tape->find(0), nullptr);
  tape->begin(0);
  tape->add(kPageSize, true);
  EXPECT_EQ(tape->find(0), nullptr);
}

TEST_F(Tape, PagesRiseWhateverOrderTheyCameInAndKeepTheirMarks) {
  tape->begin(5);
  for (const uint64_t page : {7, 2, 9, 1}) tape->add(page * kPageSize, page == 2 || page == 9);
  const Interval* interval = tape->find(5);
  ASSERT_NE(interval, nullptr);
  ASSERT_EQ(interval->count, 4u);
  const uint64_t pages[] = {1, 2, 7, 9};
  const uint8_t sure[] = {0, 1, 0, 1};
  for (uint32_t i = 0; i < 4; i++) {
    EXPECT_EQ(interval->page[i], pages[i] * kPageSize);
    EXPECT_EQ(interval->sure[i], sure[i]);
  }
}

TEST_F(Tape, AsManyPagesAsThereIsRoomFor) {
  tape->begin(5);
  add_pages(Interval::kMost);
  ASSERT_NE(tape->find(5), nullptr);
  EXPECT_EQ(tape->find(5)->count, Interval::kMost);
}

TEST_F(Tape, OnePageTooManyIsForgottenAndMoreDoNoHarm) {
  tape->begin(5);
  add_pages(2 * Interval::kMost);
  EXPECT_EQ(tape->find(5), nullptr);
  tape->begin(5);
  add_pages(1);
  ASSERT_NE(tape->find(5), nullptr);
  EXPECT_EQ(tape->find(5)->count, 1u);
}

TEST_F(Tape, TheSameIntervalAgainReplacesWhatItWroteBefore) {
  tape->begin(5);
  add_pages(3);
  tape->begin(5);
  tape->add(8 * kPageSize, true);
  const Interval* interval = tape->find(5);
  ASSERT_NE(interval, nullptr);
  ASSERT_EQ(interval->count, 1u);
  EXPECT_EQ(interval->page[0], 8 * kPageSize);
}

TEST_F(Tape, AnIntervalOfTheSamePlaceTakesIt) {
  const auto place = [](uint64_t key) { return key * 0x9E3779B97F4A7C15 >> 56; };
  uint64_t other = 6;
  while (place(other) != place(5)) other++;
  tape->begin(5);
  add_pages(2);
  tape->begin(other);
  EXPECT_EQ(tape->find(5), nullptr);
  ASSERT_NE(tape->find(other), nullptr);
  EXPECT_EQ(tape->find(other)->count, 0u);
}

}  // namespace
}  // namespace weir::tape
