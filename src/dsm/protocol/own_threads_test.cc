// Random programs whose own threads go on while the main threads of their nodes are at barriers,
// against a model: they hold locks across others' barriers, allocate and free, hand tokens round by
// semaphores, and garbage is collected meanwhile. What the model says is checked by each thread as
// it runs:
//   - under each lock: a counter in many places, which must be equal, and an allocation that is
//     freed and made anew, zero, most often by another node than made it, of any kind and size, at
//     a place that was used before;
//   - a log that only grows, under a lock of its own: a thread tells its node's main thread how far
//     it has seen it, by no call of the library; behind the next reduction all read so far, without
//     the lock;
//   - words that main threads write before a barrier, and read after it;
//   - a token that goes round by semaphores, and a word that goes with it.
// Everything that a run is, but for its protocol and its tapes, comes from its seed, which each
// failure names. WEIR_SEEDS=N runs N times as many, from WEIR_FIRST_SEED on:
// tests/dsm/own_threads.sh is the long form.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "dsm/node/test_cluster.h"

namespace weir::dsm {
namespace {

struct Program {
  Settings settings;
  NodeId nodes;
  unsigned threads, own;  // of a node: at barriers, and apart
  uint32_t delay;
  unsigned pages;  // of a unit; 0: annotated
  weir_dsm_home home;
};

Program setup_of(weir_dsm_protocol protocol, Tapes tapes, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](auto... values) {
    const std::array all{values...};
    return all[random() % all.size()];
  };
  Program setup;
  setup.settings.size = one_of(16ul << 20, 256ul << 20);
  setup.settings.protocol = protocol;
  setup.settings.tapes = tapes;
  setup.settings.collect = one_of(1ul, 1ul, 3000ul, 20000ul, 100000ul, 1ul << 40);
  setup.settings.statistics = one_of(false, false, true);
  setup.settings.tree = one_of(1u, 2u, 4u);
  setup.nodes = one_of(2u, 2u, 3u, 4u);
  setup.threads = one_of(1u, 1u, 2u);
  setup.own = one_of(1u, 2u, 3u);
  setup.delay = one_of(0u, 0u, 30u, 200u);
  setup.pages = protocol == WEIR_DSM_SC ? one_of(1u, 2u) : one_of(1u, 1u, 1u, 3u, 0u);
  setup.home = one_of(WEIR_DSM_BLOCK, WEIR_DSM_CYCLIC, WEIR_DSM_FIRST_TOUCH, WEIR_DSM_EXPLICIT);
  return setup;
}

uint64_t hash(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15 + b * 0xc2b2ae3d27d4eb4f;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9;
  return x ^ x >> 32;
}

constexpr uint32_t kLocks = 5, kPlaces = 20, kWords = 5 * 512, kLog = 1 << 14, kRounds = 10,
                   kTurns = 4;
constexpr uint32_t kLogLock = 40;  // kLocks and more: of numbers whose homes differ

struct Shared {
  uint64_t words[kWords];
  struct Box {
    uint64_t offset, size, filled, is_annotated;
  };
  uint64_t of_locks[kLocks * kPlaces * 27];
  uint64_t logged, log[kLog];
  uint64_t token, of_token[600];
  uint64_t& place(uint32_t lock, uint32_t i) {
    return of_locks[(i * kLocks + lock) * 27 % (kLocks * kPlaces * 27)];
  }
  Box& box(uint32_t lock) { return *reinterpret_cast<Box*>(&of_locks[lock * 27 + 1]); }
};

class ProgramRun {
 public:
  ProgramRun(const Program& setup, uint64_t seed)
      : setup_(setup),
        seed_(seed),
        cluster_(setup.nodes, setup.settings, {.seed = seed, .delay_microseconds = setup.delay},
                 setup.threads) {}

  void run() {
    local_ = std::vector<Local>(setup_.nodes);
    cluster_.run([this](unsigned worker) { main_thread(worker); });
    EXPECT_EQ(wrong_places, 0u);
    EXPECT_EQ(wrong_boxes, 0u);
    EXPECT_EQ(wrong_zeros, 0u);
    EXPECT_EQ(wrong_log, 0u);
    EXPECT_EQ(wrong_words, 0u);
    EXPECT_EQ(wrong_token, 0u);
    EXPECT_EQ(wrong_sum, 0u);
  }

 private:
  struct Local {  // of a node, which its threads share by other means than the library's
    std::vector<std::thread> own;
    std::atomic<uint64_t> seen{0};   // of the log
    std::atomic<uint32_t> round{0};  // that its main threads are in
    std::atomic<bool> stops{false};
  };

  uint8_t* view(unsigned worker, uint64_t offset) { return cluster_.view(worker, offset); }
  Shared& shared(unsigned worker) { return *reinterpret_cast<Shared*>(view(worker, offset_)); }
  void announce(Shared& memory, bool write) {
    if (setup_.pages == 0) (write ? weir_dsm_write_access : weir_dsm_read_access)(&memory);
  }
  static void lock(uint32_t number, Shared& memory, std::mt19937_64& random) {
    switch (random() % 5) {
      case 0: return weir_dsm_lock_auto(number);
      case 1: return weir_dsm_lock_user(number, &memory.of_locks[random() % 2000], 4096);
      case 2:
        while (!weir_dsm_trylock(number)) std::this_thread::yield();
        return;
      default: return weir_dsm_lock(number);
    }
  }

