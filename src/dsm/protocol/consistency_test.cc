// Random programs of locks, barriers and writes on several nodes in one process, against a model:
// what a race-free program reads is what the last write in happens-before wrote. Each node has its
// own segment, at its own address, and real faults. The seed is in the test's name and in each
// failure; WEIR_SEEDS=N runs N times as many.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <random>
#include <thread>

#include "dsm/node/test_cluster.h"

namespace weir::dsm {
namespace {

struct Setup {
  weir_dsm_protocol protocol = WEIR_DSM_LRC;
  Tapes tapes = Tapes::kOff;
  NodeId nodes = 3;
  unsigned threads = 1;
  uint32_t delay = 0;
  unsigned pages = 1;  // of a unit; 0: one annotated unit
  uint64_t collect = uint64_t{1} << 30;
  bool statistics = false;
  bool check = false;  // nothing is reported
  weir_dsm_home home = WEIR_DSM_BLOCK;
};

class Cluster : public TestCluster {
 public:
  Cluster(const Setup& setup, uint64_t seed)
      : TestCluster(setup.nodes, settings_of(setup),
                    {.seed = seed, .delay_microseconds = setup.delay}, setup.threads) {}

 private:
  static Settings settings_of(const Setup& setup) {
    Settings settings;
    settings.size = 64 << 20;
    settings.protocol = setup.protocol;
    settings.tapes = setup.tapes;
    settings.collect = setup.collect;
    settings.statistics = setup.statistics;
    settings.check = setup.check;
    settings.tree = 2;
    return settings;
  }
};

uint64_t hash(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = a * 0x9e3779b97f4a7c15 + b * 0xc2b2ae3d27d4eb4f + c * 0x165667b19e3779f9;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9;
  return x ^ x >> 32;
}

constexpr uint32_t kWords = 6 * 512;
constexpr uint32_t kLocks = 4, kLocked = 24;  // words under each lock, scattered

struct Memory64 {
  uint64_t plain[kWords];
  uint64_t locked[kLocks * kLocked * 31];
  uint64_t& of_lock(uint32_t lock, uint32_t i) {
    return locked[(i * kLocks + lock) * 31 % (kLocks * kLocked * 31)];
  }
};

void run_random(const Setup& setup, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Cluster cluster(setup, seed);
  for (NodeId node = 0; node < setup.nodes; node++)
    cluster.node(node * setup.threads).checker.keeps = true;
  std::atomic<uint64_t> offset{0};
  std::atomic<uint64_t> sections{0};
  std::atomic<uint64_t> wrong_plain{0}, wrong_locked{0}, wrong_sum{0};
  const uint32_t rounds = 8;
  cluster.run([&](unsigned worker) {
    const unsigned workers = setup.nodes * setup.threads;
    std::mt19937_64 random(seed * 1000 + worker);
    if (worker == 0) {
      weir_dsm_attributes attributes = {};
      attributes.unit = setup.pages ? WEIR_DSM_PAGES : WEIR_DSM_ANNOTATED;
      attributes.pages = setup.pages;
      attributes.home = setup.home;
      attributes.home_node = setup.nodes - 1;
      attributes.name = "words";
      offset = static_cast<uint64_t>(
          static_cast<uint8_t*>(weir_dsm_alloc_with(sizeof(Memory64), &attributes)) -
          cluster.view(0, 0));
    }
    weir_dsm_barrier(100);
    auto& memory = *reinterpret_cast<Memory64*>(cluster.view(worker, offset));
    const auto announce = [&](bool write) {
      if (setup.pages == 0) (write ? weir_dsm_write_access : weir_dsm_read_access)(&memory);
    };
    const auto lock = [&](uint32_t number) {
      switch (random() % 4) {
        case 0: return weir_dsm_lock(number);
        case 1: return weir_dsm_lock_user(number, &memory.locked[random() % 500], 4096);
        case 2:
          while (!weir_dsm_trylock(number)) std::this_thread::yield();
          return;
        default: return weir_dsm_lock_auto(number);
      }
    };
    // Writer, and whether there is one, of a word in a round: everybody can compute it.
    const auto is_written = [&](uint32_t round, uint32_t word) {
      return hash(seed, round, word) % 3 == 0;
    };
    const auto writer = [&](uint32_t round, uint32_t word) {
      return static_cast<unsigned>(
          (word / 64 % 2 ? hash(seed, 77, word / 100) : hash(seed, round * 7 + 1, word / 5)) %
          workers);
    };
    for (uint32_t round = 1; round <= rounds; round++) {
      const bool flushes = hash(seed, round, 999) % 4 == 0,
                 produces = hash(seed, round, 998) % 4 == 0;
      announce(true);
      if (flushes) weir_dsm_flush_start();
      if (produces) weir_dsm_produce_start();
      for (uint32_t word = 0; word < kWords; word++) {
        if (is_written(round, word) && writer(round, word) == worker)
          memory.plain[word] = hash(seed, round, word);
      }
      if (flushes) weir_dsm_flush_end();
      if (produces) weir_dsm_produce_end();
      for (int i = 0; i < 6; i++) {
        const auto number = static_cast<uint32_t>(random() % kLocks);
        lock(number);
        announce(true);
        const uint64_t value = memory.of_lock(number, 0);
        for (uint32_t at = 0; at < kLocked; at++) {
          if (memory.of_lock(number, at) != value) wrong_locked++;
          memory.of_lock(number, at) = value + 1;
        }
        sections++;
        weir_dsm_unlock(number);
      }
      if (random() % 2) {
        weir_dsm_barrier(round % 2);
      } else {
        weir_dsm_barrier_replay(round % 2, random() % 2 ? WEIR_DSM_STATIC : WEIR_DSM_DYNAMIC);
      }
      announce(false);
      for (uint32_t word = 0; word < kWords; word++) {
        if (hash(worker, round, word / 512) % 3 == 0) continue;  // some pages are not read
        if (seed % 2 == 0 && round < rounds && hash(seed, round / 6, 500 + word / 512) % 2 == 0)
          continue;  // some by nobody, for long
        uint32_t last = round;
        while (last > 0 && !is_written(last, word)) last--;
        if (memory.plain[word] != (last ? hash(seed, last, word) : 0)) wrong_plain++;
      }
      weir_dsm_barrier(2);
    }
    announce(false);
    uint64_t sum = 0;
    for (uint32_t number = 0; number < kLocks; number++) {
      weir_dsm_lock(number);
      announce(false);
      sum += memory.of_lock(number, 3);
      weir_dsm_unlock(number);
    }
    if (sum != sections) wrong_sum++;
    weir_dsm_barrier(3);
  });
  EXPECT_EQ(wrong_plain, 0u);
  EXPECT_EQ(wrong_locked, 0u);
  EXPECT_EQ(wrong_sum, 0u);
  for (NodeId node = 0; node < setup.nodes; node++)
    EXPECT_TRUE(cluster.node(node * setup.threads).checker.races.empty());
}

void run_seeds(const Setup& setup, uint64_t first, uint64_t count) {
  if (const char* more = getenv("WEIR_SEEDS")) count *= strtoul(more, nullptr, 10);
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); seed++)
    run_random(setup, seed);
}

