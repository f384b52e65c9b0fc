// Condition variables and semaphores (dsm/sync/test_synchronization.h says on what). Random
// schedules of both kinds against a model: schedule_test.cc.
#include "dsm/sync/test_synchronization.h"

#include <atomic>
#include <latch>
#include <random>
#include <thread>
#include <vector>

namespace weir::dsm::test {
namespace {

using Case = Synchronization::Case;

// --- Conditions

TEST_P(Synchronization, BoundedBufferLosesAndDoublesNothing) {
  constexpr unsigned kPlaces = 3, kEach = 12, kLock = 5, kNotFull = 1, kNotEmpty = 2;
  struct Buffer {
    uint64_t first, count, taken, places[kPlaces];
    uint64_t pages[kPlaces][700];  // what belongs to an item
  };
  each_seed(3, [&](uint64_t seed) {
    const unsigned producers = std::max(1u, workers() / 2), all = producers * kEach;
    std::vector<std::atomic<unsigned>> seen(all);
    std::atomic<unsigned> damaged{0};
    run<Buffer>(seed, [&](unsigned worker, Buffer& buffer) {
      std::mt19937_64 random(seed * 100 + worker);
      const auto put = [&](uint64_t item) {
        weir_dsm_lock(kLock);
        while (buffer.count == kPlaces) weir_dsm_wait(kNotFull, kLock);
        const uint64_t at = (buffer.first + buffer.count++) % kPlaces;
        buffer.places[at] = item;
        for (uint64_t& word : buffer.pages[at]) word = item;
        weir_dsm_signal(kNotEmpty);
        weir_dsm_unlock(kLock);
      };
      const auto take = [&] {
        weir_dsm_lock(kLock);
        while (buffer.count == 0 && buffer.taken < all) weir_dsm_wait(kNotEmpty, kLock);
        const bool some = buffer.count > 0;
        if (some) {
          const uint64_t at = buffer.first, item = buffer.places[at];
          for (const uint64_t word : buffer.pages[at]) damaged += word != item;
          if (item < all) seen[item]++;
          buffer.first = (at + 1) % kPlaces;
          buffer.count--;
          weir_dsm_signal(kNotFull);
          if (++buffer.taken == all) weir_dsm_broadcast(kNotEmpty);
        }
        weir_dsm_unlock(kLock);
        return some;
      };
      if (workers() == 1) {
        for (unsigned i = 0; i < kEach; i++) {
          put(i);
          take();
        }
      } else if (worker < producers) {
        for (unsigned i = 0; i < kEach; i++) {
          put(worker * kEach + i);
          pause_by_chance(random);
        }
      } else {
        while (take()) pause_by_chance(random);
      }
    });
    EXPECT_EQ(damaged, 0u);
    for (unsigned item = 0; item < all; item++) EXPECT_EQ(seen[item], 1u) << item;
  });
}

TEST_P(Synchronization, BroadcastWakesAllThatWait) {
  struct Gate {
    uint64_t waiting, round;
    uint64_t data[1000];
  };
  each_seed(2, [&](uint64_t seed) {
    std::atomic<unsigned> wrong{0};
    run<Gate>(seed, [&](unsigned worker, Gate& gate) {
      for (uint64_t round = 1; round <= 6; round++) {
        weir_dsm_lock(0);
        if (++gate.waiting == workers()) {  // the last one lets all go
          gate.waiting = 0;
          gate.round = round;
          gate.data[round * worker % 1000] = 0;
          for (uint64_t& word : gate.data) word = round;
          weir_dsm_broadcast(7);
        } else {
          while (gate.round < round) weir_dsm_wait(7, 0);
        }
        // Nobody can be further by more than this one lets him.
        if (gate.round != round) wrong++;
        for (const uint64_t word : gate.data) wrong += word != round;
        weir_dsm_unlock(0);
      }
    });
    EXPECT_EQ(wrong, 0u);
  });
}

TEST_P(Synchronization, SignalWithNobodyWaitingIsLost) {
  struct State {
    uint64_t waits, released;
  };
  each_seed(3, [&](uint64_t seed) {
    bool too_early = false;
    run<State>(seed, [&](unsigned worker, State& state) {
      if (worker == 0) {
        weir_dsm_signal(3);
        weir_dsm_broadcast(3);
      }
      weir_dsm_barrier(0);
      if (workers() == 1) return;
      if (worker == workers() - 1) {
        weir_dsm_lock(2);
        state.waits = 1;
        weir_dsm_wait(3, 2);
        too_early = state.released == 0;
        weir_dsm_unlock(2);
      } else if (worker == 0) {
        for (bool waits = false; !waits;) {
          weir_dsm_lock(2);
          waits = state.waits;
          weir_dsm_unlock(2);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        weir_dsm_lock(2);
        state.released = 1;
        weir_dsm_signal(3);
        weir_dsm_unlock(2);
      }
    });
    EXPECT_FALSE(too_early);
  });
}

TEST_P(Synchronization, EachSignalWakesOne) {
  struct State {
    uint64_t waiting, woken;
  };
  each_seed(2, [&](uint64_t seed) {
    std::atomic<unsigned> wrong{0};
    run<State>(seed, [&](unsigned worker, State& state) {
      const auto in_lock = [&](auto what) {
        weir_dsm_lock(9);
        const auto answer = what();
        weir_dsm_unlock(9);
        return answer;
      };
      if (worker > 0) {
        weir_dsm_lock(9);
        state.waiting++;
        weir_dsm_wait(4, 9);
        state.woken++;
        weir_dsm_unlock(9);
        return;
      }
      while (in_lock([&] { return state.waiting; }) < workers() - 1) std::this_thread::yield();
      for (uint64_t signals = 1; signals < workers(); signals++) {
        weir_dsm_signal(4);
        while (in_lock([&] { return state.woken; }) < signals) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(GetParam().delay + 200));
        if (in_lock([&] { return state.woken; }) != signals) wrong++;
      }
    });
    EXPECT_EQ(wrong, 0u);
  });
}

TEST_P(Synchronization, WaitLetsGoOfTheLockAndHasItAgainWithItsData) {
  struct State {
    uint64_t turn, steps;
    uint64_t data[1500];
  };
  each_seed(3, [&](uint64_t seed) {
    std::atomic<int> inside{0};
    std::atomic<unsigned> wrong{0};
    run<State>(seed, [&](unsigned worker, State& state) {
      for (uint64_t step = worker; step < 4 * workers(); step += workers()) {
        weir_dsm_lock(1);
        if (inside++ != 0) wrong++;
        while (state.turn != worker) {
          inside--;
          weir_dsm_wait(worker % 2, 1);
          if (inside++ != 0) wrong++;
        }
        if (state.steps != step) wrong++;
        for (const uint64_t word : state.data) wrong += word != step;
        for (uint64_t& word : state.data) word = step + 1;
        state.steps++;
        state.turn = (worker + 1) % workers();
        weir_dsm_broadcast(state.turn % 2);
        inside--;
        weir_dsm_unlock(1);
      }
    });
    EXPECT_EQ(wrong, 0u);
  });
}

// --- Semaphores

TEST_P(Synchronization, SemaphoresAreAPoolOfWhatIsThere) {
  constexpr unsigned kThings = 2;
  struct Pool {
    uint64_t taken[kThings];  // under lock 0
    struct {
      uint64_t uses, words[300];  // whose holder alone may touch it
    } things[kThings];
  };
  each_seed(2, [&](uint64_t seed) {
    std::atomic<unsigned> holders{0}, wrong{0};
    std::atomic<uint64_t> uses{0};
    run<Pool>(seed, [&](unsigned worker, Pool& pool) {
      std::mt19937_64 random(seed * 100 + worker);
      if (worker == workers() - 1) {
        for (unsigned i = 0; i < kThings; i++) weir_dsm_semaphore_post(11);
      }
      for (int i = 0; i < 6; i++) {
        weir_dsm_semaphore_wait(11);
        if (++holders > kThings) wrong++;
        weir_dsm_lock(0);
        const unsigned thing = pool.taken[0] ? 1 : 0;
        if (pool.taken[thing]++) wrong++;
        weir_dsm_unlock(0);
        auto& its = pool.things[thing];
        for (const uint64_t word : its.words) wrong += word != its.uses;
        for (uint64_t& word : its.words) word = its.uses + 1;
        its.uses++;
        pause_by_chance(random);
        weir_dsm_lock(0);
        pool.taken[thing]--;
        weir_dsm_unlock(0);
        holders--;
        weir_dsm_semaphore_post(11);
      }
      weir_dsm_barrier(0);
      if (worker == 0) uses = pool.things[0].uses + pool.things[1].uses;
    });
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(uses, 6 * workers());
  });
}

TEST_P(Synchronization, ASemaphoreAloneGuardsData) {
  struct Data {
    uint64_t count, words[1100];
  };
  each_seed(2, [&](uint64_t seed) {
    std::atomic<uint64_t> wrong{0}, count{0};
    run<Data>(seed, [&](unsigned worker, Data& data) {
      if (worker == 0) weir_dsm_semaphore_post(3);
      for (int i = 0; i < 8; i++) {
        weir_dsm_semaphore_wait(3);
        for (const uint64_t word : data.words) wrong += word != data.count;
        data.count++;
        for (uint64_t& word : data.words) word = data.count;
        weir_dsm_semaphore_post(3);
      }
      weir_dsm_barrier(0);
      if (worker == workers() - 1) count = data.count;
    });
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(count, 8 * workers());
  });
}

TEST_P(Synchronization, WhoTakesSeesWhatThePosterHasSeen) {
  struct Ring {
    uint64_t written[16][64];
  };
  each_seed(3, [&](uint64_t seed) {
    std::atomic<unsigned> wrong{0};
    run<Ring>(seed, [&](unsigned worker, Ring& ring) {
      for (uint64_t lap = 1; lap <= 5; lap++) {
        if (worker > 0 || lap > 1) weir_dsm_semaphore_wait(20 + worker);
        for (unsigned other = 0; other < workers(); other++)
          wrong += ring.written[other][lap] != (other < worker ? lap : 0);
        for (unsigned other = 0; other < workers(); other++)
          wrong += ring.written[other][lap - 1] != lap - 1;
        ring.written[worker][lap] = lap;
        weir_dsm_semaphore_post(20 + (worker + 1) % workers());
        if (lap == 3) weir_dsm_barrier(0);
      }
    });
    EXPECT_EQ(wrong, 0u);
  });
}

TEST_P(Synchronization, PostsWaitForWhoTakesThem) {
  each_seed(2, [&](uint64_t seed) {
    std::atomic<unsigned> wrong{0};
    run<uint64_t[1024]>(seed, [&](unsigned worker, uint64_t(&words)[1024]) {
      words[worker] = worker + 1;
      for (unsigned other = 0; other < workers(); other++) weir_dsm_semaphore_post(1);
      weir_dsm_barrier(0);
      weir_dsm_barrier(1);
      for (unsigned other = 0; other < workers(); other++) weir_dsm_semaphore_wait(1);
      for (unsigned other = 0; other < workers(); other++) wrong += words[other] != other + 1;
    });
    EXPECT_EQ(wrong, 0u);
  });
}

TEST_P(Synchronization, PostsDoNotOvertakeABarrierOfOtherThreads) {
  if (GetParam().threads < 2) return;
  const NodeId nodes = GetParam().nodes;
  struct Ring {
    uint64_t written[16][64];
  };
  each_seed(4, [&](uint64_t seed) {
    std::atomic<unsigned> wrong{0};
    std::latch shared(nodes);
    run<Ring>(seed, [&](unsigned worker, Ring& ring) {
      const unsigned node = worker / GetParam().threads;
      if (worker % GetParam().threads == 0) {
        for (uint64_t i = 0; i < 40; i++) {
          uint64_t value = i;
          weir_dsm_share(&value, sizeof value, i % nodes);
        }
        shared.count_down();
      } else if (worker % GetParam().threads == 1) {
        for (uint64_t lap = 1; lap < 30; lap++) {
          if (node > 0 || lap > 1) weir_dsm_semaphore_wait(20 + node);
          for (unsigned other = 0; other < nodes; other++)
            wrong +=
                ring.written[other][lap - (other < node ? 0 : 1)] != lap - (other < node ? 0 : 1);
          ring.written[node][lap] = lap;
          weir_dsm_semaphore_post(20 + (node + 1) % nodes);
        }
      }
      shared.wait();
    });
    EXPECT_EQ(wrong, 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Synchronization,
                         testing::Values(Case{"One", 1, 1}, Case{"OneOfThree", 1, 3},
                                         Case{"Two", 2, 1}, Case{"TwoOfTwoDelays", 2, 2, 150},
                                         Case{"ThreeDelays", 3, 1, 200}, Case{"FourOfThree", 4, 3},
                                         Case{"FourDelaysHlrc", 4, 1, 150, WEIR_DSM_HLRC},
                                         Case{"TwoOfThreeHlrc", 2, 3, 100, WEIR_DSM_HLRC},
                                         Case{"ThreeOfTwoSc", 3, 2, 50, WEIR_DSM_SC}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace weir::dsm::test
