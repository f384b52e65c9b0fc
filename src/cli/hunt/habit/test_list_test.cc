#include "cli/hunt/habit/test_list.h"

#include <gtest/gtest.h>

#include "cli/common/failure.h"

namespace weir::cli::hunt {
namespace {

std::vector<std::string> names(const std::vector<ListedTest>& tests) {
  std::vector<std::string> all;
  for (const ListedTest& test : tests) all.push_back(test.name);
  return all;
}

TEST(GoogletestList, SuitesAndTheirTests) {
  const auto tests = googletest_list(
      "Running main() from gmock_main.cc\n"
      "Queue.\n"
      "  Wakes\n"
      "  WakesAll\n"
      "Typed/0.  # TypeParam = int\n"
      "  Holds\n"
      "Many/Values.\n"
      "  Sum/0  # GetParam() = (1, 2)\n"
      "  Sum/1  # GetParam() = (3, 4)\n");
  EXPECT_EQ(names(tests),
            (std::vector<std::string>{"Queue.Wakes", "Queue.WakesAll", "Typed/0.Holds",
                                      "Many/Values.Sum/0", "Many/Values.Sum/1"}));
  EXPECT_EQ(tests[1].arguments, (std::vector<std::string>{"--gtest_filter=Queue.WakesAll"}));
}

TEST(GoogletestList, DisabledTestsAreLeftOut) {
  EXPECT_EQ(names(googletest_list("DISABLED_All.\n  One\nSome.\n  DISABLED_One\n  Two\n")),
            (std::vector<std::string>{"Some.Two"}));
}

TEST(GoogletestList, OtherOutputIsNoList) {
  EXPECT_TRUE(googletest_list("").empty());
  EXPECT_TRUE(googletest_list("usage: prog [options]\n  -h  help\n  --version\n").empty());
  EXPECT_TRUE(googletest_list("Done.\r\n").empty());
  EXPECT_TRUE(googletest_list("  Test without a suite\n  Alone\n").empty());
}

TEST(GoogletestList, LinesOfWindowsCount) {
  EXPECT_EQ(names(googletest_list("Queue.\r\n  Wakes\r\n")),
            (std::vector<std::string>{"Queue.Wakes"}));
}

TEST(CatchList, NamesAsFilters) {
  const auto tests = catch_list(
      "All available test cases:\n"
      "one thread\n"
      "two threads, [fast]\n"
      "a * b\n"
      "~odd \\ name\n"
      "\n");
  EXPECT_EQ(names(tests), (std::vector<std::string>{"one thread", "two threads, [fast]", "a * b",
                                                    "~odd \\ name"}));
  EXPECT_EQ(tests[1].arguments, (std::vector<std::string>{"two threads\\, \\[fast]"}));
  EXPECT_EQ(tests[2].arguments, (std::vector<std::string>{"a \\* b"}));
  EXPECT_EQ(tests[3].arguments, (std::vector<std::string>{"\\~odd \\\\ name"}));
}

TEST(CatchList, IndentedLinesAreNoNames) {
  EXPECT_EQ(names(catch_list("one\n      [tag]\n  more of it\n")),
            (std::vector<std::string>{"one"}));
}

TEST(TestsIn, AProgramThatIsNoTestIsRefused) {
  EXPECT_THROW(tests_in("/bin/true", {"true"}), Failure);
  EXPECT_THROW(tests_in("/nowhere/at/all", {"all"}), Failure);
}

}  // namespace
}  // namespace weir::cli::hunt
