// Reductions, shared values and try-locks. conditions_test.cc says for which numbers of nodes and
// threads.
#include "dsm/sync/test_synchronization.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <latch>
#include <random>
#include <vector>

namespace weir::dsm::test {
namespace {

template <typename T>
T combined(std::vector<T> values, weir_dsm_operation operation) {
  T all = values[0];
  for (size_t i = 1; i < values.size(); i++)
    all = operation == WEIR_DSM_SUM   ? all + values[i]
          : operation == WEIR_DSM_MIN ? std::min(all, values[i])
                                      : std::max(all, values[i]);
  return all;
}

TEST_P(Synchronization, ANaNWinsWhoeverHasIt) {
  each_seed(1, [&](uint64_t seed) {
    std::atomic<unsigned> wrong{0};
    run<uint64_t>(seed, [&](unsigned worker, uint64_t&) {
      for (unsigned who = 0; who < workers(); who++) {
        for (const auto operation : {WEIR_DSM_SUM, WEIR_DSM_MIN, WEIR_DSM_MAX}) {
          double values[] = {worker == who ? std::nan("") : worker + 1.0, worker + 1.0};
          weir_dsm_reduce_double(values, 2, operation);
          wrong += !std::isnan(values[0]) || std::isnan(values[1]);
        }
      }
    });
    EXPECT_EQ(wrong, 0u);
  });
}

TEST_P(Synchronization, ReductionsOfEachKind) {
  each_seed(2, [&](uint64_t seed) {
    std::atomic<unsigned> wrong{0};
    const auto value = [&](unsigned worker, size_t i, int round) {
      std::mt19937_64 random(seed + worker * 1000003 + i * 17 + static_cast<uint64_t>(round));
      return static_cast<int64_t>(random() >> 8) * (random() % 2 ? 1 : -1);
    };
    run<uint64_t>(seed, [&](unsigned worker, uint64_t& counted) {
      int round = 0;
      for (const size_t count : {1, 3, 1024, 0}) {
        for (const auto operation : {WEIR_DSM_SUM, WEIR_DSM_MIN, WEIR_DSM_MAX}) {
          round++;
          std::vector<int64_t> whole(count);
          std::vector<double> real(count);
          for (size_t i = 0; i < count; i++) {
            whole[i] = value(worker, i, round);
            real[i] = static_cast<double>(whole[i]) / 3e10;
          }
          if (worker == 0) counted++;
          weir_dsm_reduce_int64(whole.data(), count, operation);
          if (counted != static_cast<uint64_t>(round)) wrong++;  // a barrier too
          weir_dsm_reduce_double(real.data(), count, operation);
          for (size_t i = 0; i < count; i++) {
            std::vector<int64_t> all;
            std::vector<double> all_real;
            for (unsigned other = 0; other < workers(); other++) {
              all.push_back(value(other, i, round));
              all_real.push_back(static_cast<double>(all.back()) / 3e10);
            }
            wrong += whole[i] != combined(all, operation);
            wrong +=
                real[i] !=
                combined(all_real, operation);  // to the last bit: the order is that of the workers
          }
        }
      }
    });
    EXPECT_EQ(wrong, 0u);
  });
}

TEST_P(Synchronization, SharedValuesComeFromOne) {
  std::atomic<unsigned> wrong{0};
  std::latch shared(GetParam().nodes);
  run<uint64_t>(1, [&](unsigned worker, uint64_t&) {
    if (worker % GetParam().threads) return shared.wait();  // one thread of each node shares
    for (const size_t size : {0, 1, 5000, 65536}) {
      for (NodeId from = 0; from < GetParam().nodes; from++) {
        std::vector<uint8_t> data(size, static_cast<uint8_t>(worker / GetParam().threads + 1));
        weir_dsm_share(data.data(), size, from);
        for (const uint8_t byte : data) wrong += byte != from + 1;
      }
    }
    shared.count_down();
  });
  EXPECT_EQ(wrong, 0u);
}

// --- Try-locks

TEST_P(Synchronization, ATryHasTheLockOrNot) {
  struct Data {
    uint64_t sections, words[600];
  };
  each_seed(3, [&](uint64_t seed) {
    std::atomic<int> inside{0};
    std::atomic<uint64_t> wrong{0}, sections{0}, counted{0};
    run<Data>(seed, [&](unsigned worker, Data& data) {
      std::mt19937_64 random(seed * 100 + worker);
      // Held by one: nobody else gets it.
      if (worker == 0) weir_dsm_lock(6);
      weir_dsm_barrier(0);
      if (worker > 0 && weir_dsm_trylock(6)) wrong++;
      weir_dsm_barrier(1);
      if (worker == 0) weir_dsm_unlock(6);
      weir_dsm_barrier(2);
      // Free, and asked by one: who had it last, or has never had it.
      for (unsigned one = 0; one < workers(); one++) {
        if (worker == one) {
          if (!weir_dsm_trylock(6)) wrong++;
          else weir_dsm_unlock(6);
        }
        weir_dsm_barrier(3);
      }
      for (int i = 0; i < 10; i++) {
        if (random() % 2) weir_dsm_lock(6);
        else if (!weir_dsm_trylock(6)) continue;
        if (inside++ != 0) wrong++;
        for (const uint64_t word : data.words) wrong += word != data.sections;
        data.sections++;
        for (uint64_t& word : data.words) word = data.sections;
        sections++;
        inside--;
        weir_dsm_unlock(6);
        pause_by_chance(random);
      }
      weir_dsm_barrier(4);
      if (worker == 0) counted = data.sections;
    });
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(counted, sections);
  });
}

}  // namespace
}  // namespace weir::dsm::test
