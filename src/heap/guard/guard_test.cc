#include "heap/guard/guard.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "heap/guard/state.h"

namespace weir::guard {
namespace {

constexpr uint64_t kRegion = 0x120000000000, kRegionSize = uint64_t{1} << 32;

bool copy(void* to, uint64_t from, uint64_t size) {
  memcpy(to, reinterpret_cast<const void*>(from), size);
  return true;
}

char* bytes_at(uint64_t address) { return reinterpret_cast<char*>(address); }

class Guard : public testing::Test {
 protected:
  void SetUp() override {
    g_state = State{};
    ASSERT_TRUE(begin({kRegion, kRegion + kRegionSize}));
  }
  void TearDown() override {
    munmap(g_state.tables, sizeof(Tables));
    munmap(bytes_at(kRegion), kRegionSize);
    g_state = State{};
    g_is_on = false;
  }

  static uint64_t made(size_t size, size_t alignment = 16) {
    return allocate(size, alignment, {}, 3, copy);
  }
  static Misuse freed(uint64_t address) { return free(address, {}, 4, copy); }
};

bool is_open(uint64_t page) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool is = write(ends[1], bytes_at(page), 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return is;
}

TEST_F(Guard, ABlockEndsAtItsLastPage) {
  for (const size_t size : {1, 15, 16, 17, 4080, 4096, 4097, 100'000}) {
    const uint64_t block = made(size);
    ASSERT_NE(block, 0u);
    EXPECT_EQ(block % 16, 0u);
    EXPECT_EQ(page_up(block + size), (block + size + 15) & ~uint64_t{15});
    memset(bytes_at(block), 7, size);
    EXPECT_FALSE(is_open(page_up(block + size)));
    size_t found = 0;
    EXPECT_TRUE(find_size(block, found));
    EXPECT_EQ(found, size);
    EXPECT_EQ(freed(block).kind, Kind::kNone);
    EXPECT_FALSE(is_open(block));
    EXPECT_FALSE(find_size(block, found));
  }
}

TEST_F(Guard, AlignmentIsKept) {
  for (size_t alignment = 16; alignment <= 1 << 21; alignment *= 2) {
    const uint64_t block = made(100, alignment);
    ASSERT_NE(block, 0u);
    EXPECT_EQ(block % alignment, 0u);
    memset(bytes_at(block), 7, 100);
    EXPECT_EQ(freed(block).kind, Kind::kNone);
  }
}

TEST_F(Guard, ABlockOfNoBytesHasNoRights) {
  const uint64_t block = made(0), next = made(0);
  EXPECT_NE(block, next);
  EXPECT_FALSE(is_open(block));
  EXPECT_EQ(judge_access(block).kind, Kind::kOverflow);
  EXPECT_EQ(freed(block).kind, Kind::kNone);
  EXPECT_EQ(judge_access(block).kind, Kind::kUseAfterFree);
}

TEST_F(Guard, AnAccessIsJudgedByTheNearestBlock) {
  const uint64_t first = made(4096), second = made(4096);
  EXPECT_EQ(judge_access(first + 4096).kind, Kind::kOverflow);
  EXPECT_EQ(judge_access(first + 4096).start, first);
  EXPECT_EQ(judge_access(second - 1).kind, Kind::kUnderflow);
  EXPECT_EQ(judge_access(second - 1).start, second);
  EXPECT_EQ(judge_access(first).kind, Kind::kNone);  // it has the right
  EXPECT_EQ(freed(first).kind, Kind::kNone);
  const Misuse misuse = judge_access(first + 8);
  EXPECT_EQ(misuse.kind, Kind::kUseAfterFree);
  EXPECT_EQ(misuse.allocated.task, 3u);
  EXPECT_EQ(misuse.freed.task, 4u);
  EXPECT_EQ(judge_access(kRegion + kRegionSize - 8).kind, Kind::kNone);  // nobody's
  EXPECT_EQ(judge_access(0x1000).kind, Kind::kNone);
}

TEST_F(Guard, WhatIsFreedIsLookedAt) {
  const uint64_t block = made(20);
  bytes_at(block)[20] = 1;
  EXPECT_EQ(look_at_all().kind, Kind::kOverflow);
  const Misuse behind = freed(block);
  EXPECT_EQ(behind.kind, Kind::kOverflow);
  EXPECT_TRUE(behind.is_late);
  EXPECT_EQ(behind.address, block + 20);
  const uint64_t other = made(20);
  bytes_at(other)[-1] = 1;
  EXPECT_EQ(freed(other).kind, Kind::kUnderflow);
}

TEST_F(Guard, WrongFreesAreTold) {
  const uint64_t block = made(48);
  EXPECT_EQ(freed(block + 16).kind, Kind::kInvalidFree);
  EXPECT_EQ(freed(kRegion).kind, Kind::kInvalidFree);
  EXPECT_EQ(freed(block).kind, Kind::kNone);
  EXPECT_EQ(freed(block).kind, Kind::kDoubleFree);
}

TEST_F(Guard, FreedBlocksShareOneMapping) {
  std::vector<uint64_t> blocks;
  for (int i = 0; i < 5000; i++) blocks.push_back(made(40));
  for (const uint64_t block : blocks) {
    ASSERT_NE(block, 0u);
    ASSERT_EQ(freed(block).kind, Kind::kNone);
  }
  int mappings = 0;
  FILE* const maps = fopen("/proc/self/maps", "r");
  for (char line[512]; fgets(line, sizeof line, maps);) {
    const uint64_t start = strtoull(line, nullptr, 16);
    mappings += start >= kRegion && start < kRegion + kRegionSize;
  }
  fclose(maps);
  EXPECT_LT(mappings, 10);
}

TEST_F(Guard, TheRegionEnds) {
  EXPECT_EQ(made(kRegionSize), 0u);
  EXPECT_EQ(made(SIZE_MAX - 100), 0u);
  EXPECT_NE(made(kRegionSize / 2), 0u);
  EXPECT_EQ(made(kRegionSize / 2), 0u);
}

TEST_F(Guard, TheFirstOfASiteAreChosenAndThenSome) {
  int chosen = 0;
  for (int i = 0; i < 200; i++) chosen += choose(0x1000, 40);
  EXPECT_EQ(chosen, 200);
  for (int i = 0; i < 100'000; i++) chosen += choose(0x1000, 40);
  EXPECT_LT(chosen, 2000);
  EXPECT_GT(chosen, 256);
  EXPECT_TRUE(choose(0x2000, 40));    // another site
  EXPECT_TRUE(choose(0x1000, 4000));  // and other sizes at the same
  g_state.live = kMaxLive;
  EXPECT_FALSE(choose(0x3000, 40));
}

TEST_F(Guard, TheSamePathChoosesTheSame) {
  const auto path = [] {
    g_state.counts = {};
    for (uint32_t i = 0; i < kSites; i++) g_state.tables->sites[i] = {};
    std::vector<bool> chosen;
    for (uint64_t i = 0; i < 20'000; i++) chosen.push_back(choose(0x1000 + i % 7 * 16, i % 300));
    return chosen;
  };
  EXPECT_EQ(path(), path());
}

// As the heap gives it: 16 bytes aligned, all of them usable.
struct Block {
  explicit Block(size_t size, size_t usable) : usable(usable), asked(size) {
    address = reinterpret_cast<uint64_t>(aligned_alloc(16, usable));
    mark(address, usable, size, 0x1234, 5);
  }
  Block(const Block&) = delete;
  ~Block() { ::free(bytes_at(address)); }
  Misuse look_at(uint64_t at) const {
    size_t size;
    return look(at, {address, address + usable}, usable, 0, size);
  }
  Misuse kept() const {
    uint64_t leaving[kMaxLeaving];
    Misuse misuse;
    keep(address, usable, asked, 0, 0x5678, 6, leaving, misuse);
    return misuse;
  }
  uint64_t address;
  size_t usable, asked;
};

TEST_F(Guard, AMarkedBlockKnowsItsSize) {
  for (const size_t size : {0, 1, 40, 48}) {
    Block block(size, 64);
    memset(bytes_at(block.address), 7, size);
    size_t found = 99;
    EXPECT_EQ(look(block.address, {block.address, block.address + 64}, 64, 0, found).kind,
              Kind::kNone);
    EXPECT_EQ(found, size);
  }
}

TEST_F(Guard, EachByteBehindAMarkedBlockIsSeen) {
  for (size_t at = 40; at < 64; at++) {
    Block block(40, 64);
    bytes_at(block.address)[at] ^= 0x55;
    const Misuse misuse = block.look_at(block.address);
    // Above lies who has asked for it, which nothing checks.
    EXPECT_EQ(misuse.kind, at < 56 ? Kind::kOverflow : Kind::kNone) << at;
    EXPECT_EQ(misuse.is_late, at < 56) << at;
  }
}

TEST_F(Guard, AMarkedBlockIsFreedOnce) {
  Block block(40, 64);
  EXPECT_EQ(block.look_at(block.address + 16).kind, Kind::kInvalidFree);
  EXPECT_TRUE(block.look_at(block.address + 16).has_block);
  EXPECT_EQ(block.look_at(block.address).kind, Kind::kNone);
  EXPECT_EQ(block.kept().kind, Kind::kNone);
  const Misuse misuse = block.look_at(block.address);
  EXPECT_EQ(misuse.kind, Kind::kDoubleFree);
  EXPECT_EQ(misuse.allocated.at[0], 0x1234u);
  EXPECT_EQ(misuse.allocated.task, 5u);
  EXPECT_EQ(misuse.freed.at[0], 0x5678u);
  EXPECT_EQ(misuse.freed.task, 6u);
}

TEST_F(Guard, AWriteAfterFreeIsSeenAtTheEnd) {
  Block block(40, 64);
  EXPECT_EQ(block.kept().kind, Kind::kNone);
  EXPECT_EQ(look_at_all().kind, Kind::kNone);
  bytes_at(block.address)[39] = 0;
  const Misuse misuse = look_at_all();
  EXPECT_EQ(misuse.kind, Kind::kUseAfterFree);
  EXPECT_EQ(misuse.address, block.address + 39);
}

TEST_F(Guard, TheQuarantineIsLimited) {
  std::vector<char> memory(kMaxHeldBytesOfHeap + (4 << 20));
  const size_t usable = 64 << 10;
  uint64_t at = (reinterpret_cast<uint64_t>(memory.data()) + 15) & ~uint64_t{15};
  uint32_t left = 0;
  for (uint64_t i = 0; i < kMaxHeldBytesOfHeap / usable + 16; i++, at += usable) {
    mark(at, usable, 100, 1, 1);
    uint64_t leaving[kMaxLeaving];
    Misuse misuse;
    left += keep(at, usable, 100, 0, 1, 1, leaving, misuse);
    ASSERT_EQ(misuse.kind, Kind::kNone);
  }
  EXPECT_EQ(left, 16u);
  EXPECT_LE(g_state.held_bytes, kMaxHeldBytesOfHeap);
}

TEST_F(Guard, AFilledWordIsKnown) {
  Block block(40, 64);
  block.kept();
  uint64_t word;
  memcpy(&word, bytes_at(block.address), sizeof word);
  EXPECT_TRUE(is_fill(word));
  EXPECT_TRUE(is_fill(word + 24));
  EXPECT_FALSE(is_fill(0));
  EXPECT_FALSE(is_fill(block.address));
}

}  // namespace
}  // namespace weir::guard
