// Garbage is collected where no thread ever comes to a barrier.
#include <gtest/gtest.h>

#include <atomic>

#include "dsm/node/test_cluster.h"

namespace weir::dsm {
namespace {

constexpr size_t kBytes = 4096;

// Each node adds to a page under a lock, `rounds` times, and nothing else.
void count_under_a_lock(weir_dsm_protocol protocol, Tapes tapes, bool uses_semaphores) {
  Settings settings;
  settings.size = 16 << 20;
  settings.collect = 150'000;
  settings.protocol = protocol;
  settings.tapes = tapes;
  constexpr NodeId kNodes = 3;
  constexpr int kRounds = 700;
  TestCluster cluster(kNodes, settings);
  std::atomic<uint64_t> offset{0}, most{0};
  std::atomic<unsigned> wrong{0};
  cluster.run([&](unsigned worker) {
    if (worker == 0) {
      auto* const made = static_cast<uint8_t*>(weir_dsm_alloc(kBytes));
      offset = static_cast<uint64_t>(made - cluster.view(0, 0));
      if (uses_semaphores) weir_dsm_semaphore_post(0);
    }
    while (offset == 0) std::this_thread::yield();
    volatile uint8_t* const memory = cluster.view(worker, offset);
    for (int round = 0; round < kRounds; round++) {
      if (uses_semaphores) weir_dsm_semaphore_wait(worker);
      else weir_dsm_lock(7);
      const uint8_t first = memory[0];
      for (size_t at = 0; at < kBytes; at++) {
        wrong += memory[at] != first;
        memory[at] = static_cast<uint8_t>(first + 1);
      }
      if (uses_semaphores) weir_dsm_semaphore_post((worker + 1) % kNodes);
      else weir_dsm_unlock(7);
      weir_dsm_counters now;
      weir_dsm_counters_get(&now);
      most = std::max<uint64_t>(most, now.memory);
    }
    weir_dsm_barrier(0);
    wrong += memory[kBytes - 1] != static_cast<uint8_t>(kRounds * kNodes);
    weir_dsm_barrier(1);
  });
  EXPECT_EQ(wrong, 0u);
  EXPECT_LT(most, 1'000'000u);  // 2,100 diffs of 4 KiB are 8.6 MB
  if (uses_semaphores) {        // a lock may stay on one node
    EXPECT_GT(cluster.node(0).collector.done(), 5u);
  }
  // However many nodes know an interval, a collection tells it once.
  for (NodeId node = 0; node < kNodes; node++) {
    uint64_t closed = 0;
    for (const uint32_t index : cluster.node(node).intervals.known()) closed += index;
    EXPECT_LE(cluster.node(node).collector.told(), closed);
  }
}

TEST(CollectorTest, WithLocksOnly) {
  for (const auto protocol : {WEIR_DSM_LRC, WEIR_DSM_HLRC}) {
    for (const auto tapes : {Tapes::kOff, Tapes::kAuto}) count_under_a_lock(protocol, tapes, false);
  }
}

TEST(CollectorTest, WithSemaphoresOnly) {
  count_under_a_lock(WEIR_DSM_LRC, Tapes::kOff, true);
  count_under_a_lock(WEIR_DSM_HLRC, Tapes::kOff, true);
}

}  // namespace
}  // namespace weir::dsm
