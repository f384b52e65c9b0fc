// Orders of events that random programs meet too rarely: each test holds a node's mutex, so that
// what it is asked for is late, until what is to come between has come.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "dsm/node/test_cluster.h"
#include "dsm/protocol/lrc.h"
#include "dsm/protocol/sc.h"

namespace weir::dsm {
namespace {

using Words = volatile uint64_t*;
constexpr uint64_t kWordsOfPage = 4096 / sizeof(uint64_t);

Settings settings_of(weir_dsm_protocol protocol, Tapes tapes) {
  Settings settings;
  settings.size = 64 << 20;
  settings.protocol = protocol;
  settings.tapes = tapes;
  return settings;
}

class Cluster : public TestCluster {
 public:
  using TestCluster::TestCluster;
  Words words(unsigned worker, uint64_t offset) {
    return reinterpret_cast<Words>(view(worker, offset));
  }
};

uint64_t offset_of(Cluster& cluster, void* memory) {
  return static_cast<uint64_t>(static_cast<uint8_t*>(memory) - cluster.view(0, 0));
}

uint64_t annotated(Cluster& cluster, size_t size) {
  weir_dsm_attributes attributes = {};
  attributes.unit = WEIR_DSM_ANNOTATED;
  attributes.home = WEIR_DSM_EXPLICIT;
  return offset_of(cluster, weir_dsm_alloc_with(size, &attributes));
}

// body(worker, words): `words` are an annotated unit's.
void run_annotated(Cluster& cluster, const std::function<void(unsigned, Words)>& body) {
  std::atomic<uint64_t> offset{0};
  cluster.run([&](unsigned worker) {
    if (worker == 0) offset = annotated(cluster, 64);
    weir_dsm_barrier(0);
    body(worker, cluster.words(worker, offset));
    weir_dsm_barrier(0);
  });
}

// Steps of a test, in order: a thread waits until the one before its own is done.
class Steps {
 public:
  // The first one to ask.
  bool first() { return !asked_.exchange(true); }
  void done(unsigned step) { reached_ = step; }
  void await(unsigned step) const {
    while (reached_ < step) std::this_thread::yield();
  }

