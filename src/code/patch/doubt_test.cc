#include "code/patch/doubt.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "code/sites/site_table.h"

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
  doubt::keep_only(nullptr, 0);
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
  doubt::keep_only(nullptr, 0);
  munmap(memory, 3 * kPageSize);
}

// Another library has come: a text that has its patches is not looked at again, and what is known
// of its places stays, also what was proved.
TEST(DoubtTest, WhatIsKnownOfATextStaysUntilItIsPatchedAnew) {
  void* memory = mmap(nullptr, 3 * kPageSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  const auto start = reinterpret_cast<uint64_t>(memory);
  const Range kept{start, start + kPageSize}, other{kept.limit + kPageSize, start + 3 * kPageSize};
  static const uint8_t kIncrement[] = {0xf0, 0xff, 0x07};  // lock incl (%rdi)
  constexpr uint8_t kInt3 = 0xcc;
  const auto byte = [](const Range& text) { return *reinterpret_cast<uint8_t*>(text.start); };
  for (const Range& text : {kept, other}) {
    doubt::begin_text();
    for (uint64_t i = 0; i < 8; i++) {
      std::memcpy(reinterpret_cast<void*>(text.start + i * 16), kIncrement, sizeof kIncrement);
      doubt::add(text.start + i * 16);
    }
  }
  doubt::close_all();
  for (const Range& text : {kept, other}) {
    EXPECT_EQ(doubt::Fetch::kWalk, doubt::on_fetch(text.start, true));
    doubt::end_walk();
    EXPECT_EQ(kInt3, byte(text));
    EXPECT_NE(nullptr, find_trap_site(text.start));
  }
  doubt::open_all();
  doubt::keep_only(&kept, 1);
  doubt::begin_text();
  doubt::add(other.start + 16);
  doubt::close_all();
  EXPECT_EQ(kInt3, byte(kept));
  EXPECT_EQ(kIncrement[0], byte(other));
  EXPECT_NE(nullptr, find_trap_site(kept.start));
  EXPECT_EQ(nullptr, find_trap_site(other.start));
  EXPECT_TRUE(doubt::knows(kept.start + 16));
  EXPECT_FALSE(doubt::knows(other.start));
  EXPECT_TRUE(doubt::knows(other.start + 16));
  EXPECT_EQ(doubt::Fetch::kOther, doubt::on_fetch(kept.limit, true));
  EXPECT_EQ(doubt::Fetch::kGoOn, doubt::on_fetch(kept.start, false));
  doubt::forget(kept);
  EXPECT_EQ(nullptr, find_trap_site(kept.start));
  EXPECT_FALSE(doubt::knows(kept.start + 16));
  doubt::open_all();
  doubt::keep_only(nullptr, 0);
  munmap(memory, 3 * kPageSize);
}

}  // namespace
