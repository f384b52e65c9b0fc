// Diffs against the naive model: a byte is carried over if and only if it differs from the twin,
// except where two writers met in one variable, which the last one wins whole.

#include "memory/diff/diff.h"

#include <gtest/gtest.h>
#include <string.h>

#include <random>
#include <vector>

namespace weir::page {
namespace {

struct alignas(kPageSize) Page {
  uint8_t bytes[kPageSize];
};

TEST(Diff, CarriesExactlyTheBytesThatDiffer) {
  std::mt19937 random(7);
  Page twin, mine, backing;
  PageDiff diff;
  for (int round = 0; round < 300; round++) {
    for (auto& byte : twin.bytes) byte = static_cast<uint8_t>(random() % 4);
    mine = twin;
    const int writes = static_cast<int>(random() % (round % 3 ? 20 : 4096));
    for (int i = 0; i < writes; i++)
      mine.bytes[random() % kPageSize] = static_cast<uint8_t>(random() % 4);
    uint32_t differing = 0;
    for (size_t i = 0; i < kPageSize; i++) differing += mine.bytes[i] != twin.bytes[i];
    EXPECT_EQ(make_diff(&mine, &twin, &diff), differing);
    for (size_t i = 0; i < kPageSize; i++)
      EXPECT_EQ(diff.mask[i / 64] >> (i % 64) & 1, mine.bytes[i] != twin.bytes[i]);
    backing = twin;
    apply_diff(diff, &mine, &backing);
    EXPECT_EQ(memcmp(&backing, &mine, sizeof backing), 0);
  }
}

TEST(Diff, NeighbouringBytesOfTwoWritersBothSurvive) {
  Page twin{}, first, second, backing;
  PageDiff a, b;
  for (size_t width : {1, 2, 4}) {
    first = second = twin;
    for (size_t i = 0; i < kPageSize; i++)
      (i / width % 2 ? first : second).bytes[i] = static_cast<uint8_t>(1 + i % 200);
    make_diff(&first, &twin, &a);
    make_diff(&second, &twin, &b);
    backing = twin;
    apply_diff(a, &first, &backing);
    apply_diff(b, &second, &backing);
    for (size_t i = 0; i < kPageSize; i++)
      EXPECT_EQ(backing.bytes[i], 1 + i % 200) << "width " << width << " at " << i;
  }
}

TEST(Diff, PointersStoredByTwoWritersAreNeverMixed) {
  std::mt19937_64 random(11);
  Page twin{}, first, second, backing;
  PageDiff a, b;
  for (int round = 0; round < 1000; round++) {
    auto pointer = [&] { return 0x100000000000 + (random() % 5 << 26) + (random() & 0xffff0); };
    uint64_t old = pointer(), x = pointer(), y = pointer();
    memcpy(twin.bytes + 64, &old, 8);
    first = second = twin;
    memcpy(first.bytes + 64, &x, 8);
    memcpy(second.bytes + 64, &y, 8);
    make_diff(&first, &twin, &a);
    make_diff(&second, &twin, &b);
    backing = twin;
    apply_diff(a, &first, &backing);
    apply_diff(b, &second, &backing);
    uint64_t result;
    memcpy(&result, backing.bytes + 64, 8);
    const bool meets = ((x ^ old) != 0 && (y ^ old) != 0);
    if (meets && ((x ^ old) & 0xff00) && ((y ^ old) & 0xff00)) { EXPECT_EQ(result, y); }
  }
}

// Two writers, of which the second is the last: what the word is then.
uint64_t merged(uint64_t twin, uint64_t first, uint64_t second) {
  Page pages[3]{}, backing;
  PageDiff a, b;
  const uint64_t values[3] = {twin, first, second};
  for (int i = 0; i < 3; i++) memcpy(pages[i].bytes + 64, &values[i], 8);
  make_diff(&pages[1], &pages[0], &a);
  make_diff(&pages[2], &pages[0], &b);
  backing = pages[0];
  apply_diff(a, &pages[1], &backing);
  apply_diff(b, &pages[2], &backing);
  uint64_t result;
  memcpy(&result, backing.bytes + 64, 8);
  return result;
}

uint64_t ints(int32_t low, int32_t high) {
  return static_cast<uint32_t>(low) | uint64_t{static_cast<uint32_t>(high)} << 32;
}

TEST(Diff, NeighboursInOneWordSurviveARaceOnTheOther) {
  EXPECT_EQ(merged(ints(5, 8), ints(6, 9), ints(7, 8)), ints(7, 9));
  EXPECT_EQ(merged(ints(8, 5), ints(9, 6), ints(8, 7)), ints(9, 7));
  EXPECT_EQ(merged(ints(255, 0), ints(256, 1), ints(300, 0)), ints(300, 1));
  EXPECT_EQ(merged(ints(1, -7), ints(2, -8), ints(3, -7)), ints(3, -8));
  EXPECT_EQ(merged(ints(1, 70'000), ints(2, 70'001), ints(900, 70'000)), ints(900, 70'001));
}

TEST(Diff, VariablesOfEightBytesStayWhole) {
  const auto bits = [](double value) {
    uint64_t word;
    memcpy(&word, &value, 8);
    return word;
  };
  const uint64_t heap = 0x108000001230, other = 0x109200004560, text = 0x555555556780,
                 library = 0x7ffff7a01230;
  EXPECT_EQ(merged(heap, 0, other), other);
  EXPECT_EQ(merged(heap, other, 0), 0u);
  EXPECT_EQ(merged(heap, heap + 0x1000, 0), 0u);
  EXPECT_EQ(merged(0, library, heap), heap);
  EXPECT_EQ(merged(text, 0, text + 0x1000), text + 0x1000);
  EXPECT_EQ(merged(bits(0), bits(1.5), bits(2.25)), bits(2.25));
  EXPECT_EQ(merged(bits(1.1), bits(0), bits(1.10001)), bits(1.10001));
  EXPECT_EQ(merged(uint64_t(-3), 5, uint64_t(-4)), uint64_t(-4));
  EXPECT_EQ(merged(2, uint64_t(-1), 7), 7u);
  const uint64_t nanoseconds = 1'700'000'000'123'456'789;
  EXPECT_EQ(merged(nanoseconds, 0, nanoseconds + 0xf00), nanoseconds + 0xf00);
}

}  // namespace
}  // namespace weir::page
