// Where the kernel gives no ring every answer but "none" is -1, and the tests of which pages have
// faulted are skipped.
#include "sys/fault_log.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <set>
#include <vector>

namespace weir::sys {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kRingAt = 0x310000000000;
constexpr uint32_t kMax = 4096;
uint64_t g_pages[kMax];

// Once in the process, as the contract has it, and from its one thread.
bool has_ring() {
  static const bool ring = start_fault_log(kRingAt);
  return ring;
}

struct Area {
  explicit Area(uint64_t pages) : size(pages * kPage) {
    start = static_cast<uint8_t*>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(start, size, MADV_NOHUGEPAGE);
  }
  ~Area() { munmap(start, size); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
  uint64_t page(uint64_t index) const { return reinterpret_cast<uint64_t>(start) + index * kPage; }
  // A sanitizer's look at the page's shadow would be a fault, too.
  __attribute__((noinline, no_sanitize("address"))) void write(uint64_t index) {
    *reinterpret_cast<volatile uint8_t*>(page(index)) = 1;
  }
  uint8_t* start;
  uint64_t size;
};

// Every page of the runtime's own that is needed has been touched.
void warm_up() {
  const FaultMark mark = mark_faults();
  std::fill(std::begin(g_pages), std::end(g_pages), 0);
  Area area(1);
  area.write(0);
  (void)faults_since(mark, g_pages, kMax);
}

TEST(FaultLog, NoFaultIsZeroWithAndWithoutARing) {
  has_ring();
  warm_up();
  const FaultMark mark = mark_faults();
  EXPECT_EQ(faults_since(mark, g_pages, kMax), 0);
}

TEST(FaultLog, NamesThePagesInOrderOfTime) {
  if (!has_ring()) GTEST_SKIP() << "no ring on this machine";
  warm_up();
  Area area(8);
  const volatile uint64_t order[] = {5, 1,
                                     7};  // on the stack: a page of constants would fault, too
  const FaultMark mark = mark_faults();
  for (const volatile uint64_t& index : order) area.write(index);
  area.write(1);  // no fault any more
  ASSERT_EQ(faults_since(mark, g_pages, kMax), 3);
  EXPECT_EQ(g_pages[0], area.page(5));
  EXPECT_EQ(g_pages[1], area.page(1));
  EXPECT_EQ(g_pages[2], area.page(7));
}

TEST(FaultLog, MoreThanAskedForIsNotKnown) {
  if (!has_ring()) GTEST_SKIP() << "no ring on this machine";
  warm_up();
  Area area(4);
  const FaultMark mark = mark_faults();
  for (uint64_t index = 0; index < 4; index++) area.write(index);
  EXPECT_EQ(faults_since(mark, g_pages, 3), -1);
  EXPECT_EQ(faults_since(mark, g_pages, 4), 4);
}

TEST(FaultLog, PagesPopulatedByTheKernelAreMissedAndThatIsNoticed) {
  warm_up();
  Area area(4);
  const FaultMark mark = mark_faults();
  constexpr int kPopulateWrite = 23;
  if (madvise(area.start, area.size, kPopulateWrite) != 0) GTEST_SKIP() << "no MADV_POPULATE_WRITE";
  EXPECT_EQ(faults_since(mark, g_pages, kMax), -1);
}

TEST(FaultLog, StaysRightWhenTheRingRunsOverItself) {
  if (!has_ring()) GTEST_SKIP() << "no ring on this machine";
  warm_up();
  constexpr uint64_t kPages = 8000, kStep = 37;
  Area area(kPages);
  for (uint64_t from = 0; from + kStep <= kPages; from += kStep) {
    const FaultMark mark = mark_faults();
    for (uint64_t index = from; index < from + kStep; index++) area.write(index);
    ASSERT_EQ(faults_since(mark, g_pages, kMax), static_cast<long>(kStep)) << from;
    for (uint64_t k = 0; k < kStep; k++) ASSERT_EQ(g_pages[k], area.page(from + k));
  }
}

TEST(FaultLog, WhatTheRingCannotHoldIsNotKnown) {
  warm_up();
  constexpr uint64_t kPages = 3000;
  Area area(kPages);
  const FaultMark mark = mark_faults();
  for (uint64_t index = 0; index < kPages; index++) area.write(index);
  EXPECT_EQ(faults_since(mark, g_pages, kMax), -1);
}

// The last one: afterwards this process has no ring any more.
TEST(FaultLog, WithoutARingAFaultIsNotKnown) {
  EXPECT_FALSE(start_fault_log(1));  // an address that no mapping can have
  warm_up();
  Area area(2);
  const FaultMark mark = mark_faults();
  area.write(1);
  EXPECT_EQ(faults_since(mark, g_pages, kMax), -1);
}

}  // namespace
}  // namespace weir::sys
