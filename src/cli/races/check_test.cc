// Reports of races that are made by hand: this process stands for the program, its own functions
// and variables for the program's. That the compiler leaves them as they are is told to it, not
// hoped for.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "cli/common/failure.h"
#include "cli/races/check_fixture_test.h"
#include "cli/races/checker.h"

namespace weir::cli {
namespace {

using namespace findings;

TEST_F(CheckTest, ANameAndALineForEachFrameOfBothSides) {
  const ReportedRace race = read(race_on(&g_table[3].count));
  ASSERT_GE(race.sides[0].frames.size(), 3u);
  EXPECT_EQ(race.sides[0].frames[0].function, "weir::cli::inner_place(weir::cli::CheckTest*)");
  EXPECT_EQ(race.sides[0].frames[1].function, "weir::cli::outer_place(weir::cli::CheckTest*)");
  EXPECT_TRUE(race.sides[0].frames[0].file.ends_with("src/cli/races/check_fixture_test.cc"))
      << race.sides[0].frames[0].file;
  EXPECT_EQ(race.sides[0].frames[0].line, g_inner_line);
  EXPECT_GT(race.sides[0].frames[0].column, 0);
}

TEST_F(CheckTest, AMemberOfAnElementOfAStaticArray) {
  const ReportedRace race = read(race_on(&g_table[3].count));
  ASSERT_TRUE(race.object.has_variable);
  EXPECT_EQ(race.object.variable.name, "weir::cli::g_table[3].count");
  EXPECT_EQ(race.object.variable.type, "int");
  EXPECT_EQ(race.object.variable.size, sizeof g_table);
  EXPECT_EQ(race.object.kind, ObjectKind::kStatic);
  EXPECT_TRUE(race.object.variable.has_type);
  EXPECT_FALSE(race.object.variable.is_atomic);
}

TEST_F(CheckTest, PartsOfTypes) {
  const auto name = [&](const void* at) { return read(race_on(at)).object.variable.name; };
  EXPECT_EQ(name(&g_matrix[2][1]), "weir::cli::g_matrix[2][1]");
  EXPECT_EQ(name(&g_table[0].either.whole), "weir::cli::g_table[0].either.whole");
  EXPECT_EQ(name(&g_derived.own), "weir::cli::g_derived.own");
  EXPECT_EQ(name(&g_derived.inherited), "weir::cli::g_derived.inherited");
  EXPECT_EQ(name(&g_table[1].inside), "weir::cli::g_table[1].inside");
}

TEST_F(CheckTest, AtomicTypesAreTold) {
  const auto variable = [&](const void* at) { return read(race_on(at)).object.variable; };
  EXPECT_TRUE(variable(&g_mixed.flag).is_atomic);
  EXPECT_FALSE(variable(&g_mixed.plain).is_atomic);
  EXPECT_TRUE(variable(&g_mixed.either).is_atomic);  // a union with an atomic member
  EXPECT_TRUE(variable(&g_once).is_atomic);
}

// Under the address sanitizer a variable does not lie where debug information says.
__attribute__((noinline, no_sanitize("address"))) ReportedRace race_on_variable_of_function(
    CheckTest* from) {
  int local = 0;
  Race race = from->race_on(&local);
  race.object.kind = ObjectKind::kStack;
  race.object.task = 1;
  race.sides[0].context = race.sides[1].context = from->capture();
  const ReportedRace made = from->read(race);
  EXPECT_EQ(local, 0);
  return made;
}

TEST_F(CheckTest, AVariableOnAStackBelongsToAFunction) {
  const ReportedRace made = race_on_variable_of_function(this);
  ASSERT_TRUE(made.object.has_variable);
  EXPECT_EQ(made.object.variable.name, "local");
  EXPECT_NE(made.object.variable.function.find("race_on_variable_of_function"), std::string::npos);
}

TEST_F(CheckTest, AContextOfACallIsThatCall) {
  const uint32_t call = context_of_call();
  Race race = race_on(&g_table[0].count);
  race.sides[0].context = call;
  const ReportedRace made = read(race);
  ASSERT_FALSE(made.sides[0].frames.empty());
  EXPECT_EQ(made.sides[0].frames[0].line, g_call_line);
}

TEST_F(CheckTest, WithoutDebugInformationThereAreSymbols) {
  const ReportedRace race = read(race_on(&g_table[3].count), false);
  EXPECT_TRUE(race.sides[0].frames[0].file.empty());
  EXPECT_EQ(race.sides[0].frames[0].function, "weir::cli::inner_place(weir::cli::CheckTest*)");
  ASSERT_TRUE(race.object.has_variable);
  EXPECT_EQ(race.object.variable.name, "weir::cli::g_table");
  EXPECT_EQ(race.object.variable.offset,
            reinterpret_cast<uintptr_t>(&g_table[3].count) - reinterpret_cast<uintptr_t>(g_table));
}

TEST_F(CheckTest, TextSaysAll) {
  Race race = race_on(&g_table[3].count);
  race.sides[0].lock_count = 1;
  race.sides[0].locks[0] = reinterpret_cast<uint64_t>(&g_mutex);
  const std::string text = race_text(read(race));
  for (const char* part :
       {"data race: weir::cli::g_table[3].count: read at ", "first: write of 4 bytes at 0x",
        "by thread T1 \"worker\" (created at ", "by the main thread)", "then: read of 4 bytes",
        "#0 weir::cli::inner_place", "holding weir::cli::g_mutex (mutex at 0x",
        "a static variable declared at ", "why: nothing orders them",
        " | const uint32_t index = from->capture();"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  for (size_t line = text.find('\n'); line != std::string::npos; line = text.find('\n', line + 1))
    EXPECT_EQ(text[line + 1], ' ') << text;
}

TEST_F(CheckTest, AHeapBlockAndWhereItWasAllocated) {
  Race race = race_on(reinterpret_cast<void*>(0x7ffe00001010));
  race.object = {ObjectKind::kHeap, race.sides[0].context, 1, 0, 0x7ffe00001000, 64};
  const ReportedRace made = read(race);
  EXPECT_FALSE(made.object.allocated_at.empty());
  EXPECT_NE(
      race_text(made).find("object: byte 16 of a heap block of 64 bytes at 0x7ffe00001000, "
                           "allocated by thread T1 \"worker\" at\n    #0 weir::cli::inner_place"),
      std::string::npos)
      << race_text(made);
}

TEST_F(CheckTest, ALostContextIsSaid) {
  Race race = race_on(&g_table[3].count);
  race.sides[0].context = kNoContext;
  EXPECT_NE(race_text(read(race)).find("is not known any more"), std::string::npos);
}

TEST_F(CheckTest, RulesOfPoliciesHaveWords) {
  Race race = race_on(&g_table[3].count);
  race.why = Why::kPolicy;
  race.object.policy = 7;  // locked
  for (uint32_t fault = 1; fault <= 8; fault++) {
    race.fault = fault;
    const ReportedRace made = read(race);
    EXPECT_NE(made.rule, "policy");
    EXPECT_NE(race_text(made).find("policy: declared as locked"), std::string::npos);
  }
  race.why = Why::kMisuse;
  race.change = 1;
  race.sides[0].kind = 0;
  for (uint32_t misuse = 1; misuse <= static_cast<uint32_t>(Misuse::kLockedGone); misuse++) {
    race.fault = misuse;
    EXPECT_NE(read(race).rule, "misuse");
  }
  race.fault = static_cast<uint32_t>(Misuse::kTooMany);
  EXPECT_NE(race_text(read(race))
                .find("wrong annotation: weir::cli::g_table[3].count: acquire for writing at "),
            std::string::npos)
      << race_text(read(race));
}

TEST_F(CheckTest, EachPairOfLinesIsReportedOnce) {
  for (int i = 0; i < 4; i++) add(race_on(&g_table[i].count));
  add(race_on(&g_matrix[0][0]));
  Checker checker = make_checker("text");
  EXPECT_TRUE(checker.take());
  EXPECT_FALSE(checker.take());
  EXPECT_EQ(checker.reported(), 2u);
  checker.finish();
  const std::string text = log();
  EXPECT_NE(text.find("weir: 2 races found; 0 accesses to 0 shared pages were looked at\n"
                      "  met 4 times: weir::cli::g_table[0].count"),
            std::string::npos)
      << text;
}

TEST_F(CheckTest, APairThatMayBeAtomicIsNotReported) {
  Race race = race_on(&g_mixed.flag);
  race.sides[0].kind = kWrite | kMayBeAtomic;
  race.sides[1].kind = kRead | kAtomic;
  add(race);
  Checker checker = make_checker("text", true);
  EXPECT_FALSE(checker.take());
  checker.finish();
  EXPECT_EQ(checker.reported(), 0u);
  EXPECT_NE(log().find("weir: 1 pair of accesses may be atomic operations: not reported "
                       "(weir::cli::g_mixed.flag is atomic (1))"),
            std::string::npos)
      << log();
}

TEST_F(CheckTest, APlainMoveThatDebugInformationProves) {
  Race race = race_on(&g_table[3].count);
  race.sides[0].kind = kWrite | kMayBeAtomic;
  race.sides[1].kind = kRead | kMayBeAtomic;
  add(race);
  Checker checker = make_checker("text");
  EXPECT_TRUE(checker.take());
  Checker blind = make_checker("text", false, false);
  EXPECT_FALSE(blind.take());
}

TEST_F(CheckTest, Json) {
  add(race_on(&g_table[3].count));
  Checker checker = make_checker("json");
  checker.take();
  checker.finish();
  const auto report = nlohmann::json::parse(output());
  EXPECT_EQ(report["schema"], 1);
  EXPECT_EQ(report["tool"]["name"], "weir");
  EXPECT_EQ(report["program"], nlohmann::json({"./program", "word"}));
  ASSERT_EQ(report["races"].size(), 1u);
  const auto& race = report["races"][0];
  EXPECT_EQ(race["rule"], "data-race");
  EXPECT_EQ(race["sides"].size(), 2u);
  EXPECT_EQ(race["sides"][0]["writes"], true);
  EXPECT_EQ(race["sides"][0]["thread"]["name"], "worker");
  EXPECT_EQ(race["sides"][0]["stack"][0]["function"],
            "weir::cli::inner_place(weir::cli::CheckTest*)");
  EXPECT_EQ(race["object"]["name"], "weir::cli::g_table[3].count");
}

TEST_F(CheckTest, Sarif) {
  add(race_on(&g_table[3].count));
  Checker checker = make_checker("sarif");
  checker.take();
  checker.finish();
  const auto report = nlohmann::json::parse(output());
  EXPECT_EQ(report["version"], "2.1.0");
  const auto& run = report["runs"].at(0);
  EXPECT_EQ(run["tool"]["driver"]["rules"].at(0)["id"], "data-race");
  EXPECT_EQ(run["invocations"].at(0)["executionSuccessful"], true);
  const auto& result = run["results"].at(0);
  EXPECT_EQ(result["ruleId"], "data-race");
  EXPECT_EQ(result["locations"].at(0)["physicalLocation"]["region"]["startLine"], g_inner_line);
  EXPECT_EQ(result["codeFlows"].at(0)["threadFlows"].size(), 2u);
  EXPECT_EQ(result["relatedLocations"].size(), 2u);
  EXPECT_EQ(result["stacks"].size(), 2u);
}

TEST_F(CheckTest, SuppressedRacesAreCounted) {
  add(race_on(&g_table[3].count));
  Suppressions suppressions;
  suppressions.add_text("race:nothing_like_it\nobject:g_table[3]\n", "list");
  Checker checker = make_checker("text", true, true, std::move(suppressions));
  EXPECT_FALSE(checker.take());
  checker.finish();
  EXPECT_NE(log().find("weir: unused suppression: list:1: race:nothing_like_it\n"),
            std::string::npos)
      << log();
  EXPECT_NE(log().find("weir: 0 races found, 1 suppressed; "), std::string::npos) << log();
}

TEST_F(CheckTest, DamagedMemoryIsSurvived) {
  uint64_t state = 88172645463325252;  // xorshift
  const auto next = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  };
  for (int round = 0; round < 5; round++) {
    Findings& memory = findings();
    memory.races = static_cast<uint32_t>(round % 5 == 0 ? next() : 3);
    memory.modules = static_cast<uint32_t>(round % 3 == 0 ? next() : memory.modules);
    for (int i = 0; i < 3; i++) {
      Race race = race_on(&g_table[3].count);
      for (int j = 0; j < 4; j++)
        reinterpret_cast<uint32_t*>(&race)[next() % (sizeof race / 4)] =
            static_cast<uint32_t>(next());
      race.ready = 1;
      memory.race[i] = race;
    }
    for (int i = 0; i < 8; i++) {
      Context& context = memory.context[1 + next() % 4];
      reinterpret_cast<uint32_t*>(&context)[next() % (sizeof context / 4)] =
          static_cast<uint32_t>(next());
      memset(memory.module[20 + i].path, 'x', sizeof memory.module[0].path);
      memory.module[20 + i].path[0] = '/';
      memory.module[20 + i].ready = 1;
      memory.module[20 + i].start = next(), memory.module[20 + i].limit = next();
      memset(memory.task[next() % 3].name, static_cast<int>(next()), 16);
    }
    for (const char* format : {"text", "json", "sarif"}) {
      Checker checker = make_checker(format, true);
      checker.take();
      checker.finish();
      EXPECT_TRUE(std::string(format) == "text" || nlohmann::json::accept(output()));
    }
  }
}

}  // namespace
}  // namespace weir::cli
