// Strategies on a model: n tasks that make m steps each, none of which waits.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "order/serial/strategy.h"

namespace weir::order {
namespace {

// The order in which tasks make their steps, as text: "0012...". `steps`: of each task.
std::string run(const Schedule& schedule, const std::vector<uint64_t>& steps,
                const std::vector<Touch>& touches = {}) {
  const auto tasks = static_cast<uint32_t>(steps.size());
  Strategy& strategy = strategy_for(schedule);
  std::vector<uint64_t> made(tasks);
  for (TaskId i = 0; i < tasks; i++) strategy.begin(i, i);
  std::string order;
  uint64_t total = 0, budget = 0;
  TaskId current = 0;
  bool ended = false;
  for (;;) {
    std::vector<TaskId> ready;
    for (TaskId i = 0; i < tasks; i++)
      if (made[i] < steps[i]) ready.push_back(i);
    if (ready.empty()) return order;
    while (ended || budget == 0) {
      Moment moment{ended ? Reason::kEnds : Reason::kStep,
                    {current, 0, made[current]},
                    ended ? kNoTask : current,
                    total,
                    ready.data(),
                    static_cast<uint32_t>(ready.size()),
                    {}};
      if (!ended && made[current] < touches.size()) moment.next = touches[made[current]];
      current = strategy.choose(moment);
      EXPECT_TRUE(moment.is_ready(current));
      budget = strategy.steps_before_stop(current, {current, 0, made[current]}, total);
      ended = false;
    }
    order += static_cast<char>('0' + current);
    made[current]++;
    total++;
    budget--;
    ended = made[current] == steps[current];
  }
}

Schedule schedule_of(const char* text, std::vector<Switch>& room) {
  Schedule schedule;
  uint32_t at = 0;
  room.resize(16);
  EXPECT_EQ(parse_schedule(text, schedule, room.data(), 16, at), nullptr) << text;
  return schedule;
}

std::string run(const std::string& text, uint32_t tasks, uint32_t steps,
                const std::vector<Touch>& touches = {}) {
  std::vector<Switch> room;
  return run(schedule_of(text.c_str(), room), std::vector<uint64_t>(tasks, steps), touches);
}

TEST(Strategies, DefaultRunsEachToItsEnd) { EXPECT_EQ(run("w3:default", 3, 3), "000111222"); }

TEST(Strategies, ListSwitchesWhereItSays) {
  EXPECT_EQ(run("w3:list:0.0.1>2+2.0.2>1", 3, 3), "022111002");
}

TEST(Strategies, ARandomWalkBeginsBehindItsList) {
  std::set<std::string> orders;
  for (int seed = 0; seed < 50; seed++) {
    const std::string order =
        run("w3:random:seed=" + std::to_string(seed) + ",p=0.5:0.0.1>2+2.0.2>1", 3, 6);
    EXPECT_EQ(order.substr(0, 4), "0221");
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 40u);
}

TEST(Strategies, ARandomWalkWhosePrefixDoesNotFitIsTheDefault) {
  EXPECT_EQ(run("w3:random:seed=3,p=0.5:0.0.1>2+2.0.9>1", 3, 3), run("w3:list:0.0.1>2", 3, 3));
}

TEST(Strategies, ListCountsWhatIsNotFollowed) {
  std::vector<Switch> room;
  EXPECT_EQ(run("w3:list:0.0.1>7+5.0.0>1", 2, 2), "0011");
  EXPECT_EQ(strategy_for(schedule_of("w3:list:0.0.1>7", room)).not_followed(), 1u);
}

TEST(Strategies, SameSeedSameRun) {
  for (const char* name : {"random", "pct", "pb", "pos", "race", "surw"}) {
    std::set<std::string> seen;
    for (int seed = 0; seed < 50; seed++) {
      const std::string text =
          std::string("w3:") + name + ":length=20,seed=" + std::to_string(seed);
      const std::string once = run(text, 4, 5);
      EXPECT_EQ(once, run(text, 4, 5)) << text;
      EXPECT_EQ(once.size(), 20u) << text;
      seen.insert(once);
    }
    EXPECT_GT(seen.size(), 10u) << name;
  }
}

// The lost update: two tasks, two steps each; both loads before both stores.
int lost_updates(const std::string& name, int seeds, const std::vector<Touch>& touches = {}) {
  int found = 0;
  for (int seed = 0; seed < seeds; seed++) {
    const std::string order = run("w3:" + name + ",seed=" + std::to_string(seed), 2, 2, touches);
    found += order != "0011" && order != "1100";
  }
  return found;
}

TEST(Strategies, PctKeepsItsGuarantee) {
  // At least 1/(n k^(d-1)) with n = 2, k = 4, d = 2: an eighth.
  EXPECT_GT(lost_updates("pct:depth=2,length=4", 2000), 2000 / 8);
  EXPECT_EQ(lost_updates("pct:depth=1,length=4", 500), 0);
}

TEST(Strategies, PreemptionBoundedSwitchesAsOftenAsItMay) {
  EXPECT_EQ(lost_updates("pb:bound=0,length=4", 200), 0);
  EXPECT_GT(lost_updates("pb:bound=1,length=4", 400), 60);
}

TEST(Strategies, PosDrawsPartialOrders) {
  const std::vector<Touch> same = {{64, 8, false}, {64, 8, true}};
  EXPECT_GT(lost_updates("pos:fair=20000", 400, same), 100);
}

TEST(Strategies, RaceHoldsATaskUntilAnotherTouchesTheSame) {
  const std::vector<Touch> same = {{64, 8, false}, {64, 8, true}};
  EXPECT_GT(lost_updates("race:depth=2,length=4", 400, same), 60);
}

// Pearson's statistic of how often each of `kinds` orders comes, where all are as likely.
// `project`: what of an order counts.
double chi_square(const std::string& keys, const std::vector<uint64_t>& steps, size_t kinds,
                  int samples, const std::vector<Touch>& touches = {},
                  const std::function<std::string(const std::string&)>& project = {}) {
  std::map<std::string, int> seen;
  for (int seed = 0; seed < samples; seed++) {
    std::vector<Switch> room;
    const std::string text = keys + ",seed=" + std::to_string(seed);
    const std::string order = run(schedule_of(text.c_str(), room), steps, touches);
    seen[project ? project(order) : order]++;
  }
  EXPECT_EQ(seen.size(), kinds) << keys;
  const double expected = static_cast<double>(samples) / static_cast<double>(kinds);
  double sum = 0;
  for (const auto& [order, count] : seen) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// The orders of 2 and 3 steps are 10, those of 1, 2 and 3 are 60. The statistic's mean is one less
// than the orders, and it is above 27.9, or 98.3, by chance once in a thousand times.
TEST(Surw, EachOrderIsAsLikely) {
  EXPECT_LT(chi_square("w3:surw:counts=2.3", {2, 3}, 10, 20'000), 27.9);
  EXPECT_LT(chi_square("w3:surw:counts=1.2.3", {1, 2, 3}, 60, 60'000), 98.3);
  // A walk that picks either with a half is not: 00111 comes with 1/4, 11100 with 1/8.
  EXPECT_GT(chi_square("w3:random:p=1", {2, 3}, 10, 20'000), 1000.0);
}

// Steps that do not count come between, more of them with one task; the orders of the others are 6.
TEST(Surw, WhatDoesNotCountChangesNothing) {
  const std::vector<Touch> touches = {{8, 8, true},  {64, 8, true}, {16, 8, true}, {24, 4, false},
                                      {64, 8, true}, {32, 8, true}, {32, 8, true}, {32, 8, true}};
  const auto counted = [&](const std::string& order) {
    std::string kept;
    std::map<char, size_t> made;
    for (const char task : order)
      if (touches[made[task]++].address == 64) kept += task;
    return kept;
  };
  EXPECT_LT(chi_square("w3:surw:at=0x40,counts=2.2", {5, 8}, 6, 12'000, touches, counted), 20.5);
}

TEST(Surw, WrongCountsStillLetAllEnd) {
  EXPECT_EQ(run("w3:surw:counts=1.900.1,seed=3", 3, 20).size(), 60u);
  EXPECT_EQ(run("w3:surw:seed=3", 3, 20).size(), 60u);
}

}  // namespace
}  // namespace weir::order
