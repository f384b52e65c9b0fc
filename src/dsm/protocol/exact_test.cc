// Units that nobody asks for cost no traps, whoever has asked before; those that somebody does ask
// for cost no misses when they were not written (lrc.cc, invariant 4).
#include <gtest/gtest.h>

#include <atomic>

#include "dsm/node/test_cluster.h"
#include "weir/region.h"

namespace weir::dsm {
namespace {

struct Case {
  const char* name;
  weir_dsm_protocol protocol;
  UnitKind unit;
  unsigned threads = 1;
};

class Exact : public testing::TestWithParam<Case> {
 protected:
  static constexpr size_t kWords = 1500;

  static Settings settings() {
    Settings settings;
    settings.size = 64 << 20;
    settings.protocol = GetParam().protocol;
    return settings;
  }

  // body(worker, words): two nodes. The pointer is moved with the region's level, so no copy of it
  // outlives a barrier.
  template <typename Body>
  void run(Body body) {
    std::atomic<uint64_t> offset{0};
    std::atomic<weir_dsm_region> region{0};
    cluster_.run([&](unsigned worker) {
      if (worker == 0) {
        weir_dsm_attributes attributes = {};
        attributes.unit =
            GetParam().unit == UnitKind::kAnnotated ? WEIR_DSM_ANNOTATED : WEIR_DSM_PAGES;
        attributes.home = WEIR_DSM_EXPLICIT;  // node 0, which writes
        if (is_region()) {
          region = weir_dsm_region_alloc(kWords * 8, &attributes);
        } else {
          offset = static_cast<uint64_t>(
              static_cast<uint8_t*>(weir_dsm_alloc_with(kWords * 8, &attributes)) -
              cluster_.view(0, 0));
        }
      }
      weir_dsm_barrier(0);
      uint64_t* words = nullptr;
      if (is_region()) {
        weir_dsm_region_attach(region, reinterpret_cast<void**>(&words));
      } else {
        words = reinterpret_cast<uint64_t*>(cluster_.view(worker, offset));
      }
      body(worker, words);
      weir_dsm_barrier(0);
      if (is_region()) weir_region_ptr_free(&words);
    });
  }

  static bool is_region() { return GetParam().unit == UnitKind::kRegion; }

  static void write(uint64_t*& words, uint64_t value) {
    if (GetParam().unit == UnitKind::kAnnotated) weir_dsm_write_access(words);
    for (size_t i = 0; i < kWords; i++) words[i] = value + i;
  }

  static uint64_t wrong(uint64_t*& words, uint64_t value) {
    if (GetParam().unit == UnitKind::kAnnotated) weir_dsm_read_access(words);
    uint64_t wrong = 0;
    for (size_t i = 0; i < kWords; i++) wrong += words[i] != value + i;
    return wrong;
  }

  uint64_t write_faults(unsigned worker) { return cluster_.node(worker).counters.now.write_faults; }
  uint64_t misses(unsigned worker) { return cluster_.node(worker).counters.now.misses; }

  TestCluster cluster_{2, settings(), {}, GetParam().threads};
};

TEST_P(Exact, WhatNobodyAsksForAnyMoreIsNotTrapped) {
  std::atomic<uint64_t> bad{0}, first{0}, later{0};
  const unsigned reader = GetParam().threads;
  run([&](unsigned worker, uint64_t*& words) {
    for (uint64_t round = 1; round <= 30; round++) {
      if (worker == 0) write(words, round);
      weir_dsm_barrier(1);
      if (worker == reader && (round <= 3 || round == 30)) bad += wrong(words, round);
      weir_dsm_barrier(2);
      if (worker == 0 && round == 10) first = write_faults(0);
      if (worker == 0 && round == 29) later = write_faults(0);
    }
  });
  EXPECT_EQ(bad, 0u);
  EXPECT_EQ(first, later);
}

TEST_P(Exact, WhatIsNotWrittenIsNotInvalidated) {
  std::atomic<uint64_t> bad{0}, first{0}, later{0};
  const unsigned reader = GetParam().threads;
  run([&](unsigned worker, uint64_t*& words) {
    for (uint64_t round = 1; round <= 30; round++) {
      if (worker == 0 && (round <= 10 || round == 20)) write(words, round);
      if (worker == 0 && round == 10) weir_dsm_lock(1);
      if (worker == 0 && round == 10) weir_dsm_unlock(1);
      weir_dsm_barrier(1);
      if (worker == reader && round >= 10) {  // until then it is left writable
        weir_dsm_lock(1);
        bad += wrong(words, round < 20 ? 10 : 20);
        weir_dsm_unlock(1);
        if (round == 10) first = misses(reader);
        if (round == 30) later = misses(reader);
      }
      weir_dsm_barrier(2);
    }
  });
  EXPECT_EQ(bad, 0u);
  EXPECT_EQ(later - first, GetParam().unit == UnitKind::kPages ? 3u : 1u);
}

INSTANTIATE_TEST_SUITE_P(All, Exact,
                         testing::Values(Case{"LrcPages", WEIR_DSM_LRC, UnitKind::kPages},
                                         Case{"LrcRegion", WEIR_DSM_LRC, UnitKind::kRegion},
                                         Case{"LrcAnnotated", WEIR_DSM_LRC, UnitKind::kAnnotated},
                                         Case{"HlrcPages", WEIR_DSM_HLRC, UnitKind::kPages},
                                         Case{"LrcThreadsPages", WEIR_DSM_LRC, UnitKind::kPages,
                                              2}),
                         [](const auto& one) { return one.param.name; });

// A home that reads what a diff on its way changes waits for it, and asks nobody: whether it has to
// wait is a matter of microseconds, and counts nothing.
TEST(ExactHome, MissesNothing) {
  constexpr NodeId kWriter = 1, kHome = 2;  // node 0 is the barrier's
  Settings settings;
  settings.size = 16 << 20;
  settings.protocol = WEIR_DSM_HLRC;
  TestCluster cluster(3, settings, {.seed = 7, .delay_microseconds = 3000});
  std::atomic<uint64_t> offset{0}, bad{0};
  cluster.run([&](unsigned me) {
    if (me == 0) {
      weir_dsm_attributes attributes = {};
      attributes.home = WEIR_DSM_EXPLICIT;
      attributes.home_node = kHome;
      offset = static_cast<uint64_t>(static_cast<uint8_t*>(weir_dsm_alloc_with(4096, &attributes)) -
                                     cluster.view(0, 0));
    }
    weir_dsm_barrier(0);
    volatile uint64_t* const word = reinterpret_cast<uint64_t*>(cluster.view(me, offset));
    for (uint64_t round = 1; round <= 80; round++) {
      if (me == kWriter) *word = round;
      weir_dsm_barrier(1);
      if (me == kHome) bad += *word != round;
      weir_dsm_barrier(2);
    }
  });
  EXPECT_EQ(bad, 0u);
  EXPECT_GT(cluster.node(kHome).counters.now.miss_nanoseconds, 0u);  // it has waited
  EXPECT_EQ(cluster.node(kHome).counters.now.misses, 0u);
}

}  // namespace
}  // namespace weir::dsm
