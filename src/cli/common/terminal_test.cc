#include "cli/common/terminal.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace weir::cli {
namespace {

TEST(Terminal, WidthOfLetters) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("plain"), 5u);
  EXPECT_EQ(display_width("größe"), 5u);
  EXPECT_EQ(display_width("漢字"), 4u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u);  // a combining accent
  EXPECT_EQ(display_width("\xff\xfe"), 2u);   // no UTF-8
  EXPECT_EQ(display_width("\xe6\xbc"), 2u);   // the beginning of a letter
}

TEST(Terminal, TextIsWrappedAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 80, 4), "one two three");
  EXPECT_EQ(wrapped("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 10, 6), "one\n      two\n      three");
  EXPECT_EQ(wrapped("incomprehensibilities", 5, 2), "incomprehensibilities");
  EXPECT_EQ(wrapped("a\n\nb c", 3, 2), "a\n\n  b\n  c");
  EXPECT_EQ(wrapped("a\n  stays as it is", 5, 0), "a\n  stays as it is");
  EXPECT_EQ(wrapped("漢字 漢字", 8, 0), "漢字\n漢字");
  EXPECT_EQ(wrapped("漢字 漢字", 9, 0), "漢字 漢字");
}

class Variables : public testing::Test {
 protected:
  Variables() {
    unsetenv("NO_COLOR");
    unsetenv("CLICOLOR_FORCE");
  }
  ~Variables() override {
    unsetenv("NO_COLOR");
    unsetenv("CLICOLOR_FORCE");
    unsetenv("COLUMNS");
  }
};

TEST_F(Variables, ColoursInNoFileUnlessTheyAreForced) {
  const int file = fileno(tmpfile());
  EXPECT_FALSE(has_colours(file));
  setenv("CLICOLOR_FORCE", "0", 1);
  EXPECT_FALSE(has_colours(file));
  setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_TRUE(has_colours(file));
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(has_colours(file));
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(has_colours(file));
}

TEST_F(Variables, PaintIsTakenOffBehindTheText) {
  EXPECT_EQ(painted(Paint::kBad, "race", true), "\033[1;31mrace\033[0m");
  EXPECT_EQ(painted(Paint::kBad, "race", false), "race");
  EXPECT_EQ(painted(Paint::kPlain, "race", true), "race");
}

}  // namespace
}  // namespace weir::cli
