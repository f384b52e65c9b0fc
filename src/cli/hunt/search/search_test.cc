#include "cli/hunt/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/hunt/run/fake_runner_test.h"
#include "cli/hunt/search/repeat.h"
#include "cli/hunt/search/shrink.h"

namespace weir::cli::hunt {
namespace {

// Task 1 loses the processor near its event 4 to task 2, and later task 2 near its event 7 to any.
bool has_two_switches(const Switches& switches) {
  const auto first = std::ranges::find_if(switches, [](const Switch& one) {
    return one.task == 1 && one.events == 4 && one.to == 2 && one.instructions <= 70;
  });
  return std::find_if(first, switches.end(), [](const Switch& one) {
           return one.task == 2 && one.events == 7;
         }) != switches.end();
}

bool has_one_switch(const Switches& switches) {
  return std::ranges::find(switches, Switch{2, 3, 0, 1}) != switches.end();
}

SearchState searched(
    Runner& runner, const StrategyOptions& strategies, const SearchOptions& options,
    const Search::Known& is_known = [](const Finding&) { return false; }) {
  Judge judge({});
  Behaviours behaviours;
  Strategies all(strategies, runner.one(kDefaultSchedule));
  SearchState state;
  Search(runner, judge, all, behaviours, options)
      .run(
          state, [](const SearchState&) {}, is_known);
  return state;
}

TEST(Search, FindsWhatASweepMustFind) {
  FakeRunner runner(has_one_switch);
  StrategyOptions strategies;
  strategies.strategy = "sweep";
  const SearchState state = searched(runner, strategies, {});
  ASSERT_EQ(state.found.size(), 1u);
  EXPECT_EQ(parsed_schedule(state.found[0].run.log.list).switches, (Switches{{2, 3, 0, 1}}));
  EXPECT_LE(state.runs, 3u * 11 * 2);  // those at events come first
}

TEST(Search, ASweepThatFindsNothingEndsBeforeTheBudget) {
  FakeRunner runner([](const Switches&) { return false; });
  StrategyOptions strategies;
  strategies.strategy = "sweep";
  const SearchState state = searched(runner, strategies, {});
  EXPECT_EQ(state.why, SearchState::Why::kExhausted);
  // Each switch once, and where it is not reached one more; so many runs at once as there are
  // slots.
  EXPECT_GE(state.runs, 3u * 2 * (10 * 101 + 1));
  EXPECT_LE(state.runs, 3u * 2 * (10 * 101 + 1) + 2);
}

TEST(Search, TheBudgetOfRunsHolds) {
  for (const size_t slots : {1, 2, 7}) {
    FakeRunner runner([](const Switches&) { return false; }, slots);
    SearchOptions options;
    options.runs = 100;
    const SearchState state = searched(runner, {}, options);
    EXPECT_EQ(state.runs, 100u);
    EXPECT_EQ(state.why, SearchState::Why::kRuns);
  }
}

TEST(Search, EachStrategyAndAllTogetherFindTwoSwitches) {
  FakeRunner runner(has_two_switches);
  SearchOptions options;
  options.runs = 200'000;
  for (const std::string& name : kStrategies) {
    if (name == "sweep") continue;  // one switch at a time
    if (name == "delay") continue;  // has no switches but where stores are delayed
    StrategyOptions strategies;
    strategies.strategy = name;
    EXPECT_EQ(searched(runner, strategies, options).found.size(), 1u) << name;
  }
}

TEST(Search, OneSeedIsOneSearch) {
  uint64_t runs[2];
  for (uint64_t& count : runs) {
    FakeRunner runner(has_two_switches, 1);
    searched(runner, {}, {});
    count = runner.runs;
  }
  EXPECT_EQ(runs[0], runs[1]);
}

// A walk goes on from where one came that changed what the memory holds.
TEST(Strategies, WalksGoOnFromNewStates) {
  Outcome first;
  first.log.has_begun = true;
  first.log.steps = 100;
  first.log.accesses = {{{1, 0, 4, 0}, true, 0x404040},
                        {{2, 0, 4, 0}, false, 0x404040},
                        {{1, 0, 5, 0}, true, 0x404058},
                        {{2, 0, 5, 0}, true, 0x7fff'f7a0'0000}};
  StrategyOptions options;
  options.strategy = "states";
  Strategies strategies(options, first);
  Strategies::Proposal proposal = strategies.next();
  EXPECT_NE(proposal.schedule.find("state=0x404040,size=32"), std::string::npos)
      << proposal.schedule;
  EXPECT_TRUE(parsed_schedule(proposal.schedule).switches.empty());
  Outcome run;
  run.log.list = "w3:list:1.0.4>2+2.0.5>1";
  run.log.states = {{1, 17}};
  strategies.learn(proposal, run, 1, false);
  size_t longest = 0, fresh = 0;
  for (int i = 0; i < 100; i++) {
    const Switches switches = parsed_schedule(strategies.next().schedule).switches;
    longest = std::max(longest, switches.size());
    fresh += switches.empty();
    if (switches.empty()) continue;
    EXPECT_EQ(switches[0].text(), "1.0.4>2");
  }
  EXPECT_EQ(longest, 2u);
  EXPECT_GT(fresh, 0u);
  EXPECT_LT(fresh, 70u);
}

TEST(Search, WhatIsKnownIsPassedOver) {
  FakeRunner runner(has_one_switch);
  StrategyOptions strategies;
  strategies.strategy = "sweep";
  const SearchState state = searched(runner, strategies, {}, [](const Finding& finding) {
    return finding.signature == "exit: 3";
  });
  EXPECT_TRUE(state.found.empty());
  EXPECT_EQ(state.why, SearchState::Why::kExhausted);
}

TEST(Search, GoesOnAndCountsWhatFailsAlike) {
  FakeRunner runner([](const Switches& switches) { return switches.size() > 5; });
  SearchOptions options;
  options.runs = 500;
  options.keeps_going = true;
  StrategyOptions strategies;
  strategies.strategy = "pos";
  const SearchState state = searched(runner, strategies, options);
  EXPECT_EQ(state.runs, 500u);
  ASSERT_EQ(state.found.size(), 1u);
  EXPECT_GT(state.found[0].times, 100u);
  EXPECT_EQ(state.found[0].times, state.failing);
}

TEST(Shrink, LeavesTheSwitchesThatMatterAndMovesThemLate) {
  FakeRunner runner(has_two_switches);
  Switches all;
  for (uint32_t i = 0; i < 40; i++) all.push_back({3, i, i, 1});
  all.insert(all.begin() + 10, {1, 4, 2, 2});
  all.insert(all.begin() + 30, {2, 7, 5, 3});
  const Outcome failing = runner.one(listed(all).text());
  const Judge judge({});
  const Shrunk shrunk = shrink(runner, judge, judge.failure(failing)->signature, failing, {});
  ASSERT_EQ(shrunk.switches.size(), 2u);
  EXPECT_EQ(shrunk.switches[0], (Switch{1, 4, 70, 2}));
  EXPECT_EQ(shrunk.switches[1].task, 2u);
  EXPECT_EQ(shrunk.before, 42u);
  EXPECT_TRUE(shrunk.is_whole);
  EXPECT_TRUE(judge.failure(shrunk.run));
}

TEST(Shrink, TheResultStillFailsWhenTheBudgetIsSpent) {
  FakeRunner runner(has_two_switches);
  Switches all{{1, 4, 2, 2}, {2, 7, 5, 3}};
  for (uint32_t i = 0; i < 60; i++) all.insert(all.begin() + i % 2, {3, i, i, 1});
  const Outcome failing = runner.one(listed(all).text());
  const Judge judge({});
  ShrinkOptions options;
  options.runs = 8;
  const Shrunk shrunk = shrink(runner, judge, judge.failure(failing)->signature, failing, options);
  EXPECT_FALSE(shrunk.is_whole);
  EXPECT_TRUE(judge.failure(shrunk.run));
}

TEST(Shrink, AFailureWithoutSwitchesHasNone) {
  FakeRunner runner([](const Switches&) { return true; });
  const Outcome failing = runner.one(listed({{1, 2, 3, 2}, {2, 2, 2, 3}}).text());
  const Judge judge({});
  EXPECT_TRUE(shrink(runner, judge, "exit: 3", failing, {}).switches.empty());
}

TEST(Repeat, NamesWhatDiffers) {
  FakeRunner runner(has_one_switch, 1);
  const Judge judge({});
  const Outcome failing = runner.one("w3:list:2.3.0>1");
  const Finding finding = *judge.failure(failing);
  EXPECT_TRUE(repeat(runner, judge, finding, failing, 3).is_same());

  Outcome a = failing, b = failing;
  b.log.switches[1].at.events++;
  EXPECT_NE(difference(a, b).find("switch 2"), std::string::npos);
  b = a;
  b.log.instructions++;
  EXPECT_NE(difference(a, b).find("instructions"), std::string::npos);
  b = a;
  b.status = 0;
  EXPECT_NE(difference(a, b).find("exit status 3"), std::string::npos);
  EXPECT_EQ(difference(a, a), "");
}

}  // namespace
}  // namespace weir::cli::hunt