struct Case {
  const char* name;
  Setup setup;
};

class Consistency : public testing::TestWithParam<Case> {};

TEST_P(Consistency, ReadsWhatWasWrittenLast) { run_seeds(GetParam().setup, 1, 4); }

TEST(ConsistencyTest, WhereverHomesAre) {
  for (const auto home : {WEIR_DSM_CYCLIC, WEIR_DSM_FIRST_TOUCH, WEIR_DSM_EXPLICIT}) {
    for (const auto protocol : {WEIR_DSM_LRC, WEIR_DSM_HLRC, WEIR_DSM_SC}) {
      for (const unsigned pages : {1, 3, 0}) {
        if (protocol == WEIR_DSM_SC && pages == 0)
          continue;  // one writer at a time, which this is not
        SCOPED_TRACE("home " + std::to_string(home) + ", protocol " + std::to_string(protocol) +
                     ", pages " + std::to_string(pages));
        run_seeds(
            {.protocol = protocol, .delay = 50, .pages = pages, .collect = 20000, .home = home}, 31,
            1);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Consistency,
    testing::Values(
        Case{"Lrc", {}}, Case{"LrcFive", {.nodes = 5}},
        Case{"LrcDelays", {.nodes = 4, .delay = 300}}, Case{"LrcTapes", {.tapes = Tapes::kCalled}},
        Case{"LrcTapesDelays", {.tapes = Tapes::kCalled, .nodes = 4, .delay = 300}},
        Case{"LrcAuto", {.tapes = Tapes::kAuto, .nodes = 4}},
        Case{"LrcAutoMeasured",
             {.tapes = Tapes::kAuto, .nodes = 4, .delay = 100, .statistics = true}},
        Case{"LrcThreads", {.nodes = 3, .threads = 2}},
        Case{"LrcThreadsAuto", {.tapes = Tapes::kAuto, .nodes = 2, .threads = 3, .delay = 100}},
        Case{"LrcFourPages", {.pages = 4}}, Case{"LrcAnnotated", {.pages = 0}},
        Case{"LrcAnnotatedTapes", {.tapes = Tapes::kAuto, .pages = 0}},
        Case{"LrcCollects", {.nodes = 4, .collect = 1}},
        Case{"LrcCollectsAuto",
             {.tapes = Tapes::kAuto, .nodes = 4, .delay = 100, .collect = 20000}},
        Case{"Hlrc", {.protocol = WEIR_DSM_HLRC}},
        Case{"HlrcDelays", {.protocol = WEIR_DSM_HLRC, .nodes = 5, .delay = 300}},
        Case{"HlrcAuto",
             {.protocol = WEIR_DSM_HLRC, .tapes = Tapes::kAuto, .nodes = 4, .delay = 100}},
        Case{"HlrcThreads",
             {.protocol = WEIR_DSM_HLRC, .tapes = Tapes::kCalled, .nodes = 2, .threads = 2}},
        Case{"HlrcAnnotatedPlain", {.protocol = WEIR_DSM_HLRC, .pages = 0}},
        Case{"HlrcAnnotated", {.protocol = WEIR_DSM_HLRC, .tapes = Tapes::kAuto, .pages = 0}},
        Case{"HlrcCollects",
             {.protocol = WEIR_DSM_HLRC, .tapes = Tapes::kAuto, .nodes = 4, .collect = 1}},
        Case{"LrcThreadsTapesDelays",
             {.tapes = Tapes::kCalled, .nodes = 3, .threads = 2, .delay = 100}},
        Case{"LrcThreadsDelays", {.nodes = 2, .threads = 3, .delay = 100}},
        Case{"LrcThreadsCollects",
             {.tapes = Tapes::kAuto, .nodes = 3, .threads = 2, .delay = 50, .collect = 20000}},
        Case{"LrcThreadsFourPages",
             {.tapes = Tapes::kAuto, .nodes = 2, .threads = 3, .delay = 50, .pages = 4}},
        Case{"LrcThreadsAnnotated",
             {.tapes = Tapes::kAuto, .nodes = 3, .threads = 2, .delay = 50, .pages = 0}},
        Case{"LrcThreadsAnnotatedCollects",
             {.tapes = Tapes::kAuto, .nodes = 3, .threads = 2, .pages = 0, .collect = 1}},
        Case{"HlrcThreadsAuto",
             {.protocol = WEIR_DSM_HLRC,
              .tapes = Tapes::kAuto,
              .nodes = 3,
              .threads = 2,
              .delay = 100}},
        Case{"HlrcThreadsAnnotated",
             {.protocol = WEIR_DSM_HLRC,
              .tapes = Tapes::kAuto,
              .nodes = 3,
              .threads = 2,
              .delay = 50,
              .pages = 0}},
        Case{"HlrcAnnotatedDelays",
             {.protocol = WEIR_DSM_HLRC,
              .tapes = Tapes::kCalled,
              .nodes = 4,
              .delay = 200,
              .pages = 0}},
        Case{"HlrcFourPages",
             {.protocol = WEIR_DSM_HLRC, .tapes = Tapes::kAuto, .nodes = 4, .pages = 4}},
        Case{"ScAnnotated", {.protocol = WEIR_DSM_SC, .pages = 0}},
        Case{"ScThreadsAnnotated",
             {.protocol = WEIR_DSM_SC, .nodes = 3, .threads = 2, .delay = 50, .pages = 0}},
        Case{"Sc", {.protocol = WEIR_DSM_SC}}, Case{"Checked", {.nodes = 4, .check = true}},
        Case{"CheckedDelays", {.nodes = 5, .delay = 300, .check = true}},
        Case{"CheckedTapes", {.tapes = Tapes::kCalled, .nodes = 4, .delay = 100, .check = true}},
        Case{"CheckedAuto", {.tapes = Tapes::kAuto, .nodes = 4, .delay = 100, .check = true}},
        Case{"CheckedThreads",
             {.tapes = Tapes::kCalled, .nodes = 3, .threads = 2, .delay = 100, .check = true}},
        Case{"CheckedFourPages", {.pages = 4, .check = true}},
        Case{"CheckedAnnotated", {.tapes = Tapes::kCalled, .pages = 0, .check = true}},
        Case{"CheckedHlrc", {.protocol = WEIR_DSM_HLRC, .check = true}},
        Case{"CheckedCollects",
             {.tapes = Tapes::kAuto, .nodes = 4, .delay = 100, .collect = 20000, .check = true}},
        Case{"ScThreadsDelays", {.protocol = WEIR_DSM_SC, .nodes = 3, .threads = 2, .delay = 100}}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace weir::dsm
