// Allocation and freeing on several nodes: places and slots are used again, are zero then, and no
// old write comes through.
#include <gtest/gtest.h>
#include <string.h>

#include <atomic>
#include <random>
#include <set>
#include <vector>

#include "dsm/node/test_cluster.h"

namespace weir::dsm {
namespace {

Settings settings_of(uint64_t size, weir_dsm_protocol protocol = WEIR_DSM_LRC) {
  Settings settings;
  settings.size = size;
  settings.protocol = protocol;
  return settings;
}

uint64_t messages_of_this_node() {
  weir_dsm_counters now;
  weir_dsm_counters_get(&now);
  return now.messages[0] + now.messages[1] + now.messages[2] + now.messages[3];
}

bool is_zero(const uint8_t* memory, size_t size) {
  return memory[0] == 0 && memcmp(memory, memory + 1, size - 1) == 0;
}

TEST(MemoryTest, PlacesOfFreedBlocksAreUsedAgain) {
  for (const auto protocol : {WEIR_DSM_LRC, WEIR_DSM_HLRC, WEIR_DSM_SC}) {
    for (const NodeId nodes : {1u, 3u}) {
      TestCluster cluster(nodes, settings_of(16 << 20, protocol));
      std::atomic<unsigned> wrong{0};
      cluster.run([&](unsigned worker) {
        std::mt19937_64 random(worker);
        for (int i = 0; worker == nodes - 1 && i < 600; i++) {
          const size_t size = random() % (1 << 20) + 2048;
          auto* const memory = static_cast<uint8_t*>(weir_dsm_alloc(size));
          wrong += memory[0] != 0 || memory[size / 2] != 0 || memory[size - 1] != 0;
          memory[0] = memory[size / 2] = memory[size - 1] = 7;
          weir_dsm_free(memory);
        }
        weir_dsm_barrier(0);
      });
      EXPECT_EQ(wrong, 0u);
    }
  }
}

// Each node writes to a block, another one frees it, and the next block lies there.
TEST(MemoryTest, OldWritesDoNotComeThroughToANewBlock) {
  for (const auto protocol : {WEIR_DSM_LRC, WEIR_DSM_HLRC, WEIR_DSM_SC}) {
    TestCluster cluster(3, settings_of(2 << 20, protocol), {.seed = 3, .delay_microseconds = 30});
    std::atomic<uint64_t> offset{0};
    std::atomic<unsigned> wrong{0};
    constexpr size_t kSize = 300'000;
    std::set<uint64_t> places;
    cluster.run([&](unsigned worker) {
      for (unsigned round = 0; round < 60; round++) {
        if (round % 3 == worker) {
          auto* const made = static_cast<uint8_t*>(weir_dsm_alloc(kSize));
          wrong += !is_zero(made, kSize);
          offset = static_cast<uint64_t>(made - cluster.view(worker, 0));
          places.insert(offset);
        }
        weir_dsm_barrier(0);
        uint8_t* const memory = cluster.view(worker, offset);
        for (size_t at = worker; at < kSize; at += 3) memory[at] = static_cast<uint8_t>(round + 1);
        if (round % 2) weir_dsm_barrier_replay(1, WEIR_DSM_STATIC);
        else weir_dsm_barrier(1);
        for (size_t at = 0; at < kSize; at += 997)
          wrong += memory[at] != static_cast<uint8_t>(round + 1);
        weir_dsm_barrier(2);
        if ((round + 1) % 3 == worker) weir_dsm_free(memory);
      }
    });
    EXPECT_EQ(wrong, 0u);
    EXPECT_LT(places.size(), 8u);
  }
}

TEST(MemoryTest, ASmallAllocationTakesNoMessage) {
  TestCluster cluster(3, settings_of(16 << 20));
  cluster.run([&](unsigned worker) {
    if (worker == 2) {
      std::vector<void*> kept;
      for (size_t size = 1; size < 2048; size += 50) kept.push_back(weir_dsm_alloc(size));
      const uint64_t before = messages_of_this_node();
      for (int i = 0; i < 1000; i++) {
        void* const memory = weir_dsm_alloc(static_cast<size_t>(i));
        EXPECT_EQ(reinterpret_cast<uint64_t>(memory) % 64, 0u);
        if (i > 0) { EXPECT_TRUE(is_zero(static_cast<uint8_t*>(memory), static_cast<size_t>(i))); }
        memset(memory, 9, static_cast<size_t>(i));
        weir_dsm_free(memory);
      }
      EXPECT_EQ(messages_of_this_node(), before);
      for (void* memory : kept) weir_dsm_free(memory);
    }
    weir_dsm_barrier(0);
  });
}

// What node 0 allocates node 1 frees. `answers`: node 0 learns of it by the program's own
// synchronization, else only as the runtime asks.
void hand_over(bool answers) {
  TestCluster cluster(2, settings_of(4 << 20));
  std::atomic<uint64_t> offset{0}, highest{0};
  std::atomic<unsigned> wrong{0}, taken{0};
  cluster.run([&](unsigned worker) {
    for (unsigned i = 0; i < 1500; i++) {
      const size_t size = 1000 + i % 5;
      if (worker == 0) {
        while (taken < i) std::this_thread::yield();  // no call of the library
        auto* const made = static_cast<uint8_t*>(weir_dsm_alloc(size));
        wrong += !is_zero(made, size);
        memset(made, static_cast<int>(i % 200 + 1), size);
        offset = static_cast<uint64_t>(made - cluster.view(0, 0));
        highest = std::max<uint64_t>(highest, offset);
        weir_dsm_semaphore_post(0);
        if (answers) weir_dsm_semaphore_wait(1);
      } else {
        weir_dsm_semaphore_wait(0);
        uint8_t* const memory = cluster.view(1, offset);
        wrong += memory[0] != i % 200 + 1 || memcmp(memory, memory + 1, size - 1) != 0;
        memset(memory, 255, size);
        weir_dsm_free(memory);
        if (answers) weir_dsm_semaphore_post(1);
        taken = i + 1;
      }
    }
    weir_dsm_barrier(0);
  });
  EXPECT_EQ(wrong, 0u);
  EXPECT_LT(highest, 700u << 10);
}

TEST(MemoryTest, SlotsThatAnotherNodeFreesAreUsedAgain) { hand_over(true); }
TEST(MemoryTest, SlotsThatAnotherNodeFreesAreAskedFor) { hand_over(false); }

TEST(HeapTest, GivesEachByteOnce) {
  Heap heap;
  const Block attributes;
  std::mt19937_64 random(5);
  std::set<std::pair<uint64_t, uint64_t>> slots;  // offset, size
  uint64_t blocks = 0;
  const auto block_of = [](uint64_t offset) { return offset / Heap::kBlock * Heap::kBlock; };
  for (int i = 0; i < 100'000; i++) {
    if (random() % 100 < (i / 10'000 % 2 ? 45u : 55u) || slots.empty()) {
      const uint64_t size = random() % 2047 + 1;
      Heap::Slot slot = heap.take(attributes, size);
      if (!slot.offset) {
        heap.add(attributes, ++blocks * Heap::kBlock);
        slot = heap.take(attributes, size);
      }
      ASSERT_NE(slot.offset, 0u);
      ASSERT_EQ(block_of(slot.offset), block_of(slot.offset + size - 1));
      const auto next = slots.lower_bound({slot.offset, 0});
      ASSERT_TRUE(next == slots.end() || next->first >= slot.offset + size);
      ASSERT_TRUE(next == slots.begin() ||
                  std::prev(next)->first + std::prev(next)->second <= slot.offset);
      slots.insert({slot.offset, size});
      continue;
    }
    auto one = slots.lower_bound({random() % (blocks + 1) * Heap::kBlock, 0});
    if (one == slots.end()) --one;
    const uint64_t block = block_of(one->first), at = one->first - block;
    if (random() % 2) {
      ASSERT_TRUE(heap.free(block, at));
    } else {
      ASSERT_TRUE(heap.begin_free(block, at));
      ASSERT_FALSE(heap.free(block, at));
      heap.end_free(block, at);
    }
    ASSERT_FALSE(heap.free(block, at));
    slots.erase(one);
  }
  EXPECT_LT(blocks, 400u);
}

}  // namespace
}  // namespace weir::dsm
