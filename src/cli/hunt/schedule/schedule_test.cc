#include "cli/hunt/schedule/schedule.h"

#include <gtest/gtest.h>

#include "cli/common/failure.h"
#include "cli/hunt/schedule/schedule_log.h"

namespace weir::cli::hunt {
namespace {

std::string refusal(const std::string& text) {
  try {
    parsed_schedule(text);
  } catch (const Failure& failure) { return failure.what(); }
  return "";
}

TEST(Schedule, ReadsWhatItWrites) {
  for (const char* text :
       {"w3:default", "w3:pct:seed=7,depth=3,length=1000", "w3:random:seed=1,p=0.01", "w3:list",
        "w3:list:2.14.350>1", "w3:list:2.14.350>1+1.20.0>2", "w3:list:fair=500,points=all:1.2.3>4",
        "w3:list:memory=tso:1.2.3>4+0.1.0~40", "w3:surw:at=0x40,counts=1.2"}) {
    EXPECT_EQ(parsed_schedule(text).text(), text);
  }
  const Schedule schedule = parsed_schedule("w3:list:2.14.350>1+1.20.0>2");
  EXPECT_EQ(schedule.switches.front(), (Switch{2, 14, 350, 1}));
  EXPECT_EQ(listed(schedule.switches), schedule);
  const Switches delayed = parsed_schedule("w3:list:memory=tso:0.1.2~40").switches;
  EXPECT_EQ(delayed.front(), (Switch{0, 1, 2, 0, 40}));
  EXPECT_TRUE(delayed.front().is_delay());
}

TEST(Schedule, WhatIsNoneIsRefusedWithTheReason) {
  EXPECT_NE(refusal("w1:default").find("version w1"), std::string::npos);
  EXPECT_NE(refusal("default").find("begins with w3:"), std::string::npos);
  EXPECT_NE(refusal("w3").find("w3:NAME"), std::string::npos);
  EXPECT_NE(refusal("w3:best").find("no strategy 'best'"), std::string::npos);
  EXPECT_NE(refusal("w3:list:1.2>3").find("not T.E.I>U"), std::string::npos);
  EXPECT_NE(refusal("w3:list:1.2.3>4+1.2.x>4").find("'1.2.x>4'"), std::string::npos);
  EXPECT_NE(refusal("w3:list:1.2.3~0").find("T.E.I~N"), std::string::npos);
  EXPECT_NE(refusal("w3:pct:seed").find("not key=value"), std::string::npos);
  EXPECT_NE(refusal("w3:pct:seed=1:1.1.1>1:x").find("w3:NAME"), std::string::npos);
}

constexpr const char* kText =
    "weir-schedule 1\n"
    "schedule w3:pct:seed=7,depth=2\n"
    "list w3:list:2.14.350>1\n"
    "task 2 0 0x555555555189 /tmp/a b/program+0x1189\n"
    "name 2 my worker\n"
    "switch 1 1.5.0 2 block 0x7ffff7c81234 /lib/libc.so.6+0x81234\n"
    "switch 2 2.14.350 1 preempt 0x5555555551a0 /tmp/a b/program+0x11a0\n"
    "switch 3 1.9.3 2 end 0 -\n"
    "delay 0 1 2.14.349~40 0x404060 4 0x1 3 0x5555555551a0 /tmp/a b/program+0x11a0\n"
    "visible 0 2 2.14.352 fence 0x5555555551c0 /tmp/a b/program+0x11c0\n"
    "task-steps 7.30.3\ntask-events 2.3.4\nshared 0x404040 1.0.5\n"
    "steps 40\nevents 30\ninstructions 20000\ntasks 2\nswitches 3\nnot-followed 1\n"
    "something new\n"
    "end deadlock\n"
    "waits 1 mutex 0x404040 for 2\n"
    "waits 2 condition 0x404080\n";

TEST(ScheduleLog, HoldsSwitchesCountsAndTheEnd) {
  const ScheduleLog log = parsed_log(kText);
  EXPECT_EQ(log.schedule, "w3:pct:seed=7,depth=2");
  EXPECT_EQ(log.list, "w3:list:2.14.350>1");
  ASSERT_EQ(log.switches.size(), 3u);
  EXPECT_EQ(log.switches[1].at, (Switch{2, 14, 350, 1}));
  EXPECT_EQ(log.switches[1].reason, "preempt");
  EXPECT_EQ(log.switches[1].place.module, "/tmp/a b/program");
  EXPECT_EQ(log.switches[1].place.offset, 0x11a0u);
  EXPECT_TRUE(log.switches[2].place.module.empty());
  ASSERT_EQ(log.delays.size(), 1u);
  EXPECT_EQ(log.delays[0].at, (Switch{2, 14, 349, 0, 40}));
  EXPECT_EQ(log.delays[0].after, 1u);
  EXPECT_EQ(log.delays[0].address, 0x404060u);
  EXPECT_EQ(log.delays[0].size, 4u);
  EXPECT_EQ(log.delays[0].value, 1u);
  EXPECT_EQ(log.delays[0].place.offset, 0x11a0u);
  EXPECT_EQ(log.delays[0].cause, "fence");
  EXPECT_EQ(log.delays[0].visible_after, 2u);
  EXPECT_EQ(log.delays[0].visible_at.offset, 0x11c0u);
  EXPECT_EQ(log.task_steps, "7.30.3");
  EXPECT_EQ(log.task_events, "2.3.4");
  ASSERT_EQ(log.shared.size(), 1u);
  EXPECT_EQ(log.shared[0].address, 0x404040u);
  EXPECT_EQ(log.shared[0].counts, "1.0.5");
  EXPECT_EQ(log.instructions, 20000u);
  EXPECT_EQ(log.tasks, 2u);
  EXPECT_EQ(log.not_followed, 1u);
  EXPECT_EQ(log.end, ScheduleLog::End::kDeadlock);
  ASSERT_EQ(log.waits.size(), 2u);
  EXPECT_TRUE(log.waits[0].has_holder);
  EXPECT_EQ(log.waits[0].holder, 2u);
  EXPECT_FALSE(log.waits[1].has_holder);
  EXPECT_EQ(log.named.at(2).name, "my worker");
  EXPECT_EQ(log.named.at(2).start.offset, 0x1189u);
}

TEST(ScheduleLog, CutAtEveryByteIsReadAsFarAsItGoes) {
  const std::string text = kText;
  for (size_t size = 0; size < text.size(); size++) {
    const ScheduleLog log = parsed_log(text.substr(0, size));
    EXPECT_LE(log.switches.size(), 3u);
    EXPECT_EQ(log.has_begun, size > 15) << size;
  }
}

TEST(ScheduleLog, OfAnotherVersionIsRefused) {
  EXPECT_THROW(parsed_log("weir-schedule 2\n"), Failure);
  EXPECT_THROW(parsed_log("something\n"), Failure);
}

constexpr const char* kPlace =
    "place switch 0 1 0x1129 0x4040 0,1,2,3,7fff0,5,6,7,8,9,a,b,c,d,e,f 10..20\n";

TEST(ScheduleLog, DetailSaysStacksTouchesAndFiles) {
  const ScheduleLog log = parsed_log(std::string("weir-schedule 1\n") + kPlace +
                                     "place start 2 0 0x10 0x0 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n"
                                     "place run 2 0 0x11 0x0 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 1\n"
                                     "place run 2 0 0x12 0x0 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 1\n"
                                     "touch 3 1 w 4 0x404040 0x401136\n"
                                     "map 0x400000 0x401000 0x1000 /tmp/a b/program\n"
                                     "block 0x500000 0x500040\ntouches-cut\nend exit 0\n");
  const LoggedStack& stack = log.stacks.at(0);
  EXPECT_TRUE(stack.is_call);
  EXPECT_EQ(stack.rip, 0x1129u);
  EXPECT_EQ(stack.object, 0x4040u);
  EXPECT_EQ(stack.registers[4], 0x7fff0u);
  EXPECT_EQ(stack.registers[15], 0xfu);
  ASSERT_EQ(stack.bytes.size(), 24u);
  EXPECT_EQ(stack.bytes[0], 0x10);
  EXPECT_EQ(stack.bytes[8], 0);
  EXPECT_EQ(stack.bytes[16], 0x20);
  EXPECT_TRUE(log.starts.at(2).bytes.empty());
  EXPECT_EQ(log.runs.count(2), 2u);
  ASSERT_EQ(log.touches.size(), 1u);
  EXPECT_TRUE(log.touches[0].is_write);
  EXPECT_EQ(log.touches[0].changes, 3u);
  EXPECT_EQ(log.touches[0].rip, 0x401136u);
  ASSERT_EQ(log.code.size(), 1u);
  EXPECT_EQ(log.code[0].path, "/tmp/a b/program");
  ASSERT_EQ(log.blocks.size(), 1u);
  EXPECT_FALSE(log.has_all_touches);
  EXPECT_TRUE(log.has_detail());
}

TEST(ScheduleLog, AStepThatReadsAndWritesUpdates) {
  const ScheduleLog log = parsed_log(
      "weir-schedule 1\n"
      "touch 0 1 r 4 0x404040 0x401136\ntouch 0 1 w 4 0x404040 0x401136\n"
      "touch 0 1 r 4 0x404040 0x401136\ntouch 1 2 w 4 0x404040 0x401136\n"
      "touch 2 1 w 4 0x404040 0x401136\n"
      "end exit 0\n");
  std::vector<bool> updates;
  for (const LoggedTouch& touch : log.touches) updates.push_back(touch.is_update);
  EXPECT_EQ(updates, (std::vector<bool>{true, true, false, false, false}));
}

TEST(ScheduleLog, LinesThatMakeNoSenseArePassedOver) {
  for (const char* const line : {"place",
                                 "place switch",
                                 "place switch x 1 0 0 0",
                                 "place switch 0 1",
                                 "place switch 0 1 0x1 0x0 1,2,3 10",
                                 "place switch 0 1 0x1 0x0 0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f,10 10",
                                 "place switch 0 1 0x1 0x0 0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,g 10",
                                 "place switch 0 1 0x1 0x0 0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f 10.zz",
                                 "place somewhere 0 1 0x1 0x0 0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f 1",
                                 "touch",
                                 "touch 1 2 w",
                                 "touch 1 2 w 0 0x1 0x2",
                                 "map",
                                 "map 5 4 0 /a",
                                 "map 4 5 0",
                                 "block",
                                 "block 9 8",
                                 "task",
                                 "task x",
                                 "name"}) {
    const ScheduleLog log = parsed_log("weir-schedule 1\n" + std::string(line) + "\nend exit 3\n");
    EXPECT_TRUE(log.stacks.empty() && log.starts.empty() && log.ends.empty() && log.runs.empty())
        << line;
    EXPECT_TRUE(log.touches.empty() && log.code.empty() && log.blocks.empty()) << line;
    EXPECT_TRUE(log.named.empty()) << line;
    EXPECT_EQ(log.status, 3) << line;
  }
}

TEST(ScheduleLog, AStackThatIsTooLongIsPassedOver) {
  std::string line = kPlace;
  line.pop_back();
  for (int i = 0; i < 9000; i++) line += ".1";
  EXPECT_TRUE(parsed_log("weir-schedule 1\n" + line + "\n").stacks.empty());
}

}  // namespace
}  // namespace weir::cli::hunt
