// WEIR_DSM_CHECK: racy programs and their twins without a race, on several nodes in one process.
// What happens before what in real time is decided by a counter that all nodes see, which is no
// synchronization of theirs.
#include "dsm/node/checker.h"

#include <gtest/gtest.h>
#include <string.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <tuple>

#include "dsm/node/test_cluster.h"
#include "weir/dsm.hpp"

namespace weir::dsm {
namespace {

struct Setup {
  NodeId nodes = 2;
  weir_dsm_attributes attributes = {};
  Tapes tapes = Tapes::kOff;
  uint64_t collect = uint64_t{1} << 30;
};

weir_dsm_attributes attributes(const std::function<void(weir_dsm_attributes&)>& set) {
  weir_dsm_attributes all = {};
  set(all);
  return all;
}

Settings settings_of(const Setup& setup) {
  Settings settings;
  settings.size = 16 << 20;
  settings.tapes = setup.tapes;
  settings.collect = setup.collect;
  settings.check = true;
  return settings;
}

class Checked : public TestCluster {
 public:
  explicit Checked(const Setup& setup = {})
      : TestCluster(setup.nodes, settings_of(setup), {.delay_microseconds = 50}), setup_(setup) {
    for (NodeId node = 0; node < setup.nodes; node++) this->node(node).checker.keeps = true;
  }

  // body(node, words) on each node, between two barriers.
  void run(const std::function<void(NodeId, volatile uint64_t*)>& body) {
    std::atomic<uint64_t> offset{0};
    TestCluster::run([&](unsigned node) {
      if (node == 0)
        offset = static_cast<uint64_t>(
            static_cast<uint8_t*>(weir_dsm_alloc_with(64 << 10, &setup_.attributes)) - view(0, 0));
      weir_dsm_barrier(1000);
      body(node, reinterpret_cast<volatile uint64_t*>(view(node, offset)));
      weir_dsm_barrier(1001);
      Thread& thread = this_thread();
      std::unique_lock<std::mutex> held(thread.node.mutex);
      thread.node.checker.finish(thread, held);
    });
    first_unit_ = offset / kPageSize;
  }
  void at(int turn) {
    while (turn_ != turn) std::this_thread::yield();
  }
  void next() { turn_++; }

  std::vector<Race> races() {
    std::vector<Race> all;
    for (NodeId node = 0; node < setup_.nodes; node++) {
      const auto& its = this->node(node).checker.races;
      all.insert(all.end(), its.begin(), its.end());
    }
    return all;
  }
  // Both nodes and the word of each byte range that raced.
  using Found = std::set<std::tuple<NodeId, NodeId, uint64_t>>;
  Found found() {
    Found all;
    for (const Race& race : races()) {
      const uint64_t start = race.unit >= kObjectUnits ? 0 : (race.unit - first_unit_) * kPageSize;
      for (const Race::Run& run : race.runs) {
        for (uint64_t byte = start + run.offset; byte < start + run.offset + run.size; byte++)
          all.emplace(race.sides[0].node, race.sides[1].node, byte / 8);
      }
    }
    return all;
  }

 private:
  Setup setup_;
  std::atomic<int> turn_{0};
  uint64_t first_unit_ = 0;
};

TEST(Checker, UnlockedCounter) {
  Checked cluster;
  cluster.run([&](NodeId, volatile uint64_t* words) { words[5] = words[5] + 1; });
  EXPECT_EQ(cluster.found(), (Checked::Found{{0, 1, 5}}));
}

TEST(Checker, LockedCounter) {
  Checked cluster({.nodes = 3});
  cluster.run([&](NodeId, volatile uint64_t* words) {
    for (int i = 0; i < 20; i++) {
      weir_dsm_lock(1);
      words[5] = words[5] + 1;
      weir_dsm_unlock(1);
    }
  });
  EXPECT_EQ(cluster.found(), Checked::Found{});
}

TEST(Checker, UnderTwoLocks) {
  Checked cluster;
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    weir_dsm_lock(node);
    words[5] = words[5] + 1;
    weir_dsm_unlock(node);
  });
  EXPECT_EQ(cluster.found(), (Checked::Found{{0, 1, 5}}));
}

