#include "memory/windows.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <map>
#include <random>

#include "memory/demand.h"

namespace weir::page::windows {
namespace {

// The table, and the record from which pages of the backing are taken; windows themselves are
// mapped on a file of the test's own.
struct WindowsTest : ::testing::Test {
  WindowsTest() {
    for (const auto& [at, size] : {std::pair{kWindowTable, kWindowTableSize},
                                   std::pair{kControl, uint64_t{sizeof(Shared)}}}) {
      void* memory = mmap(reinterpret_cast<void*>(at), size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      EXPECT_EQ(memory, reinterpret_cast<void*>(at));
    }
    shared().memory.map_bump = kArena + kHeapSize;
    shared().memory.backing = memfd_create("windows", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(shared().memory.backing, static_cast<off_t>(kBackingSize)), 0);
  }
  ~WindowsTest() override {
    unmap_all();
    close(shared().memory.backing);
    munmap(reinterpret_cast<void*>(kWindowTable), kWindowTableSize);
    munmap(reinterpret_cast<void*>(kControl), sizeof(Shared));
  }
};

TEST_F(WindowsTest, BlocksLieInWindowsOfTheirOwnAndShareNoByteOfTheBacking) {
  std::mt19937 random(3);
  std::map<uint64_t, uint64_t> live;  // by place in the backing: its end
  std::map<uint64_t, uint64_t> place;
  for (int i = 0; i < 20000; i++) {
    if (place.size() < 500 || random() % 2) {
      const uint64_t size = 1 + random() % kMaxSmall, at = allocate(size);
      ASSERT_TRUE(at && contains(at) && at % 16 == 0);
      ASSERT_GE(size_of(at), size);
      ASSERT_EQ(page_down(at), page_down(at + size - 1));
      ASSERT_EQ(place.count(at), 0u);
      const auto in_page = place.lower_bound(page_down(at));
      ASSERT_TRUE(in_page == place.end() || in_page->first >= page_down(at) + kPageSize);
      const uint64_t begin = shared_view_of(at), limit = begin + size;
      const auto next = live.lower_bound(begin);
      ASSERT_TRUE(next == live.end() || next->first >= limit);
      ASSERT_TRUE(next == live.begin() || std::prev(next)->second <= begin);
      live[begin] = limit;
      place[at] = begin;
      *reinterpret_cast<uint8_t*>(at) = 1;
    } else {
      const auto which = std::next(place.begin(), static_cast<long>(random() % place.size()));
      live.erase(which->second);
      free(which->first);
      place.erase(which);
    }
  }
}

TEST_F(WindowsTest, ABlockThatIsGivenBackWaits) {
  const uint64_t first = allocate(64);
  free(first);
  for (int i = 0; i < 20; i++) ASSERT_NE(allocate(64), first);
}

TEST_F(WindowsTest, SlicesShowConsecutivePages) {
  const uint64_t run = take_run(5), backing = kArena + kHeapSize;
  ASSERT_NE(run, 0u);
  show(run, backing, 2);  // a slice that ends in the middle of the second page
  show(run + 2 * kPageSize, backing + kPageSize, 3);  // where the next one begins
  EXPECT_EQ(extent(run + 100), 2 * kPageSize - 100);
  EXPECT_EQ(shared_view_of(run + kPageSize + 7), shared_view_of(run + 2 * kPageSize + 7));
  *reinterpret_cast<volatile uint8_t*>(run + kPageSize + 7) = 9;
  const uint8_t seen = *reinterpret_cast<volatile uint8_t*>(run + 2 * kPageSize + 7);
  EXPECT_EQ(seen, 9);
  free_run(run, 5);
  EXPECT_EQ(take_run(5), run);
}

}  // namespace
}  // namespace weir::page::windows
