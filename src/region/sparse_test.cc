// Large regions of which little is used: what they cost is what is used.
#include <gtest/gtest.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "region/test_regions.h"

namespace {

using weir::region::fresh;
using weir::region::kOpen;

constexpr size_t kMiB = size_t{1} << 20;

// Memory of this process, of the kind that no file on disk has; in bytes.
size_t used_memory() {
  FILE* status = fopen("/proc/self/status", "r");
  char line[200];
  size_t sum = 0, kilobytes = 0;
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "RssAnon: %zu", &kilobytes) == 1 ||
        sscanf(line, "RssShmem: %zu", &kilobytes) == 1 ||
        sscanf(line, "VmSwap: %zu", &kilobytes) == 1)
      sum += kilobytes * 1024;
  if (status) fclose(status);
  return sum;
}

void raise_level(weir_region_trap* trap) { weir_region_protect(trap->start, kOpen); }

struct HugeRegion {
  char* p = nullptr;
  explicit HugeRegion(size_t size) { EXPECT_NE(nullptr, weir_region_alloc(size, &p, raise_level)); }
  char* now() { return fresh(p); }
  char* open() { return static_cast<char*>(weir_region_open(p)); }
  ~HugeRegion() {
    void* at = open();
    p = nullptr;
    EXPECT_EQ(0, weir_region_free(at));
  }
};

using Changes = std::vector<std::pair<size_t, size_t>>;
Changes changes_of(const void* region) {
  std::vector<weir_region_change> found(1000);
  const long count = weir_region_diff(region, found.data(), found.size());
  Changes out;
  for (long i = 0; i < count; i++)
    out.emplace_back(found[static_cast<size_t>(i)].offset, found[static_cast<size_t>(i)].size);
  return out;
}

TEST(Sparse, ACheckpointCostsWhatIsThere) {
  constexpr size_t kSize = 1024 * kMiB;
  HugeRegion region(kSize);
  for (const size_t at : {size_t{5}, kSize / 2, kSize - 1}) region.now()[at] = 'a';
  const size_t before = used_memory();
  for (int round = 0; round < 3; round++) {
    ASSERT_EQ(0, weir_region_checkpoint(region.p));
    region.now()[kSize / 2]++;
    region.now()[kSize / 4 * 3 + static_cast<size_t>(round) * kMiB] = 'x';  // was a hole
    EXPECT_EQ((Changes{{kSize / 2, 1}, {kSize / 4 * 3 + static_cast<size_t>(round) * kMiB, 1}}),
              changes_of(region.p));
  }
  EXPECT_LT(used_memory() - before, 2 * kMiB);
  ASSERT_EQ(0, weir_region_checkpoint_end(region.p));
}

TEST(Sparse, WhatWasTakenAwaySinceTheCheckpointHasChanged) {
  HugeRegion region(64 * kMiB);
  memset(region.now() + 10 * kMiB, 'a', size_t{3} * 4096);
  ASSERT_EQ(0, weir_region_checkpoint(region.p));
  region.now()[0] = 'b';
  ASSERT_EQ(0, madvise(region.open() + 10 * kMiB + 4096, 4096, MADV_REMOVE));
  EXPECT_EQ((Changes{{0, 1}, {10 * kMiB + 4096, 4096}}), changes_of(region.p));
  // ... and at the next checkpoint is what was taken away.
  ASSERT_EQ(0, weir_region_checkpoint(region.p));
  region.now()[1] = 'b';
  EXPECT_EQ((Changes{{1, 1}}), changes_of(region.p));
}