TEST(Checker, WordsOfOnePageAreNoRace) {
  Checked cluster({.nodes = 3});
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    for (int i = 0; i < 100; i++) words[3 * i + node] = ~uint64_t{0};
  });
  EXPECT_EQ(cluster.found(), Checked::Found{});
}

TEST(Checker, BarrierOrders) {
  Checked cluster({.nodes = 3});
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    for (NodeId turn = 0; turn < 3; turn++) {
      if (turn == node) words[1] = 1 + node;
      weir_dsm_barrier(turn);
    }
  });
  EXPECT_EQ(cluster.found(), Checked::Found{});
}

TEST(Checker, PairThatIsNotAdjacent) {
  Checked cluster({.nodes = 4});
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    if (node == 1 || node == 3) words[700] = 1 + node;
    words[node] = 1;
  });
  EXPECT_EQ(cluster.found(), (Checked::Found{{1, 3, 700}}));
}

// Three writers: each pair once.
TEST(Checker, EveryPair) {
  Checked cluster({.nodes = 3});
  cluster.run(
      [&](NodeId node, volatile uint64_t* words) { words[9] = 0x0101010101010101 * (node + 1); });
  EXPECT_EQ(cluster.found(), (Checked::Found{{0, 1, 9}, {0, 2, 9}, {1, 2, 9}}));
  EXPECT_EQ(cluster.races().size(), 3u);
}

// Node 0 writes before it takes the lock, so what the lock orders before it does not order that.
TEST(Checker, WrittenBeforeTheLockWasTaken) {
  Checked cluster;
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    if (node == 1) {
      weir_dsm_lock(7);
      words[5] = 2;
      words[600] = 2;
      weir_dsm_unlock(7);
      cluster.next();
    } else {
      words[5] = 3;
      cluster.at(1);
      weir_dsm_lock(7);
      words[600] = 3;
      weir_dsm_unlock(7);
    }
  });
  EXPECT_EQ(cluster.found(), (Checked::Found{{0, 1, 5}}));
}

// The lock's giver has gone on writing: the taker knows that, but nothing orders it.
TEST(Checker, WrittenAfterTheLockWasReleased) {
  Checked cluster;
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    if (node == 1) {
      weir_dsm_lock(7);
      words[600] = 2;
      weir_dsm_unlock(7);
      words[5] = 2;
      cluster.next();
    } else {
      cluster.at(1);
      weir_dsm_lock(7);
      words[5] = 3;
      words[600] = 3;
      weir_dsm_unlock(7);
    }
  });
  EXPECT_EQ(cluster.found(), (Checked::Found{{0, 1, 5}}));
}

TEST(Checker, OrderGoesThroughAThird) {
  Checked cluster({.nodes = 3});
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    cluster.at(static_cast<int>(node));
    weir_dsm_lock(node ? node - 1 : 9);
    weir_dsm_lock(node);
    if (node != 1) words[5] = 1 + node;
    weir_dsm_unlock(node);
    weir_dsm_unlock(node ? node - 1 : 9);
    cluster.next();
  });
  EXPECT_EQ(cluster.found(), Checked::Found{});
}

TEST(Checker, Trylock) {
  Checked cluster;
  cluster.run([&](NodeId, volatile uint64_t* words) {
    for (int i = 0; i < 5; i++) {
      while (!weir_dsm_trylock(3)) std::this_thread::yield();
      words[5] = words[5] + 1;
      weir_dsm_unlock(3);
    }
  });
  EXPECT_EQ(cluster.found(), Checked::Found{});
}

TEST(Checker, SemaphoreOrdersWhatCameBeforeThePost) {
  Checked cluster;
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    if (node == 0) {
      words[5] = 1;
      weir_dsm_semaphore_post(2);
      words[6] = 1;
    } else {
      weir_dsm_semaphore_wait(2);
      words[5] = 2;
      words[6] = 2;
    }
  });
  EXPECT_EQ(cluster.found(), (Checked::Found{{0, 1, 6}}));
}