 private:
  std::atomic<unsigned> reached_{0};
  std::atomic<bool> asked_{false};
};

void await_busy(Node& node, UnitId unit) {
  for (;; std::this_thread::yield()) {
    const std::lock_guard<std::mutex> held(node.mutex);
    if (node.memory.page(unit).busy) return;
  }
}

// Node 1's first thread misses page 0, learns that page 1 was produced with it, and asks for that
// one too; meanwhile its second thread acquires a lock under which page 0 was written once more.
TEST(Interleavings, NoticeComesWhileAProducersExtentIsFetched) {
  Cluster cluster(3, settings_of(WEIR_DSM_LRC, Tapes::kCalled), {}, 2);
  std::atomic<uint64_t> offset{0};
  Steps steps;
  uint64_t seen = 0;
  cluster.run([&](unsigned worker) {
    const unsigned of_node = worker / 2, thread = worker % 2;
    if (worker == 0) offset = offset_of(cluster, weir_dsm_alloc(8192));
    weir_dsm_barrier(0);
    const Words words = cluster.words(worker, offset);
    const auto unit = static_cast<UnitId>(offset / 4096);
    if (worker == 0) {
      weir_dsm_produce_start();
      words[0] = 1;
      words[kWordsOfPage] = 1;
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

// A diff of node 1 is in its home's copy before the notice. What the home writes to an annotated
// unit after the notice overrides it, also where another node gets both by a tape.
TEST(Interleavings, HomeHasADiffBeforeItsNotice) {
  Cluster cluster(3, settings_of(WEIR_DSM_HLRC, Tapes::kCalled));
  Steps steps;
  uint64_t seen = 0;
  run_annotated(cluster, [&](unsigned worker, Words words) {
    uint64_t* const all = const_cast<uint64_t*>(words);
    if (worker == 0) {
      weir_dsm_write_access(all);
      words[1] = 1;  // the twin
      steps.done(1);
      steps.await(2);
      for (bool is_here = false; !is_here; std::this_thread::yield()) {
        const std::lock_guard<std::mutex> held(cluster.node(0).mutex);
        const auto& page = static_cast<LazyPage&>(*cluster.node(0).memory.page_at(all));
        is_here = page.applied[1] == cluster.node(1).intervals.known()[1];
      }
      weir_dsm_lock(1);
      weir_dsm_write_access(all);
      words[0] = 200;
      weir_dsm_unlock(1);
      steps.done(3);
    } else if (worker == 1) {
      steps.await(1);
      for (int i = 0; i < 10; i++) {  // intervals, for a high stamp
        weir_dsm_write_access(all);
        words[0] = words[0] + 1;
        weir_dsm_semaphore_post(0);
      }
      weir_dsm_lock(1);
      weir_dsm_write_access(all);
      words[0] = 100;
      weir_dsm_unlock(1);
      weir_dsm_semaphore_post(0);
      steps.done(2);
    } else {
      steps.await(3);
      weir_dsm_lock_user(1, all, 64);
      weir_dsm_read_access(all);
      seen = words[0];
      weir_dsm_unlock(1);
    }
  });
  EXPECT_EQ(seen, 200u);
}

// While one thread of a node waits for the home's copy, what another writes is flushed: the copy,
// which was made before, must not take it back.
TEST(Interleavings, FlushOvertakesTheHomesCopy) {
  Cluster cluster(2, settings_of(WEIR_DSM_HLRC, Tapes::kOff), {}, 2);
  Steps steps;
  uint64_t seen[3] = {};
  run_annotated(cluster, [&](unsigned worker, Words words) {
    uint64_t* const all = const_cast<uint64_t*>(words);
    if (worker == 0) {
      steps.await(1);
      weir_dsm_lock(1);
      weir_dsm_write_access(all);
      words[0] = 1;
      weir_dsm_unlock(1);
      steps.done(2);
      steps.await(3);
      const std::lock_guard<std::mutex> late(cluster.node(0).mutex);
      steps.done(4);
      steps.await(5);
    } else if (worker == 2) {
      weir_dsm_write_access(all);
      words[1] = 2;
      steps.done(1);
      Node& node = cluster.node(worker);
      for (bool is_asked_for = false; !is_asked_for; std::this_thread::yield()) {
        const std::lock_guard<std::mutex> held(node.mutex);
        is_asked_for = node.memory.page_at(all)->busy;
        if (!is_asked_for) continue;
        words[2] = 3;
        node.close_interval();  // as when another node wants a lock
      }
      steps.done(5);
    } else if (worker == 3) {
      steps.await(2);
      weir_dsm_lock(1);
      steps.done(3);
      steps.await(4);
      weir_dsm_read_access(all);
      for (unsigned i = 0; i < 3; i++) seen[i] = words[i];
      weir_dsm_unlock(1);
    }
  });
  for (unsigned i = 0; i < 3; i++) EXPECT_EQ(seen[i], i + 1);
}

// Small allocations share blocks: a node gets none of a block that it has not heard of yet, or
// another has not.
TEST(Interleavings, SmallAllocationsOfANewBlock) {
  for (unsigned round = 0; round < 40; round++) {
    Cluster cluster(3, settings_of(WEIR_DSM_LRC, Tapes::kOff),
                    {.seed = round, .delay_microseconds = 200});
    std::atomic<uint64_t> offsets[3];
    std::atomic<uint64_t> sum{0};
    cluster.run([&](unsigned worker) {
      offsets[worker] = static_cast<uint64_t>(static_cast<uint8_t*>(weir_dsm_alloc(100)) -
                                              cluster.view(worker, 0));
      cluster.words(worker, offsets[worker])[0] = worker + 1;
      weir_dsm_barrier(0);
      for (const auto& offset : offsets) sum += cluster.words(worker, offset)[0];
    });
    EXPECT_EQ(sum, 18u);
  }
}

// --- Under SC: an announced access is over when its thread synchronizes, not before.

TEST(Interleavings, AnnouncedUnitIsWantedElsewhere) {
  Cluster cluster(2, settings_of(WEIR_DSM_SC, Tapes::kOff));
  Steps steps;
  uint64_t seen = 0;
  run_annotated(cluster, [&](unsigned worker, Words words) {
    weir_dsm_write_access(const_cast<uint64_t*>(words));
    if (steps.first()) {  // the other waits for it
      Node& node = cluster.node(worker);
      for (bool is_wanted = false; !is_wanted; std::this_thread::yield()) {
        const std::lock_guard<std::mutex> held(node.mutex);
        is_wanted = static_cast<ScPage&>(*node.memory.page_at(const_cast<uint64_t*>(words)))
                        .take.has_value();
      }
      words[worker] = 7;
    } else {
      seen = words[1 - worker];
    }
  });
  EXPECT_EQ(seen, 7u);
}

TEST(Interleavings, UnitsAreAnnouncedInOppositeOrders) {
  constexpr int kRounds = 300;
  Cluster cluster(3, settings_of(WEIR_DSM_SC, Tapes::kOff), {.seed = 1, .delay_microseconds = 20},
                  2);
  std::atomic<uint64_t> offsets[3];
  std::atomic<uint64_t> wrong{0};
  cluster.run([&](unsigned worker) {
    if (worker == 0) {
      for (auto& offset : offsets) offset = annotated(cluster, 64);
    }
    weir_dsm_barrier(0);
    const auto unit = [&](unsigned which) { return cluster.words(worker, offsets[which]); };
    for (int i = 1; i <= kRounds; i++) {
      for (unsigned step = 0; step < 3; step++)
        weir_dsm_write_access(
            const_cast<uint64_t*>(unit(((worker % 2 ? step : 2 - step) + worker / 2) % 3)));
      for (unsigned which = 0; which < 3; which++) unit(which)[worker] = unit(which)[worker] + 1;
      if (i % 3 == 0) weir_dsm_semaphore_post(0);
    }
    weir_dsm_barrier(0);
    for (unsigned which = 0; which < 3; which++) {
      weir_dsm_read_access(const_cast<uint64_t*>(unit(which)));
      for (unsigned of = 0; of < 6; of++) wrong += unit(which)[of] != kRounds;
    }
    weir_dsm_barrier(0);
  });
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace weir::dsm