  void count_under_lock(unsigned worker, std::mt19937_64& random, bool may_linger) {
    Shared& memory = shared(worker);
    Local& local = local_[worker / setup_.threads];
    const auto number = static_cast<uint32_t>(random() % kLocks);
    lock(number, memory, random);
    announce(memory, true);
    const uint64_t value = memory.place(number, 0);
    const uint32_t lingers_at =
        may_linger && random() % 3 == 0 ? static_cast<uint32_t>(random() % kPlaces) : kPlaces;
    for (uint32_t at = 0; at < kPlaces; at++) {
      if (memory.place(number, at) != value) wrong_places++;
      memory.place(number, at) = value + 1;
      if (at != lingers_at) continue;
      const uint32_t round = local.round;
      for (int i = 0; i < 10 && local.round == round; i++)
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    sections_++;
    if (random() % 3 == 0) renew(worker, memory.box(number), random);
    weir_dsm_unlock(number);
  }

  // What the box holds is checked, freed, and made anew.
  void renew(unsigned worker, Shared::Box& box, std::mt19937_64& random) {
    if (box.size > 0) {
      const uint8_t* memory = view(worker, box.offset);
      if (box.is_annotated) weir_dsm_read_access(memory);
      for (uint64_t i = 0; i < box.size; i++) {
        if (memory[i] == static_cast<uint8_t>(box.filled + i)) continue;
        wrong_boxes++;
        break;
      }
      weir_dsm_free(view(worker, box.offset));
    }
    const uint64_t size = random() % 3 == 0   ? random() % 100 + 1
                          : random() % 3 == 0 ? random() % 60'000 + 1
                                              : random() % 4000 + 1;
    weir_dsm_attributes attributes = {};
    if (random() % 6 == 0) attributes.unit = WEIR_DSM_ANNOTATED;
    else if (random() % 6 == 0) attributes.pages = 3;
    auto* const memory = static_cast<uint8_t*>(weir_dsm_alloc_with(size, &attributes));
    const uint64_t filled = random() % 200, is_annotated = attributes.unit == WEIR_DSM_ANNOTATED;
    if (is_annotated) weir_dsm_write_access(memory);
    for (uint64_t i = 0; i < size; i++) {
      if (memory[i] == 0) continue;
      wrong_zeros++;
      break;
    }
    for (uint64_t i = 0; i < size; i++) memory[i] = static_cast<uint8_t>(filled + i);
    announce(shared(worker), true);
    box = {static_cast<uint64_t>(memory - view(worker, 0)), size, filled, is_annotated};
  }

  void append_to_log(unsigned worker, std::mt19937_64& random) {
    Shared& memory = shared(worker);
    lock(kLogLock, memory, random);
    announce(memory, true);
    const uint64_t logged = memory.logged;
    if (logged < kLog) {
      memory.log[logged] = hash(seed_, logged);
      memory.logged++;
    }
    Local& local = local_[worker / setup_.threads];
    uint64_t seen = local.seen;
    while (seen < memory.logged && !local.seen.compare_exchange_weak(seen, memory.logged)) {}
    weir_dsm_unlock(kLogLock);
  }

  // Turn after turn, from node to node.
  void hand_token_on(unsigned worker, uint32_t turn) {
    Shared& memory = shared(worker);
    const NodeId me = worker / setup_.threads;
    weir_dsm_semaphore_wait(me);
    announce(memory, true);
    if (memory.token != uint64_t{turn} * setup_.nodes + me) wrong_token++;
    for (uint64_t& word : memory.of_token) {
      if (word != memory.token) wrong_token++;
      word = memory.token + 1;
    }
    memory.token++;
    weir_dsm_semaphore_post((me + 1) % setup_.nodes);
  }

  void own_thread(unsigned worker, unsigned number) {
    use_node(&cluster_.node(worker), 0);
    std::mt19937_64 random(seed_ * 4001 + worker * 64 + number + 17);
    uint32_t turn = 0;
    for (uint32_t i = 0; i < 4 || !local_[worker / setup_.threads].stops; i++) {
      if (random() % 3 == 0) append_to_log(worker, random);
      else count_under_lock(worker, random, true);
      if (number == 0 && turn < kTurns && random() % 3 == 0) hand_token_on(worker, turn++);
    }
    while (number == 0 && turn < kTurns) hand_token_on(worker, turn++);
    use_node(nullptr, 0);
  }

  void main_thread(unsigned worker) {
    const unsigned workers = setup_.nodes * setup_.threads,
                   first = worker / setup_.threads * setup_.threads;
    Local& local = local_[worker / setup_.threads];
    std::mt19937_64 random(seed_ * 4001 + worker);
    if (worker == 0) {
      weir_dsm_attributes attributes = {};
      attributes.unit = setup_.pages ? WEIR_DSM_PAGES : WEIR_DSM_ANNOTATED;
      attributes.pages = setup_.pages;
      attributes.home = setup_.home;
      attributes.home_node = setup_.nodes - 1;
      offset_ = static_cast<uint64_t>(
          static_cast<uint8_t*>(weir_dsm_alloc_with(sizeof(Shared), &attributes)) - view(0, 0));
      weir_dsm_semaphore_post(0);
    }
    weir_dsm_barrier(100);
    Shared& memory = shared(worker);
    if (worker == first) {
      for (unsigned number = 0; number < setup_.own; number++)
        local.own.emplace_back([this, worker, number] { own_thread(worker, number); });
    }
    for (uint32_t round = 1; round <= kRounds; round++) {
      const bool flushes = hash(seed_, round) % 4 == 0, produces = hash(seed_, round) % 4 == 1;
      if (flushes) weir_dsm_flush_start();
      if (produces) weir_dsm_produce_start();
      announce(memory, true);
      for (uint32_t word = 0; word < kWords; word++) {
        if (hash(seed_ + word, word % 64 ? 0 : round) % workers == worker && hash(round, word) % 3)
          memory.words[word] = hash(round, word);
      }
      if (flushes) weir_dsm_flush_end();
      if (produces) weir_dsm_produce_end();
      if (random() % 2) count_under_lock(worker, random, false);
      if (random() % 2) weir_dsm_barrier(round % 2);
      else weir_dsm_barrier_replay(round % 2, random() % 2 ? WEIR_DSM_STATIC : WEIR_DSM_DYNAMIC);
      local.round++;
      announce(memory, false);
      for (uint32_t word = 0; word < kWords; word++) {
        if (hash(worker + round, word / 512) % 3 == 0) continue;  // some pages are not read
        uint32_t last = round;
        while (last > 0 && hash(last, word) % 3 == 0) last--;
        if (memory.words[word] != (last ? hash(last, word) : 0)) wrong_words++;
      }
      int64_t seen = static_cast<int64_t>(local.seen.load());
      weir_dsm_reduce_int64(&seen, 1, WEIR_DSM_MAX);
      announce(memory, false);
      for (int64_t i = 0; i < seen; i++) {
        if (memory.log[i] == hash(seed_, static_cast<uint64_t>(i))) continue;
        wrong_log++;
        break;
      }
    }
    if (worker == first) {
      local.stops = true;
      for (std::thread& thread : local.own) thread.join();
    }
    weir_dsm_barrier(3);
    uint64_t sum = 0;
    announce(memory, false);
    for (uint32_t number = 0; number < kLocks; number++) sum += memory.place(number, kPlaces - 1);
    if (sum != sections_) wrong_sum++;
    weir_dsm_barrier(4);
  }

  const Program setup_;
  const uint64_t seed_;
  TestCluster cluster_;
  std::vector<Local> local_;
  std::atomic<uint64_t> offset_{0}, sections_{0};
  std::atomic<uint64_t> wrong_places{0}, wrong_boxes{0}, wrong_zeros{0}, wrong_log{0},
      wrong_words{0}, wrong_token{0}, wrong_sum{0};
};

struct Case {
  const char* name;
  weir_dsm_protocol protocol;
  Tapes tapes;
};

class OwnThreads : public testing::TestWithParam<Case> {};

TEST_P(OwnThreads, SeeWhatIsOrderedBeforeWhileMainThreadsPassBarriers) {
  const char* const first = getenv("WEIR_FIRST_SEED");
  const char* const more = getenv("WEIR_SEEDS");
  const uint64_t begin = first ? strtoul(first, nullptr, 10) : 1,
                 count = more ? 12 * strtoul(more, nullptr, 10) : 12;
  for (uint64_t seed = begin; seed < begin + count && !HasFailure(); seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Program setup = setup_of(GetParam().protocol, GetParam().tapes, seed);
    SCOPED_TRACE("collect " + std::to_string(setup.settings.collect) + ", nodes " +
                 std::to_string(setup.nodes) + ", threads " + std::to_string(setup.threads) +
                 " + " + std::to_string(setup.own) + ", delay " + std::to_string(setup.delay) +
                 ", pages " + std::to_string(setup.pages) + ", home " + std::to_string(setup.home));
    ProgramRun(setup, seed).run();
  }
}

INSTANTIATE_TEST_SUITE_P(All, OwnThreads,
                         testing::Values(Case{"Lrc", WEIR_DSM_LRC, Tapes::kOff},
                                         Case{"LrcCalled", WEIR_DSM_LRC, Tapes::kCalled},
                                         Case{"LrcAuto", WEIR_DSM_LRC, Tapes::kAuto},
                                         Case{"Hlrc", WEIR_DSM_HLRC, Tapes::kOff},
                                         Case{"HlrcCalled", WEIR_DSM_HLRC, Tapes::kCalled},
                                         Case{"HlrcAuto", WEIR_DSM_HLRC, Tapes::kAuto},
                                         Case{"Sc", WEIR_DSM_SC, Tapes::kOff},
                                         Case{"ScAuto", WEIR_DSM_SC, Tapes::kAuto}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace weir::dsm
