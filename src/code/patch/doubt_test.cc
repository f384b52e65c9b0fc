#include "code/patch/doubt.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace {

using namespace weir;

// Libraries lie without a gap: text, variables, and the next library's text two pages on.
TEST(DoubtTest, VariablesBetweenTwoTextsStayWritable) {
  constexpr size_t kPages = 4;
  void* memory =
      mmap(nullptr, kPages * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  const auto start = reinterpret_cast<uint64_t>(memory);
  const uint64_t second = start + 3 * kPageSize;
  ASSERT_EQ(0, mprotect(memory, kPageSize, PROT_READ | PROT_EXEC));
  ASSERT_EQ(0, mprotect(reinterpret_cast<void*>(second), kPageSize, PROT_READ | PROT_EXEC));
  doubt::begin_text();
  doubt::add(start + 100);
  doubt::begin_text();
  doubt::add(second + 100);
  doubt::close_all();
  EXPECT_TRUE(doubt::knows(start + 100));
  EXPECT_TRUE(doubt::knows(second + 100));
  auto* variable = reinterpret_cast<volatile char*>(start + kPageSize);
  *variable = 1;
  EXPECT_EQ(doubt::Fetch::kOther, doubt::on_fetch(start + 2 * kPageSize, false));
  EXPECT_EQ(doubt::Fetch::kGoOn, doubt::on_fetch(second + 8, false));
  doubt::open_all();
  *variable = 2;
  munmap(memory, kPages * kPageSize);
}

// One text's closed pages are closed together where they lie near each other: fewer mappings.
TEST(DoubtTest, PagesBetweenTwoPlacesOfATextAreClosedToo) {
  void* memory =
      mmap(nullptr, 3 * kPageSize, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  const auto start = reinterpret_cast<uint64_t>(memory);
  doubt::begin_text();
  doubt::add(start + 2 * kPageSize);
  doubt::add(start + 9);
  doubt::close_all();
  EXPECT_EQ(doubt::Fetch::kGoOn, doubt::on_fetch(start + kPageSize, false));
  EXPECT_FALSE(doubt::knows(start + 8));
  doubt::open_all();
  munmap(memory, 3 * kPageSize);
}

}  // namespace
