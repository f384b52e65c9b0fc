// WEIR_DSM_CHECK against a model: random programs of locks, barriers, reads and writes, some of
// them without order. Each node keeps a log of what it does, with the order in which locks were
// really taken; vector clocks over the logs say which writes raced. The checker must find these and
// no others. WEIR_SEEDS=N runs N times as many.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "dsm/node/test_cluster.h"

namespace weir::dsm {
namespace {

struct Setup {
  NodeId nodes = 3;
  Tapes tapes = Tapes::kOff;
  uint32_t delay = 0;
  unsigned pages = 1;
  uint64_t collect = uint64_t{1} << 30;
};

constexpr uint32_t kWords = 4 * 512, kLocks = 3, kRounds = 6;

struct Event {
  enum Kind { kWrite, kAcquire, kRelease, kBarrier } kind;
  uint32_t number = 0;  // word, lock or round
  uint32_t turn = 0;    // of the lock: how many have had it before
};

using Races = std::set<std::tuple<uint32_t, uint32_t, NodeId, NodeId>>;  // round, word, nodes

// What of the logs raced. REQUIRES: each is complete, up to a last barrier.
Races model(const std::vector<std::vector<Event>>& logs) {
  const auto nodes = static_cast<NodeId>(logs.size());
  using Clock = std::vector<uint32_t>;
  std::vector<Clock> clocks(nodes, Clock(nodes));
  // Turns that are over, and the clock at the last release.
  std::map<uint32_t, std::pair<uint32_t, Clock>> locks;
  struct Write {
    NodeId node;
    uint32_t at;
  };
  Races races;
  std::vector<size_t> next(nodes);
  for (NodeId node = 0; node < nodes; node++) clocks[node][node] = 1;
  for (uint32_t round = 0; round < kRounds; round++) {
    std::map<uint32_t, std::vector<Write>> writes;
    for (NodeId waiting = 0; waiting < nodes;) {
      waiting = 0;
      for (NodeId node = 0; node < nodes; node++) {
        Clock& clock = clocks[node];
        for (;; next[node]++) {
          const Event& event = logs[node][next[node]];
          if (event.kind == Event::kBarrier) break;
          if (event.kind == Event::kAcquire) {
            auto& [turns, order] = locks[event.number];
            if (turns != event.turn) break;
            order.resize(nodes);
            for (NodeId n = 0; n < nodes; n++) clock[n] = std::max(clock[n], order[n]);
          } else if (event.kind == Event::kRelease) {
            locks[event.number] = {event.turn + 1, clock};
            clock[node]++;
          } else {
            for (const Write& other : writes[event.number]) {
              if (other.node != node && clock[other.node] < other.at)
                races.emplace(round, event.number, std::min(node, other.node),
                              std::max(node, other.node));
            }
            writes[event.number].push_back({node, clock[node]});
          }
        }
        waiting += logs[node][next[node]].kind == Event::kBarrier;
      }
    }
    Clock all(nodes);
    for (const Clock& clock : clocks) {
      for (NodeId n = 0; n < nodes; n++) all[n] = std::max(all[n], clock[n]);
    }
    for (NodeId node = 0; node < nodes; node++) {
      clocks[node] = all;
      clocks[node][node]++;
      next[node]++;
    }
  }
  return races;
}

// Answers how many races there were.
size_t run_random(const Setup& setup, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Settings settings;
  settings.size = 16 << 20;
  settings.tapes = setup.tapes;
  settings.collect = setup.collect;
  settings.tree = 2;
  settings.check = true;
  TestCluster cluster(setup.nodes, settings, {.seed = seed, .delay_microseconds = setup.delay});
  for (NodeId node = 0; node < setup.nodes; node++) cluster.node(node).checker.keeps = true;
  std::vector<std::vector<Event>> logs(setup.nodes);
  std::vector<std::vector<std::vector<Race>>> found(setup.nodes);
  std::atomic<uint32_t> turns[kLocks] = {};
  std::atomic<uint64_t> offset{0};
  std::atomic<uint64_t> sum{0};
  cluster.run([&](unsigned node) {
    std::mt19937_64 random(seed * 1000 + node);
    if (node == 0) {
      weir_dsm_attributes attributes = {};
      attributes.pages = setup.pages;
      offset = static_cast<uint64_t>(
          static_cast<uint8_t*>(weir_dsm_alloc_with(kWords * 8, &attributes)) - cluster.view(0, 0));
    }
    weir_dsm_barrier(100);
    auto* words = reinterpret_cast<volatile uint64_t*>(cluster.view(node, offset));
    const auto write = [&](uint32_t word) {
      words[word] = random() | 0x0101010101010101;
      logs[node].push_back({Event::kWrite, word});
    };
    // Words by their number: of a lock, of a node, or of nobody.
    const auto of_lock = [&](uint32_t lock) {
      return static_cast<uint32_t>(random() % 6) * 340 + lock;
    };
    const auto of_node = [&] { return static_cast<uint32_t>(random() % 6) * 340 + 8 + node; };
    const auto of_nobody = [&] {
      return static_cast<uint32_t>(random() % 6) * 340 + 20 + static_cast<uint32_t>(random() % 2);
    };
    for (uint32_t round = 0; round < kRounds; round++) {
      for (int i = 0; i < 14; i++) {
        switch (random() % 8) {
          case 0:
          case 1:
          case 2: {
            const auto lock = static_cast<uint32_t>(random() % kLocks);
            switch (random() % 3) {
              case 0: weir_dsm_lock(lock); break;
              case 1: weir_dsm_lock_auto(lock); break;
              default:
                while (!weir_dsm_trylock(lock)) std::this_thread::yield();
            }
            const uint32_t turn = turns[lock]++;
            logs[node].push_back({Event::kAcquire, lock, turn});
            for (uint64_t more = random() % 4; more > 0; more--) write(of_lock(lock));
            if (random() % 8 == 0) write(of_lock((lock + 1) % kLocks));  // the wrong one's
            if (random() % 4 == 0) write(of_node());
            logs[node].push_back({Event::kRelease, lock, turn});
            weir_dsm_unlock(lock);
            break;
          }
          case 3:
          case 4: write(of_node()); break;
          case 5:
            if (random() % 2) write(of_nobody());
            break;
          default: sum += words[random() % kWords];
        }
      }
      logs[node].push_back({Event::kBarrier, round});
      if (random() % 2) {
        weir_dsm_barrier(0);
      } else {
        weir_dsm_barrier_replay(0, WEIR_DSM_DYNAMIC);
      }
      Node& its = cluster.node(node);
      const std::lock_guard<std::mutex> held(its.mutex);
      found[node].push_back(std::exchange(its.checker.races, {}));
    }
  });
  Races all;
  for (NodeId node = 0; node < setup.nodes; node++) {
    for (uint32_t round = 0; round < kRounds; round++) {
      for (const Race& race : found[node][round]) {
        const uint64_t start = uint64_t{race.unit} * kPageSize - offset;
        for (const Race::Run& run : race.runs) {
          for (uint64_t byte = start + run.offset; byte < start + run.offset + run.size; byte++)
            all.emplace(round, byte / 8, race.sides[0].node, race.sides[1].node);
        }
      }
    }
  }
  const Races expected = model(logs);
  EXPECT_EQ(all, expected);
  return expected.size();
}

struct Case {
  const char* name;
  Setup setup;
};

class CheckerModel : public testing::TestWithParam<Case> {};

TEST_P(CheckerModel, FindsWhatRaced) {
  uint64_t count = 4, races = 0;
  if (const char* more = getenv("WEIR_SEEDS")) count *= strtoul(more, nullptr, 10);
  testing::internal::CaptureStderr();
  for (uint64_t seed = 1; seed <= count && !testing::Test::HasFailure(); seed++)
    races += run_random(GetParam().setup, seed);
  testing::internal::GetCapturedStderr();
  EXPECT_GE(races, count);  // else this tests little
}

INSTANTIATE_TEST_SUITE_P(
    All, CheckerModel,
    testing::Values(Case{"Three", {}}, Case{"FiveDelays", {.nodes = 5, .delay = 300}},
                    Case{"Tapes", {.nodes = 4, .tapes = Tapes::kCalled, .delay = 100}},
                    Case{"Auto", {.nodes = 4, .tapes = Tapes::kAuto, .delay = 100}},
                    Case{"TwoPages", {.pages = 2}},
                    Case{"Collects",
                         {.nodes = 4, .tapes = Tapes::kCalled, .delay = 100, .collect = 1}}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace weir::dsm