TEST(Checker, ConditionOrders) {
  Checked cluster;
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    weir_dsm_lock(1);
    if (node == 0) {
      words[5] = 1;
      words[0] = 1;
      weir_dsm_signal(4);
    } else {
      while (words[0] == 0) weir_dsm_wait(4, 1);
      words[5] = 2;
    }
    weir_dsm_unlock(1);
  });
  EXPECT_EQ(cluster.found(), Checked::Found{});
}

TEST(Checker, ReductionsAndAtomics) {
  Checked cluster({.nodes = 3});
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    int64_t value = node;
    weir_dsm_reduce_int64(&value, 1, WEIR_DSM_SUM);
    const atomic_ref<uint64_t> counter(const_cast<uint64_t*>(words)[5], 3);
    for (int i = 0; i < 10; i++) counter.fetch_add(1);
    words[10 + node] = static_cast<uint64_t>(value);
    weir_dsm_reduce_int64(&value, 1, WEIR_DSM_SUM);
    if (node == 2) words[10] = 77;
  });
  EXPECT_EQ(cluster.found(), Checked::Found{});
}

TEST(Checker, UnitsOfSeveralPages) {
  Checked cluster({.attributes = attributes([](auto& its) { its.pages = 4; })});
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    words[512 * 6 + 3] = 1;  // second unit, third page of it
    words[512 * 2 + node] = 1;
  });
  EXPECT_EQ(cluster.found(), (Checked::Found{{0, 1, 512 * 6 + 3}}));
}

TEST(Checker, AnnotatedUnits) {
  Checked cluster({.attributes = attributes([](auto& its) { its.unit = WEIR_DSM_ANNOTATED; })});
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    weir_dsm_write_access(const_cast<uint64_t*>(words));
    words[900] = 1;
    words[node] = 1;
    weir_dsm_lock(1);
    weir_dsm_write_access(const_cast<uint64_t*>(words));
    words[901] = words[901] + 1;
    weir_dsm_unlock(1);
  });
  EXPECT_EQ(cluster.found(), (Checked::Found{{0, 1, 900}}));
}

TEST(Checker, Regions) {
  Checked cluster;
  std::atomic<uint32_t> number{0};
  cluster.run([&](NodeId node, volatile uint64_t*) {
    if (node == 0) number = weir_dsm_region_alloc(1000, nullptr);
    weir_dsm_barrier(0);
    static thread_local volatile uint64_t* words = nullptr;
    weir_dsm_region_attach(number, reinterpret_cast<void**>(const_cast<uint64_t**>(&words)));
    words[20] = 1;
    words[30 + node] = 1;
    weir_dsm_lock(1);
    words[40] = words[40] + 1;
    weir_dsm_unlock(1);
  });
  EXPECT_EQ(cluster.found(), (Checked::Found{{0, 1, 20}}));
}

// Other protocols: home-based LRC is checked as LRC, and what asks for sequential consistency is
// not checked.
TEST(Checker, OtherProtocols) {
  for (const auto protocol : {WEIR_DSM_HLRC, WEIR_DSM_SC}) {
    Checked cluster({.attributes = attributes([&](auto& its) { its.protocol = protocol; })});
    cluster.run([&](NodeId, volatile uint64_t* words) { words[5] = words[5] + 1; });
    EXPECT_EQ(cluster.found(),
              protocol == WEIR_DSM_SC ? Checked::Found{} : (Checked::Found{{0, 1, 5}}));
  }
}

