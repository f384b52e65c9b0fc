// Random schedules of semaphores, conditions, locks and barriers against a model. All know the
// schedule: a list of hand-overs, each of a token from one worker to another, by a semaphore or by
// a condition, with barriers in between. In the order of the list it can be done, so it never
// stands still. The model says which hand-overs each worker must know of (vector clocks over the
// list); before a worker hands on, it writes a word that nobody else writes, and who must know of
// it reads that word. The words lie close together: pages are written by all.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <random>
#include <vector>

#include "dsm/node/test_cluster.h"

namespace weir::dsm {
namespace {

constexpr unsigned kTokens = 5, kSteps = 120;
constexpr uint32_t kConditionLock = 50;

struct Step {
  enum Kind { kSemaphore, kCondition, kBarrier } kind;
  unsigned token, from, to;
  std::vector<bool> before;  // steps that happen before it is sent
};

struct Shared {
  uint64_t written[kSteps];           // by the step's sender
  uint64_t token_words[kTokens][40];  // of who has the token
  uint64_t arrived[kTokens];  // hand-overs of a token by conditions, under kConditionLock + token
};

std::vector<Step> make_steps(unsigned workers, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<unsigned> holder(kTokens);
  for (unsigned& one : holder) one = static_cast<unsigned>(random() % workers);
  std::vector<std::vector<bool>> known(workers, std::vector<bool>(kSteps));
  std::vector<Step> steps;
  for (unsigned i = 0; i < kSteps; i++) {
    Step step{random() % 30 == 0 ? Step::kBarrier
              : random() % 3     ? Step::kSemaphore
                                 : Step::kCondition,
              static_cast<unsigned>(random() % kTokens),
              0,
              0,
              {}};
    if (step.kind == Step::kBarrier) {
      std::vector<bool> all(kSteps);
      for (const auto& one : known) {
        for (unsigned s = 0; s < kSteps; s++) all[s] = all[s] || one[s];
      }
      known.assign(workers, all);
    } else {
      step.from = holder[step.token];
      step.to = holder[step.token] = static_cast<unsigned>(random() % workers);
      known[step.from][i] = true;
      step.before = known[step.from];
      for (unsigned s = 0; s < kSteps; s++)
        known[step.to][s] = known[step.to][s] || known[step.from][s];
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

struct Case {
  const char* name;
  NodeId nodes;
  unsigned threads;
  uint32_t delay;
  weir_dsm_protocol protocol = WEIR_DSM_LRC;
  Tapes tapes = Tapes::kOff;
  uint64_t collect = uint64_t{1} << 30;
};

void run_schedule(const Case& setup, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Settings settings;
  settings.size = 16 << 20;
  settings.protocol = setup.protocol;
  settings.tapes = setup.tapes;
  settings.collect = setup.collect;
  settings.tree = 2;
  const unsigned workers = setup.nodes * setup.threads;
  const std::vector<Step> steps = make_steps(workers, seed);
  TestCluster cluster(setup.nodes, settings, {.seed = seed, .delay_microseconds = setup.delay},
                      setup.threads);
  std::atomic<uint64_t> offset{0};
  std::atomic<unsigned> wrong_known{0}, wrong_token{0};
  cluster.run([&](unsigned worker) {
    if (worker == 0)
      offset = static_cast<uint64_t>(static_cast<uint8_t*>(weir_dsm_alloc(sizeof(Shared))) -
                                     cluster.view(0, 0));
    weir_dsm_barrier(0);
    auto& shared = *reinterpret_cast<Shared*>(cluster.view(worker, offset));
    std::vector<uint64_t> handed(kTokens), by_condition(kTokens);
    for (unsigned i = 0; i < kSteps; i++) {
      const Step& step = steps[i];
      if (step.kind == Step::kBarrier) {
        weir_dsm_barrier(1 + i % 2);
        continue;
      }
      const uint64_t before = handed[step.token]++;
      by_condition[step.token] += step.kind == Step::kCondition;
      const uint32_t condition = 30 + step.token, lock = kConditionLock + step.token;
      if (worker == step.from) {
        for (const uint64_t word : shared.token_words[step.token]) wrong_token += word != before;
        for (uint64_t& word : shared.token_words[step.token]) word = before + 1;
        shared.written[i] = seed * 1000 + i;
        if (step.kind == Step::kSemaphore) {
          weir_dsm_semaphore_post(step.token * 64 + step.to);
        } else {
          weir_dsm_lock(lock);
          shared.arrived[step.token]++;
          weir_dsm_broadcast(condition);
          weir_dsm_unlock(lock);
        }
      }
      if (worker != step.to) continue;
      if (step.kind == Step::kSemaphore) {
        weir_dsm_semaphore_wait(step.token * 64 + step.to);
      } else {
        weir_dsm_lock(lock);
        while (shared.arrived[step.token] < by_condition[step.token])
          weir_dsm_wait(condition, lock);
        weir_dsm_unlock(lock);
      }
      for (unsigned s = 0; s <= i; s++) {
        if (step.before[s]) wrong_known += shared.written[s] != seed * 1000 + s;
      }
    }
    weir_dsm_barrier(0);
  });
  EXPECT_EQ(wrong_known, 0u);
  EXPECT_EQ(wrong_token, 0u);
}

class Schedule : public testing::TestWithParam<Case> {};

TEST_P(Schedule, WhatIsHandedOverIsSeen) {
  uint64_t count = 6;
  if (const char* more = getenv("WEIR_SEEDS")) count *= strtoul(more, nullptr, 10);
  for (uint64_t seed = 1; seed <= count && !HasFailure(); seed++) run_schedule(GetParam(), seed);
}

INSTANTIATE_TEST_SUITE_P(
    All, Schedule,
    testing::Values(Case{"One", 1, 3, 0}, Case{"Two", 2, 1, 100}, Case{"Three", 3, 1, 0},
                    Case{"ThreeOfTwo", 3, 2, 100}, Case{"FourOfThree", 4, 3, 50},
                    Case{"Collects", 4, 1, 50, WEIR_DSM_LRC, Tapes::kOff, 1},
                    Case{"Auto", 4, 1, 100, WEIR_DSM_LRC, Tapes::kAuto},
                    Case{"Hlrc", 4, 1, 100, WEIR_DSM_HLRC},
                    Case{"HlrcOfTwoCollects", 3, 2, 50, WEIR_DSM_HLRC, Tapes::kCalled, 1},
                    Case{"HlrcAuto", 3, 1, 100, WEIR_DSM_HLRC, Tapes::kAuto},
                    Case{"Sc", 3, 1, 50, WEIR_DSM_SC}, Case{"ScOfTwo", 2, 2, 0, WEIR_DSM_SC}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace weir::dsm
