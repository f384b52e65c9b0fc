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

}  // namespace
}  // namespace weir::page
