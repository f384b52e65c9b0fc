// For tests: one to four nodes with one to three threads each, and messages that are late by
// chance. Seeds are in each failure; WEIR_SEEDS=N runs N times as many.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>

#include "dsm/node/test_cluster.h"

namespace weir::dsm::test {

struct SynchronizationCase {
  const char* name;
  NodeId nodes;
  unsigned threads;
  uint32_t delay = 0;
  weir_dsm_protocol protocol = WEIR_DSM_LRC;
};

class Synchronization : public testing::TestWithParam<SynchronizationCase> {
 public:
  using Case = SynchronizationCase;

 protected:
  // body(worker, data) on each worker; `data` is its node's view of a T, zero at first.
  template <typename T, typename Body>
  void run(uint64_t seed, Body body) {
    const Case& setup = GetParam();
    Settings settings;
    settings.size = 16 << 20;
    settings.protocol = setup.protocol;
    settings.tree = 2;
    TestCluster cluster(setup.nodes, settings, {.seed = seed, .delay_microseconds = setup.delay},
                        setup.threads);
    std::atomic<uint64_t> offset{0};
    cluster.run([&](unsigned worker) {
      if (worker == 0)
        offset = static_cast<uint64_t>(static_cast<uint8_t*>(weir_dsm_alloc(sizeof(T))) -
                                       cluster.view(0, 0));
      weir_dsm_barrier(1000);
      body(worker, *reinterpret_cast<T*>(cluster.view(worker, offset)));
      weir_dsm_barrier(1001);
    });
  }
  template <typename Test>
  void each_seed(uint64_t count, Test test) {
    if (const char* more = getenv("WEIR_SEEDS")) count *= strtoul(more, nullptr, 10);
    for (uint64_t seed = 1; seed <= count && !HasFailure(); seed++) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      test(seed);
    }
  }
  unsigned workers() const { return GetParam().nodes * GetParam().threads; }
};

inline void pause_by_chance(std::mt19937_64& random) {
  if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
}

}  // namespace weir::dsm::test
