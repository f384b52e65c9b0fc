#include "cli/command_line/spelling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace weir::cli {
namespace {

// By its definition: the last letters are the same, or one of the four changes is made at the end.
size_t naive(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const auto less = [](std::string_view text, size_t letters = 1) {
    return text.substr(0, text.size() - letters);
  };
  size_t best = std::min({naive(less(a), b) + 1, naive(a, less(b)) + 1,
                          naive(less(a), less(b)) + (a.back() != b.back())});
  if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && a[a.size() - 2] == b.back())
    best = std::min(best, naive(less(a, 2), less(b, 2)) + 1);
  return best;
}

TEST(Spelling, DistanceIsThatOfItsDefinition) {
  std::vector<std::string> words = {""};
  for (size_t i = 0; words[i].size() < 4; i++) {
    for (const char letter : {'a', 'b', 'c'}) words.push_back(words[i] + letter);
  }
  for (size_t i = 0; i < words.size(); i += 3) {
    for (size_t j = 0; j < words.size(); j += 5)
      EXPECT_EQ(edit_distance(words[i], words[j]), naive(words[i], words[j]))
          << words[i] << " " << words[j];
  }
}

TEST(Spelling, FindsWhatWasMeant) {
  const std::vector<std::string> commands = {"run", "det",  "stat",   "check", "record", "replay",
                                             "ls",  "dump", "verify", "rm",    "doctor", "help"};
  EXPECT_EQ(nearest("chek", commands), "check");
  EXPECT_EQ(nearest("hcekc", commands), "");
  EXPECT_EQ(nearest("recrod", commands), "record");
  EXPECT_EQ(nearest("rec", commands), "record");
  EXPECT_EQ(nearest("doc", commands), "doctor");
  EXPECT_EQ(nearest("dte", commands), "det");
  EXPECT_EQ(nearest("bogus", commands), "");
  EXPECT_EQ(nearest("x", commands), "");
  EXPECT_EQ(nearest("", commands), "");
  EXPECT_EQ(nearest("--stat-jsn", {"--stat", "--stat-json", "--log"}), "--stat-json");
  EXPECT_EQ(nearest("--", {"--stat", "--log"}), "");
  EXPECT_EQ(did_you_mean("chek", commands), ": did you mean check?");
  EXPECT_EQ(did_you_mean("bogus", commands), "");
}

}  // namespace
}  // namespace weir::cli
