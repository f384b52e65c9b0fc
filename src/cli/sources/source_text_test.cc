#include "cli/sources/source_text.h"

#include <gtest/gtest.h>

#include "cli/common/terminal.h"

namespace weir::cli {
namespace {

// The line with what the mark points at in brackets.
std::string marked(const SourceLine& line) {
  std::string text;
  size_t column = 0;
  for (std::string_view rest = line.text; !rest.empty();) {
    const Letter letter = first_letter(rest);
    const bool is_it = line.has_mark && column == line.mark;
    text += (is_it ? "[" : "") + std::string(rest.substr(0, letter.bytes)) + (is_it ? "]" : "");
    column += letter.columns;
    rest.remove_prefix(letter.bytes);
  }
  return text;
}

std::string shown(const std::string& line, const std::string& at) {
  return marked(source_line_shown(line, line.find_first_not_of(" \t"), line.find(at)));
}

TEST(SourceLine, TheMarkIsUnderTheByte) {
  EXPECT_EQ(shown("  total += 1;", "+="), "total [+]= 1;");
  EXPECT_EQ(shown("total", "total"), "[t]otal");
  EXPECT_EQ(shown("\tx = y;", "y"), "x = [y];");
}

TEST(SourceLine, TabsGoToEveryEighthColumnOfTheWholeLine) {
  EXPECT_EQ(shown("x\t= y;", "y"), "x       = [y];");
  EXPECT_EQ(shown("  x\t= y;", "y"), "x     = [y];");
  EXPECT_EQ(shown("\tx\t= y;", "="), "x       [=] y;");
}

TEST(SourceLine, WideLettersTakeTwoColumnsAndCombiningOnesNone) {
  EXPECT_EQ(shown("f(\"漢字\", y);", "y"), "f(\"漢字\", [y]);");
  EXPECT_EQ(source_line_shown("f(\"漢字\", y);", 0, 12).mark, 10u);
  EXPECT_EQ(source_line_shown("e\xcc\x81 = y;", 0, 6).mark, 4u);
  EXPECT_EQ(shown("größe = y;", "y"), "größe = [y];");
}

TEST(SourceLine, WhatATerminalObeysIsNotShown) {
  EXPECT_EQ(shown("a\033[31m = y;", "y"), "a?[31m = [y];");
  EXPECT_EQ(shown("a\xff = y;", "y"), "a? = [y];");
}

TEST(SourceLine, TheMarkBeforeTheTextOrBehindItIsNone) {
  EXPECT_FALSE(source_line_shown("  x", 2, 1).has_mark);
  EXPECT_FALSE(source_line_shown("  x", 2, 3).has_mark);
  EXPECT_FALSE(source_line_shown("  x", 2, std::string::npos).has_mark);
}

TEST(SourceLine, IsCutAroundTheMark) {
  std::string line;
  for (int i = 0; i < 20; i++) line += "word" + std::to_string(10 + i) + " ";
  for (const size_t columns : {12, 13, 20, 39, 40, 80, 119}) {
    for (size_t at = 0; at < line.size(); at++) {
      const SourceLine whole = source_line_shown(line, 0, at),
                       cut = source_line_cut(whole, columns);
      EXPECT_LE(display_width(cut.text), columns);
      ASSERT_TRUE(cut.has_mark);
      ASSERT_LT(cut.mark, cut.text.size());
      EXPECT_EQ(cut.text[cut.mark], line[at]) << columns << " " << at << " " << cut.text;
    }
  }
  EXPECT_EQ(source_line_cut(source_line_shown("short", 0, 2), 12).text, "short");
}

TEST(SourceLine, WideLettersAreNotHalved) {
  std::string line;
  for (int i = 0; i < 30; i++) line += i % 3 ? "漢" : "a";
  for (size_t at = 0; at < line.size(); at += at % 7 ? 3 : 1) {
    const SourceLine whole = source_line_shown(line, 0, at);
    if (!whole.has_mark) continue;
    const std::string letter =
        line.substr(at, first_letter(std::string_view(line).substr(at)).bytes);
    for (size_t columns = 12; columns < 30; columns++) {
      const SourceLine cut = source_line_cut(whole, columns);
      EXPECT_LE(display_width(cut.text), columns);
      EXPECT_NE(marked(cut).find("[" + letter + "]"), std::string::npos) << marked(cut);
    }
  }
}

}  // namespace
}  // namespace weir::cli
