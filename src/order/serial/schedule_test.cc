#include "order/serial/schedule.h"

#include <gtest/gtest.h>

#include <string>

#include "order/serial/random.h"

namespace weir::order {
namespace {

struct Parsed {
  Schedule schedule;
  Switch room[8];
  const char* wrong;
  uint32_t at = 0;
  explicit Parsed(const char* text) { wrong = parse_schedule(text, schedule, room, 8, at); }
  std::string why() const { return wrong ? wrong : ""; }
};

TEST(Schedule, EmptyIsTheDefault) {
  const Parsed parsed("");
  EXPECT_EQ(parsed.why(), "");
  EXPECT_EQ(parsed.schedule.name, StrategyName::kDefault);
  EXPECT_EQ(parsed.schedule.switch_count, 0u);
}

TEST(Schedule, ReadsKeys) {
  const Parsed parsed("w3:pct:seed=18446744073709551615,depth=5,length=1000,fair=7,points=all");
  EXPECT_EQ(parsed.why(), "");
  EXPECT_EQ(parsed.schedule.name, StrategyName::kPct);
  EXPECT_EQ(parsed.schedule.seed, ~uint64_t{0});
  EXPECT_EQ(parsed.schedule.depth, 5u);
  EXPECT_EQ(parsed.schedule.length, 1000u);
  EXPECT_EQ(parsed.schedule.fair, 7u);
  EXPECT_TRUE(parsed.schedule.has_all_points);
}

TEST(Schedule, ReadsWhatCounts) {
  const Parsed parsed("w3:surw:seed=7,at=0x4040f8,counts=120.40.0");
  EXPECT_EQ(parsed.why(), "");
  EXPECT_EQ(parsed.schedule.name, StrategyName::kSurw);
  EXPECT_TRUE(parsed.schedule.has_location);
  EXPECT_EQ(parsed.schedule.location, 0x4040f8u);
  ASSERT_EQ(parsed.schedule.count_count, 3u);
  EXPECT_EQ(parsed.schedule.counts[0], 120u);
  EXPECT_EQ(parsed.schedule.counts[2], 0u);
  EXPECT_EQ(Parsed("w3:surw:at=40").why(), "at is an address, such as 0x404040");
  EXPECT_EQ(Parsed("w3:surw:counts=1.").why(), "counts are numbers with points between");
}

TEST(Schedule, ReadsProbabilities) {
  EXPECT_EQ(Parsed("w3:random:p=0.25").schedule.per_million, 250'000u);
  EXPECT_EQ(Parsed("w3:random:p=1").schedule.per_million, 1'000'000u);
  EXPECT_EQ(Parsed("w3:random:p=0.000001").schedule.per_million, 1u);
  EXPECT_EQ(Parsed("w3:random:p=1.5").why(), "p is a number from 0 to 1");
}

TEST(Schedule, SortsSwitches) {
  const Parsed parsed("w3:list:fair=9:2.0.7>1+0.3.0>2+0.2.5>1");
  EXPECT_EQ(parsed.why(), "");
  ASSERT_EQ(parsed.schedule.switch_count, 3u);
  EXPECT_EQ(parsed.schedule.fair, 9u);
  EXPECT_EQ(parsed.room[0].at, (Position{0, 2, 5}));
  EXPECT_EQ(parsed.room[1].at, (Position{0, 3, 0}));
  EXPECT_EQ(parsed.room[2].at, (Position{2, 0, 7}));
  EXPECT_EQ(parsed.room[2].target, 1u);
}

TEST(Schedule, PartsDelaysFromSwitches) {
  const Parsed parsed("w3:list:memory=tso:2.0.7~40+1.2.3>0+0.3.0~9+0.2.5>1");
  EXPECT_EQ(parsed.why(), "");
  EXPECT_TRUE(parsed.schedule.is_tso);
  ASSERT_EQ(parsed.schedule.switch_count, 2u);
  EXPECT_EQ(parsed.schedule.switches[0].at, (Position{0, 2, 5}));
  ASSERT_EQ(parsed.schedule.listed_delay_count, 2u);
  EXPECT_EQ(parsed.schedule.listed_delays[0].at, (Position{0, 3, 0}));
  EXPECT_EQ(parsed.schedule.listed_delays[0].delay, 9u);
  EXPECT_EQ(parsed.schedule.listed_delays[1].at, (Position{2, 0, 7}));
  EXPECT_EQ(Parsed("w3:list:0.1.2~3").why(), "a delay goes with the key memory=tso");
  EXPECT_EQ(Parsed("w3:list:memory=tso:0.1.2~0").why(), "a delay is written TASK.EVENT.STEP~STEPS");
  EXPECT_EQ(Parsed("w3:pct:memory=pso").why(), "memory is sc or tso");
}

TEST(Schedule, NamesMemoryOfWhichTheLogTells) {
  const Parsed parsed("w3:random:seed=7,p=0.5,state=0x555555558010,size=96:1.2.3>0");
  EXPECT_EQ(parsed.why(), "");
  EXPECT_EQ(parsed.schedule.state, 0x555555558010u);
  EXPECT_EQ(parsed.schedule.size, 96u);
  EXPECT_EQ(parsed.schedule.switch_count, 1u);
  EXPECT_EQ(Parsed("w3:random:state=12").why(), "state is an address, such as 0x404040");
}

TEST(Schedule, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(Parsed("random").why(), "a schedule begins with w3:");
  EXPECT_EQ(Parsed("w7:random").why(), "this version of Weir knows w3 only");
  EXPECT_EQ(Parsed("w3:list:1.2.3").why(), "a switch is written TASK.EVENT.STEP>TASK");
  EXPECT_EQ(Parsed("w3:pct:seed").why(), "a key is followed by =");
  EXPECT_EQ(Parsed("w3:pct:seed=x").why(), "a number is expected");
  EXPECT_EQ(Parsed("w3:pct:seed=1;depth=2").why(), ": or , is expected");
  const Parsed far("w3:pct:seed=1,deep=2");
  EXPECT_NE(far.why().find("there is no such key"), std::string::npos);
  EXPECT_EQ(far.at, 14u);
  EXPECT_EQ(
      Parsed("w3:list:0.0.0>1+0.0.1>1+0.0.2>1+0.0.3>1+0.0.4>1+0.0.5>1+0.0.6>1+0.0.7>1+0.0.8>1")
          .why(),
      "there are too many switches");
}

TEST(Random, IsSplitMix) {
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  uint64_t counts[10] = {};
  for (int i = 0; i < 100'000; i++) counts[random.below(10)]++;
  for (const uint64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 10'000.0, 500.0);
}

}  // namespace
}  // namespace weir::order
