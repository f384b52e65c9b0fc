// What is reported of runs that are known: false sharing, who waits for whom, spans and counters.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "dsm/node/test_cluster.h"

namespace weir::dsm {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string sharing_of(TestCluster& cluster) {
  std::string report;
  cluster.run([&](unsigned worker) {
    weir_dsm_barrier(99);
    if (worker == 0) {
      std::unique_lock<std::mutex> held(cluster.node(0).mutex);
      report = cluster.node(0).diagnostics.sharing.report(this_thread(), held);
    }
    weir_dsm_barrier(99);
  });
  return report;
}

Settings watching(weir_dsm_protocol protocol) {
  Settings settings;
  settings.size = 64 << 20;
  settings.protocol = protocol;
  settings.sharing = "1";
  return settings;
}

// Each of three nodes writes `each` bytes, at its number times `apart`, between barriers.
std::string report_of(weir_dsm_protocol protocol, unsigned apart, unsigned each, unsigned pages = 1,
                      bool in_turns = false) {
  TestCluster cluster(3, watching(protocol));
  std::atomic<uint64_t> offset{0};
  cluster.run([&](unsigned worker) {
    if (worker == 0) {
      weir_dsm_attributes attributes = {};
      attributes.name = "grid";
      attributes.pages = pages;
      offset = static_cast<uint64_t>(
          static_cast<uint8_t*>(weir_dsm_alloc_with(256 << 10, &attributes)) - cluster.view(0, 0));
    }
    weir_dsm_barrier(0);
    volatile uint8_t* mine = cluster.view(worker, offset + worker * apart);
    for (int round = 0; round < 6; round++) {
      if (in_turns) weir_dsm_lock(1);
      for (unsigned i = 0; i < each; i++) mine[i] = static_cast<uint8_t>(mine[i] + 1);
      if (in_turns) weir_dsm_unlock(1);
      weir_dsm_barrier(1);
    }
  });
  return sharing_of(cluster);
}

TEST(Sharing, ConcurrentWritesOfOneUnitAreFound) {
  for (const weir_dsm_protocol protocol : {WEIR_DSM_LRC, WEIR_DSM_HLRC}) {
    const std::string report = report_of(protocol, 512, 100);
    EXPECT_TRUE(has(report, "1. grid, 262 kB: 1 of 64 units of 4096 bytes")) << report;
    EXPECT_TRUE(has(report, "node 1 writes bytes 512 to 611")) << report;
    EXPECT_TRUE(has(report, "begins at a multiple of 4096 bytes")) << report;
  }
}

TEST(Sharing, OwnUnitsAreNone) {
  EXPECT_TRUE(has(report_of(WEIR_DSM_LRC, 4096, 100), "none found"));
}

TEST(Sharing, WhatALockOrdersIsNone) {
  const std::string report = report_of(WEIR_DSM_LRC, 512, 100, 1, true);
  EXPECT_TRUE(has(report, "none found")) << report;
}

TEST(Sharing, UnitsThatAreTooLargeAreNamed) {
  const std::string report = report_of(WEIR_DSM_LRC, 4096, 100, 4);
  EXPECT_TRUE(has(report, "smaller units")) << report;
}

TEST(Sharing, OfSingleWritersTheTrapsAreSeen) {
  const std::string report = report_of(WEIR_DSM_SC, 512, 4);
  EXPECT_TRUE(has(report, "lrc or hlrc let several nodes write")) << report;
}

TEST(Sharing, SmallAllocationsAreToldApart) {
  TestCluster cluster(2, watching(WEIR_DSM_LRC));
  std::atomic<uint64_t> offsets[2] = {};
  cluster.run([&](unsigned worker) {
    weir_dsm_attributes attributes = {};
    attributes.name = worker ? "theirs" : "mine";
    offsets[worker] = static_cast<uint64_t>(
        static_cast<uint8_t*>(weir_dsm_alloc_with(100, &attributes)) - cluster.view(worker, 0));
    for (uint8_t round = 1; round < 5; round++) {
      weir_dsm_barrier(0);
      *static_cast<volatile uint8_t*>(cluster.view(worker, offsets[worker])) = round;
    }
  });
  const std::string report = sharing_of(cluster);
  EXPECT_TRUE(has(report, "small allocations that share a unit, one of them mine")) << report;
  EXPECT_TRUE(has(report, "an allocation of its own")) << report;
}

TEST(Sharing, PlacesAreWrittenAndReadBack) {
  const CodePlace place = place_of(reinterpret_cast<const void*>(&sharing_of));
  EXPECT_EQ(place_in(text_of(place)), place);
  EXPECT_EQ(place_in("no place"), CodePlace());
  SourceLines lines;
  lines.want(place);
  lines.look_up();
  EXPECT_FALSE(lines.at(place).empty());
}

// --- Who waits

Waits::NodeState node_of(Doing doing, uint32_t object, std::vector<uint32_t> holds = {}) {
  Waits::NodeState state;
  state.process = 1;
  state.running.push_back({0, doing, object, 2'000'000'000, "grid + 4096", {2}, holds});
  for (const uint32_t lock : holds) state.locks.push_back({lock, 0xffff, 1, 0, 0, 3'000'000'000});
  return state;
}

TEST(Waits, LocksAndBarriersAreFollowed) {
  std::vector<std::optional<Waits::NodeState>> nodes = {
      node_of(Doing::kBarrier, 4), node_of(Doing::kLock, 7), node_of(Doing::kNothing, 0, {7}),
      node_of(Doing::kMiss, 1), std::nullopt};
  nodes[2]->locks[0].next = 1;
  const std::string text = Waits::describe(nodes);
  EXPECT_TRUE(has(text,
                  "node 0 (process 1): has waited 2.00 s for barrier 4, where these are missing: "
                  "node 1 (waits for lock 7), node 2 (runs), node 3 (waits for a page)"))
      << text;
  EXPECT_TRUE(
      has(text, "node 1 (process 1): has waited 2.00 s for lock 7, held by node 2 for 3.00 s\n"))
      << text;
  EXPECT_TRUE(has(text, "node 2 (process 1): runs; holds lock 7, for 3.00 s")) << text;
  EXPECT_TRUE(has(text, "for grid + 4096 from node 2")) << text;
  EXPECT_TRUE(has(text, "node 4 has not answered for 2.00 s: it is stopped")) << text;
  EXPECT_FALSE(has(text, "deadlock")) << text;
}

TEST(Waits, QueuesAreInOrder) {
  std::vector<std::optional<Waits::NodeState>> nodes = {
      node_of(Doing::kLock, 7), node_of(Doing::kLock, 7), node_of(Doing::kNothing, 0, {7})};
  nodes[2]->locks[0].next = 1;
  nodes[1]->locks.push_back({7, 0, 0, 0, 0, 0});
  const std::string text = Waits::describe(nodes);
  EXPECT_TRUE(has(text,
                  "node 0 (process 1): has waited 2.00 s for lock 7, held by node 2 for 3.00 s; "
                  "before this one comes node 1"))
      << text;
}

TEST(Waits, CirclesAreFound) {
  const std::string locks =
      Waits::describe({node_of(Doing::kLock, 2, {1}), node_of(Doing::kLock, 1, {2})});
  EXPECT_TRUE(has(
      locks,
      "deadlock: node 0 waits for lock 2, so for node 1, which waits for lock 1, so for node 0"))
      << locks;
  const std::string barrier =
      Waits::describe({node_of(Doing::kBarrier, 0, {1}), node_of(Doing::kLock, 1)});
  EXPECT_TRUE(has(
      barrier,
      "deadlock: node 0 waits for barrier 0, so for node 1, which waits for lock 1, so for node 0"))
      << barrier;
}

TEST(Waits, OnlyWhatCanNeverGoOnIsADeadlock) {
  using States = std::vector<std::optional<Waits::NodeState>>;
  const auto lasting = [](States nodes, uint64_t age) {
    for (auto& node : nodes) node->running[0].age = age;
    return Waits::deadlock(nodes);
  };
  const States circle = {node_of(Doing::kLock, 2, {1}), node_of(Doing::kLock, 1, {2})};
  EXPECT_EQ(
      lasting(circle, 5'000'000'000),
      "deadlock: node 0 waits for lock 2, so for node 1, which waits for lock 1, so for node 0");
  EXPECT_EQ(lasting(circle, 2'000'000'000), "");  // they may have waited one after the other
  EXPECT_EQ(lasting({node_of(Doing::kBarrier, 0, {1}), node_of(Doing::kLock, 1)}, 5'000'000'000),
            "");
  EXPECT_EQ(lasting({node_of(Doing::kMiss, 0, {1}), node_of(Doing::kLock, 1)}, 5'000'000'000), "");
}

TEST(Waits, OneNodeAsksAll) {
  Settings settings;
  settings.size = 16 << 20;
  TestCluster cluster(3, settings);
  testing::internal::CaptureStderr();
  cluster.run([&](unsigned worker) {
    if (worker == 2) {
      weir_dsm_lock(5);
      usleep(150'000);
      cluster.node(0).diagnostics.waits.ask();
      usleep(500'000);
      weir_dsm_unlock(5);
    } else if (worker == 1) {
      usleep(50'000);
      weir_dsm_lock(5);
      weir_dsm_unlock(5);
    }
    weir_dsm_barrier(0);
  });
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(has(text, "node 0 was asked by a signal")) << text;
  EXPECT_TRUE(has(text, "for lock 5, held by node 2")) << text;
  EXPECT_TRUE(
      has(text, "for barrier 0, where these are missing: node 1 (waits for lock 5), node 2 (runs)"))
      << text;
}

// --- The timeline

TEST(Timeline, IsBoundedAndComplete) {
  Settings settings;
  settings.size = 16 << 20;
  settings.timeline = "-";
  settings.timeline_events = 1000;
  TestCluster cluster(2, settings);
  const std::string path =
      std::filesystem::temp_directory_path() / ("weir_timeline." + std::to_string(getpid()));
  std::string said;
  cluster.run([&](unsigned worker) {
    if (worker == 0) {  // node 1's server gives it away, however far one of them gets below before
                        // the other begins
      weir_dsm_lock(1);
      weir_dsm_unlock(1);
    }
    weir_dsm_barrier(2);
    for (int i = 0; i < 1000; i++) {
      weir_dsm_lock(1);
      weir_dsm_unlock(1);
    }
    weir_dsm_barrier(3);
    if (worker == 0) {
      std::unique_lock<std::mutex> held(cluster.node(0).mutex);
      said = cluster.node(0).diagnostics.timeline.write(path, this_thread(), held);
    }
    weir_dsm_barrier(4);
  });
  EXPECT_TRUE(has(said, "were dropped")) << said;
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  EXPECT_TRUE(has(text, "\"name\":\"wait for lock 1\",\"pid\":1,\"tid\":1,\"ts\":"))
      << text.substr(0, 2000);
  EXPECT_TRUE(has(text, "\"name\":\"server\""));
  EXPECT_TRUE(text.ends_with("]}\n"));
}

// --- Counters

TEST(Counters, OfManyNodesAreSummedUp) {
  std::vector<NodeCounters> nodes(20);
  nodes[7].now.misses = 100;
  nodes[7].now.miss_nanoseconds = 1'500'000'000;
  const std::string table = counters_table(nodes, "title\n");
  EXPECT_TRUE(has(table, "title\n")) << table;
  EXPECT_TRUE(has(table, "misses" + std::string(33, ' ') +
                             "0           5         100           7         100\n"))
      << table;
  EXPECT_FALSE(has(table, "diffs made")) << table;
  EXPECT_TRUE(has(counters_json(nodes, 1), "\"misses\": 100"));
}

TEST(Counters, SpansCountWhatIsDone) {
  Settings settings;
  settings.size = 16 << 20;
  TestCluster cluster(2, settings);
  cluster.run([&](unsigned) {
    for (int i = 0; i < 5; i++) weir_dsm_barrier(0);
    weir_dsm_lock(1);
    weir_dsm_unlock(1);
  });
  for (unsigned node : {0u, 1u}) {
    EXPECT_EQ(cluster.node(node).counters.done[static_cast<size_t>(Doing::kBarrier)], 5u);
    EXPECT_EQ(cluster.node(node).counters.done[static_cast<size_t>(Doing::kLock)], 1u);
  }
  EXPECT_GE(cluster.node(0).counters.asked[static_cast<size_t>(Doing::kLock)], 1u);
}

}  // namespace
}  // namespace weir::dsm