// A node frees what it has raced on before the other has compared; what is allocated afterwards has
// no part in it.
TEST(Checker, MemoryThatIsFreed) {
  Checked cluster;
  std::atomic<uint64_t> offset{0};
  const auto allocate = [&] {
    offset =
        static_cast<uint64_t>(static_cast<uint8_t*>(weir_dsm_alloc(8192)) - cluster.view(0, 0));
  };
  cluster.run([&](NodeId node, volatile uint64_t*) {
    if (node == 0) allocate();
    weir_dsm_barrier(0);
    auto* words = reinterpret_cast<volatile uint64_t*>(cluster.view(node, offset));
    words[3] = 5;
    weir_dsm_barrier(1);
    if (node == 1) weir_dsm_free(const_cast<uint64_t*>(words));
    weir_dsm_barrier(2);
    if (node == 0) allocate();
    weir_dsm_barrier(3);
    words = reinterpret_cast<volatile uint64_t*>(cluster.view(node, offset));
    words[3 + node] = 5;
  });
  EXPECT_EQ(cluster.races().size(), 1u);
}

TEST(Checker, WhatIsWrittenWithTheValueThatItHadIsNotSeen) {
  Checked cluster;
  cluster.run(
      [&](NodeId node, volatile uint64_t* words) { words[5] = node; });  // node 0 writes zero
  EXPECT_EQ(cluster.found(), Checked::Found{});
}

TEST(Checker, GarbageIsCollectedInBetween) {
  Checked cluster({.nodes = 3, .collect = 1});
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    for (uint64_t round = 1; round <= 6; round++) {
      if (node != round % 3)
        words[round * 200] =
            10 * round + node;  // what a fetch of the page brings of another's may be there already
      weir_dsm_barrier(0);
    }
  });
  Checked::Found expected;
  for (uint64_t round = 1; round <= 6; round++)
    expected.emplace(round % 3 == 0 ? 1 : 0, round % 3 == 2 ? 1 : 2, round * 200);
  EXPECT_EQ(cluster.found(), expected);
}

// What a tape has brought is not asked for again.
TEST(Checker, DiffsThatTapesBring) {
  for (const bool flushes : {false, true}) {
    Checked cluster({.tapes = Tapes::kCalled});
    cluster.run([&](NodeId, volatile uint64_t* words) {
      if (flushes) weir_dsm_flush_start();
      words[5] = 4;
      if (flushes) weir_dsm_flush_end();
      weir_dsm_barrier(0);
    });
    EXPECT_EQ(cluster.found(), (Checked::Found{{0, 1, 5}}));
    EXPECT_EQ(cluster.node(0).checker.asked, flushes ? 0u : 1u);
  }
}

// A race in a loop is told once, with all that is known of it.
TEST(Checker, Report) {
  testing::internal::CaptureStderr();
  Checked cluster({.attributes = attributes([](auto& its) { its.name = "board"; })});
  const int first = __LINE__ + 6, second = __LINE__ + 10;
  cluster.run([&](NodeId node, volatile uint64_t* words) {
    for (uint64_t round = 1; round <= 5; round++) {
      weir_dsm_barrier(8);
      if (node == 0) {
        weir_dsm_lock(3);
        words[5] = round;
        memset(const_cast<uint64_t*>(words + 600), static_cast<int>(round), 1000);
        weir_dsm_unlock(3);
      } else {
        words[5] = round + 16;
        memset(const_cast<uint64_t*>(words + 600), static_cast<int>(round + 16), 1000);
      }
    }
  });
  const std::string text = testing::internal::GetCapturedStderr();
  const auto has = [&](const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  };
  has("weir-dsm: race: 1 byte at ");
  has(", offset 40 in 65536 bytes of board, changed by two nodes without order\n");
  has(" wrote 01 since it took lock 3 (1st time)\n");
  has(" wrote 11 since barrier 8 (1st time)\n");
  has("checker_test.cc:" + std::to_string(first) + "\n");
  has("checker_test.cc:" + std::to_string(second) + "\n");
  has("checker_test.cc:" + std::to_string(first + 1) +
      "\n");  // memset is libc's, its call the program's
  has("weir-dsm: 2 races; in all 10 pairs of intervals\n");
}

}  // namespace
}  // namespace weir::dsm