TEST(Sparse, AgreesWithComparingAll) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; round++) {
    // Defined memory begins anywhere in a page.
    const size_t size = kMiB + random() % kMiB, shift = random() % 5000;
    const size_t whole = 4 * kMiB;
    auto* memory = static_cast<char*>(
        mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    char* p = memory + shift;
    const auto scatter = [&](char* at) {
      for (unsigned i = 0; i < random() % 40; i++) {
        const size_t from = random() % size, length = 1 + random() % (random() % 4 ? 50 : 20000);
        memset(at + from, static_cast<int>(random() % 3), std::min(length, size - from));
      }
    };
    scatter(memory + shift);
    const std::vector<char> original(p, p + size);
    ASSERT_EQ(0, weir_region_define(memory + shift, size, &p, raise_level));
    ASSERT_EQ(0, memcmp(original.data(), weir_region_open(p), size));
    std::vector<char> mirror(weir_region_open(p) ? size : 0);
    for (int step = 0; step < 3; step++) {
      auto* open = static_cast<char*>(weir_region_open(p));
      memcpy(mirror.data(), open, step == 0 ? 0 : size);
      if (step == 0) mirror = original;
      ASSERT_EQ(0, weir_region_checkpoint(p));
      fresh(p)[random() % size]++;
      scatter(static_cast<char*>(weir_region_open(p)));
      Changes expected;
      for (size_t at = 0; at < size; at++) {
        if (mirror[at] == open[at]) continue;
        if (!expected.empty() && expected.back().first + expected.back().second == at) {
          expected.back().second++;
        } else {
          expected.emplace_back(at, 1);
        }
      }
      ASSERT_EQ(expected, changes_of(p));
    }
    const std::vector<char> last(static_cast<char*>(weir_region_open(p)),
                                 static_cast<char*>(weir_region_open(p)) + size);
    void* at = weir_region_open(p);
    p = nullptr;
    ASSERT_EQ(0, weir_region_free(at));
    ASSERT_EQ(0, memcmp(last.data(), memory + shift, size));
    munmap(memory, whole);
  }
}

TEST(Sparse, MemoryThatBecomesARegionAndBackCostsWhatIsThere) {
  constexpr size_t kSize = 512 * kMiB;
  // In a stretch of address space of which nothing else became regions.
  auto* memory = static_cast<char*>(
      mmap(reinterpret_cast<void*>(uint64_t{0x200000000000}), kSize, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0));
  ASSERT_NE(MAP_FAILED, static_cast<void*>(memory));
  memory[kSize / 2] = 'a';
  const size_t before = used_memory();
  char* p = memory;
  ASSERT_EQ(0, weir_region_define(memory, kSize, &p, raise_level));
  EXPECT_EQ('a', fresh(p)[kSize / 2]);
  ASSERT_EQ(0, weir_region_checkpoint(p));
  fresh(p)[3] = 'b';
  EXPECT_EQ((Changes{{3, 1}}), changes_of(p));
  EXPECT_LT(used_memory() - before, 4 * kMiB);
  p = nullptr;
  ASSERT_EQ(0, weir_region_free(memory));
  EXPECT_LT(used_memory() - before, 4 * kMiB);
  EXPECT_EQ('b', memory[3]);
  EXPECT_EQ('a', memory[kSize / 2]);
  munmap(memory, kSize);
}

TEST(Sparse, ATwinOfLockedMemoryBeginsAsZeros) {
  HugeRegion region(kMiB);
  memset(region.now(), 'a', kMiB);
  ASSERT_EQ(0, weir_region_checkpoint(region.p));
  region.now()[0] = 'b';
  const bool is_locked = mlockall(MCL_CURRENT | MCL_ONFAULT) == 0;  // else the usual case
  ASSERT_EQ(0, weir_region_checkpoint_end(region.p));
  if (is_locked) munlockall();
  ASSERT_EQ(0, madvise(region.open(), kMiB, MADV_REMOVE));
  ASSERT_EQ(0, weir_region_checkpoint(region.p));
  region.now()[5] = 'c';
  EXPECT_EQ((Changes{{5, 1}}), changes_of(region.p));
}

TEST(Sparse, AForkedChildHasTheTwinToo) {
  HugeRegion region(64 * kMiB);
  region.now()[40 * kMiB] = 'a';
  ASSERT_EQ(0, weir_region_checkpoint(region.p));
  region.now()[40 * kMiB] = 'b';
  const pid_t child = fork();
  if (child == 0) {
    region.now()[1] = 'c';
    _exit(changes_of(region.p) == Changes{{1, 1}, {40 * kMiB, 1}} ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_EQ((Changes{{40 * kMiB, 1}}), changes_of(region.p));
}

}  // namespace
