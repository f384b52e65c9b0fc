// Orders of events that random programs meet too rarely: each test holds a node's mutex, so that what it is asked for is late, until what is to come between has come.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "dsm/test_cluster.h"

namespace weir::dsm {
namespace {

constexpr uint64_t kWordsOfPage = 4096 / sizeof(uint64_t);

Settings settings_of(weir_dsm_protocol protocol, Tapes tapes) {
  Settings settings;
  settings.size = 64 << 20;
  settings.protocol = protocol;
  settings.tapes = tapes;
  return settings;
}

// Steps of a test, in order: a thread waits until the one before its own is done.
class Steps {
 public:
  void done(unsigned step) { reached_ = step; }
  void await(unsigned step) const {
    while (reached_ < step) std::this_thread::yield();
  }

 private:
  std::atomic<unsigned> reached_{0};
};

void await_busy(Node& node, UnitId unit) {
  for (;; std::this_thread::yield()) {
    const std::lock_guard<std::mutex> held(node.mutex);
    if (node.memory.page(unit).busy) return;
  }
}

// Node 1's first thread misses page 0, learns that page 1 was produced with it, and asks for that one too; meanwhile its second thread acquires a lock under which page 0
// was written once more.
TEST(Interleavings, NoticeComesWhileAProducersExtentIsFetched) {
  TestCluster cluster(3, settings_of(WEIR_DSM_LRC, Tapes::kCalled), {}, 2);
  std::atomic<uint64_t> offset{0};
  Steps steps;
  uint64_t seen = 0;
  cluster.run([&](unsigned worker) {
    const unsigned of_node = worker / 2, thread = worker % 2;
    if (worker == 0) offset = static_cast<uint64_t>(static_cast<uint8_t*>(weir_dsm_alloc(8192)) - cluster.view(0, 0));
    weir_dsm_barrier(0);
    auto* words = reinterpret_cast<uint64_t*>(cluster.view(worker, offset));
    const auto unit = static_cast<UnitId>(offset / 4096);
    if (worker == 0) {
      weir_dsm_produce_start();
      words[0] = words[kWordsOfPage] = 1;
      weir_dsm_produce_end();
    }
    if (of_node == 2 && thread == 0) words[kWordsOfPage + 1] = 1;
    weir_dsm_barrier(0);
    if (of_node == 2 && thread == 0) {
      const std::lock_guard<std::mutex> late(cluster.node(worker).mutex);
      steps.done(1);
      steps.await(4);
    } else if (of_node == 1 && thread == 0) {
      steps.await(1);
      EXPECT_EQ(words[0], 1u);
    } else if (worker == 0) {
      steps.await(1);
      await_busy(cluster.node(2), unit + 1);  // node 1's
      weir_dsm_lock(0);
      words[1] = 2;
      weir_dsm_unlock(0);
      steps.done(3);
    } else if (of_node == 1) {
      steps.await(3);
      weir_dsm_lock(0);
      steps.done(4);
      seen = words[1];
      weir_dsm_unlock(0);
    }
    weir_dsm_barrier(0);
  });
  EXPECT_EQ(seen, 2u);
}

}  // namespace
}  // namespace weir::dsm
