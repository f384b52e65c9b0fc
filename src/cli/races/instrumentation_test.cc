#include "cli/races/instrumentation.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

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

TEST(Instrumentation, WhatASanitizerDoesForTheProgramIsThePrograms) {
  EXPECT_FALSE(is_of_instrumentation(race_of("table", "work(int)")));
  EXPECT_FALSE(is_of_instrumentation(race_of("", "__asan_memcpy")));
  EXPECT_FALSE(is_of_instrumentation(race_of("", "___interceptor_strcpy")));
  EXPECT_FALSE(is_of_instrumentation(race_of("__asanother", "")));
  EXPECT_FALSE(is_of_instrumentation(race_of("", "")));
}

}  // namespace
}  // namespace weir::cli
