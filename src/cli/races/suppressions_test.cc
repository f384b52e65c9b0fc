#include "cli/races/suppressions.h"

#include <gtest/gtest.h>

#include "cli/common/failure.h"

namespace weir::cli {
namespace {

TEST(MatchesPattern, AnywhereUnlessItIsFixed) {
  EXPECT_TRUE(matches_pattern("oo", "foobar"));
  EXPECT_TRUE(matches_pattern("^foo", "foobar"));
  EXPECT_FALSE(matches_pattern("^oo", "foobar"));
  EXPECT_TRUE(matches_pattern("bar$", "foobar"));
  EXPECT_FALSE(matches_pattern("ba$", "foobar"));
  EXPECT_TRUE(matches_pattern("^foobar$", "foobar"));
  EXPECT_FALSE(matches_pattern("^foo$", "foobar"));
  EXPECT_FALSE(matches_pattern("^fo$", "foofo"));
  EXPECT_TRUE(matches_pattern("fo$", "foofo"));
}

TEST(MatchesPattern, StarIsAnyText) {
  EXPECT_TRUE(matches_pattern("f*r", "foobar"));
  EXPECT_TRUE(matches_pattern("^f*b*r$", "foobar"));
  EXPECT_FALSE(matches_pattern("^f*x*r$", "foobar"));
  EXPECT_TRUE(matches_pattern("*", "foobar"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("^*bar$", "foobar"));
  EXPECT_TRUE(matches_pattern("^a*a$", "aa"));
  EXPECT_FALSE(matches_pattern("^a*a$", "a"));
  EXPECT_TRUE(matches_pattern("^foo*$", "foo"));
  EXPECT_TRUE(matches_pattern("ab*ab$", "abxabyab"));
}

ReportedRace race() {
  ReportedRace race;
  Frame top, below;
  top.function = "touch(int*)", top.file = "/src/table.cc", top.line = 12,
  top.module = "/usr/bin/program";
  below.function = "work", below.file = "/src/work.cc", below.line = 40,
  below.module = "/usr/lib/libwork.so";
  for (ReportedSide& side : race.sides) side.frames = {top, below};
  race.sides[1].task.name = "logger";
  race.object.has_variable = true;
  race.object.variable.name = "table[3].count";
  race.object.variable.whole = "table";
  return race;
}

bool is_suppressed(const std::string& text, const ReportedRace& what = race()) {
  Suppressions suppressions;
  suppressions.add_text(text, "list");
  return suppressions.suppress(what);
}

TEST(SuppressionsTest, EachTypeLooksWhereItSays) {
  EXPECT_TRUE(is_suppressed("race:^work$"));
  EXPECT_TRUE(is_suppressed("race:table.cc$"));
  EXPECT_TRUE(is_suppressed("race:libwork"));
  EXPECT_TRUE(is_suppressed("race:table[3]"));
  EXPECT_FALSE(is_suppressed("race:elsewhere"));
  EXPECT_TRUE(is_suppressed("race_top:^touch"));
  EXPECT_FALSE(is_suppressed("race_top:^work"));
  EXPECT_TRUE(is_suppressed("called_from_lib:libwork.so"));
  EXPECT_FALSE(is_suppressed("called_from_lib:work.cc"));
  EXPECT_TRUE(is_suppressed("thread:^logger$"));
  EXPECT_FALSE(is_suppressed("thread:work"));
  EXPECT_TRUE(is_suppressed("object:^table$"));
  EXPECT_FALSE(is_suppressed("object:work"));
  EXPECT_TRUE(is_suppressed("file:table.cc"));
  EXPECT_TRUE(is_suppressed("file:table.cc:12"));
  EXPECT_FALSE(is_suppressed("file:table.cc:13"));
  EXPECT_FALSE(is_suppressed("mutex:work\ndeadlock:work\nsignal:work"));
  EXPECT_FALSE(is_suppressed("policy:held"));
  ReportedRace policy = race();
  policy.why = findings::Why::kPolicy;
  policy.rule = "held-by-other";
  EXPECT_TRUE(is_suppressed("policy:held", policy));
}

TEST(SuppressionsTest, CommentsSpacesAndEmptyLines) {
  EXPECT_TRUE(is_suppressed("# race:\n\n   \t\r\n  race:^work$  \r\n"));
  EXPECT_FALSE(is_suppressed(""));
}

TEST(SuppressionsTest, AWrongLineIsNamed) {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      is_suppressed(text);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status, kWeirFailed);
      return failure.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refused("race:a\nnonsense\n"),
            "list:2: 'nonsense' has no colon: a suppression is TYPE:PATTERN");
  EXPECT_EQ(refused("\n\nleak:a").find("list:3: there is no type 'leak'"), 0u);
  EXPECT_EQ(refused("race:"), "list:1: the pattern is empty: it would suppress everything");
  EXPECT_EQ(refused("file:a.c:x"), "list:1: 'x' is no number of a line");
  EXPECT_EQ(refused("file:a.c:0"), "list:1: '0' is no number of a line");
  EXPECT_EQ(refused("file:a.c:99999999999"), "list:1: '99999999999' is no number of a line");
  EXPECT_EQ(refused(std::string("race:\0x", 7)), "list:1: this is no text");
}

TEST(SuppressionsTest, UnusedOnesAreNamedByTheirPlace) {
  Suppressions suppressions;
  suppressions.add_text("race:nothing\nrace:work\nmutex:m\n", "list");
  EXPECT_TRUE(suppressions.suppress(race()));
  EXPECT_EQ(suppressions.unused(),
            (std::vector<std::string>{"list:1: race:nothing", "list:3: mutex:m"}));
}

TEST(SuppressionsTest, AMissingFileIsRefused) {
  Suppressions suppressions;
  EXPECT_THROW(suppressions.add_file("/nonexistent/list"), Failure);
}

ReportedRace race_of(const std::string& variable, const std::string& function) {
  ReportedRace race;
  race.object.has_variable = !variable.empty();
  race.object.variable.name = variable;
  race.sides[1].frames.emplace_back();
  race.sides[1].frames.front().function = function;
  return race;
}

TEST(Instrumentation, WhatASanitizerKeepsForItselfIsNoneOfTheProgram) {
  EXPECT_TRUE(is_of_instrumentation(race_of("__ubsan_vptr_type_cache", "work(int)")));
  EXPECT_TRUE(is_of_instrumentation(race_of("", "__ubsan::checkDynamicType(void*, void*)")));
  EXPECT_TRUE(is_of_instrumentation(race_of("", "__sanitizer::Vector<int>::push()")));
}

TEST(Instrumentation, CountersOfCoverageAndProfilesAreNoneOfTheProgram) {
  EXPECT_TRUE(is_of_instrumentation(race_of("__gcov0.work", "work")));
  EXPECT_TRUE(is_of_instrumentation(race_of("__llvm_gcov_ctr.1", "work")));
  ReportedRace race = race_of("", "work");
  EXPECT_FALSE(is_of_instrumentation(race));
  for (const char* section : {"__llvm_prf_cnts", "__sancov_cntrs"}) {
    race.object.section = section;
    EXPECT_TRUE(is_of_instrumentation(race));
  }
  race.object.section = ".bss";
  EXPECT_FALSE(is_of_instrumentation(race));
  EXPECT_FALSE(is_of_instrumentation(race_of("profc_count", "work")));
}

TEST(Instrumentation, WhatASanitizerDoesForTheProgramIsThePrograms) {
  EXPECT_FALSE(is_of_instrumentation(race_of("table", "work(int)")));
  EXPECT_FALSE(is_of_instrumentation(race_of("", "__asan_memcpy")));
  EXPECT_FALSE(is_of_instrumentation(race_of("", "___interceptor_strcpy")));
  EXPECT_FALSE(is_of_instrumentation(race_of("__asanother", "")));
  EXPECT_FALSE(is_of_instrumentation(race_of("", "")));
}

}  // namespace
}  // namespace weir::cli
