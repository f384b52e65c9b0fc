#include "cli/sources/conditions.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

using Words = std::vector<std::string>;

// What stands in the branch of `#if words`, and in its #else.
std::pair<bool, bool> branches(const Words& words) {
  Conditions conditions;
  EXPECT_TRUE(conditions.take("if", words));
  const bool first = conditions.is_live();
  EXPECT_TRUE(conditions.take("else", {}));
  return {first, conditions.is_live()};
}

constexpr std::pair kNever(false, true), kAlways(true, false), kUnknown(true, true);

TEST(Conditions, MacrosOfOtherSystems) {
  EXPECT_EQ(branches({"defined", "_WIN32"}), kNever);
  EXPECT_EQ(branches({"defined", "(", "_WIN32", ")"}), kNever);
  EXPECT_EQ(branches({"!", "defined", "(", "_WIN32", ")"}), kAlways);
  EXPECT_EQ(branches({"defined", "(", "__linux__", ")"}), kAlways);
  EXPECT_EQ(branches({"_WIN32"}), kNever);
  EXPECT_EQ(branches({"defined", "(", "HAVE_CONFIG_H", ")"}), kUnknown);
  EXPECT_EQ(branches({"HAVE_CONFIG_H"}), kUnknown);
  EXPECT_EQ(branches({"0"}), kNever);
  EXPECT_EQ(branches({"1"}), kAlways);
}

TEST(Conditions, Expressions) {
  EXPECT_EQ(branches({"defined", "_WIN32", "|", "|", "defined", "__APPLE__"}), kNever);
  EXPECT_EQ(branches({"defined", "_WIN32", "|", "|", "defined", "OTHER"}), kUnknown);
  EXPECT_EQ(branches({"defined", "_WIN32", "|", "|", "defined", "__unix__"}), kAlways);
  EXPECT_EQ(branches({"defined", "(", "_MSC_VER", ")", "&", "&", "_MSC_VER", ">", "1900"}), kNever);
  EXPECT_EQ(branches({"OTHER", ">", "2", "&", "&", "defined", "_WIN32"}), kNever);
  EXPECT_EQ(branches({"__GNUC__", ">", "=", "4"}), kUnknown);
  EXPECT_EQ(branches({"!", "(", "defined", "A", "|", "|", "defined", "__linux__", ")"}), kNever);
  EXPECT_EQ(branches({"__has_include", "(", "<", "x", ">", ")"}), kUnknown);
  EXPECT_EQ(branches({"(", "defined", "_WIN32"}), kUnknown);
  EXPECT_EQ(branches({}), kUnknown);
}

TEST(Conditions, NestedAndInTurn) {
  Conditions conditions;
  conditions.take("ifdef", {"_WIN32"});
  EXPECT_FALSE(conditions.is_live());
  conditions.take("if", {"1"});
  EXPECT_FALSE(conditions.is_live());
  conditions.take("endif", {});
  conditions.take("elif", {"defined", "(", "__linux__", ")"});
  EXPECT_TRUE(conditions.is_live());
  conditions.take("elif", {"OTHER"});
  EXPECT_FALSE(conditions.is_live());
  conditions.take("endif", {});
  EXPECT_TRUE(conditions.is_live());
  EXPECT_FALSE(conditions.take("define", {"X"}));
  conditions.take("endif", {});  // one too many
  conditions.take("else", {});
  EXPECT_TRUE(conditions.is_live());
  conditions.take("ifndef", {"_WIN32"});
  EXPECT_TRUE(conditions.is_live());
}

}  // namespace
}  // namespace weir::cli
