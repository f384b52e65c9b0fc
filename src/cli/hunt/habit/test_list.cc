#include "cli/hunt/habit/test_list.h"

#include <fmt/format.h>
#include <unistd.h>

#include <sstream>

#include "cli/common/child_output.h"
#include "cli/common/failure.h"

namespace weir::cli::hunt {
namespace {

std::string without_comment(const std::string& line) {
  std::string text = line.substr(0, line.find('#'));
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string asked(const std::string& path, std::vector<std::string> words,
                  const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return output_of([&] { execv(path.c_str(), arguments.data()); });
}

}  // namespace

std::vector<ListedTest> googletest_list(const std::string& text) {
  std::vector<ListedTest> tests;
  std::istringstream lines(text);
  std::string line, suite;
  while (std::getline(lines, line)) {
    const std::string name = without_comment(line);
    if (name.empty()) continue;
    if (!name.starts_with(' ')) {
      suite = name.ends_with('.') && name.find(' ') == std::string::npos ? name : "";
      continue;
    }
    const size_t start = name.find_first_not_of(' ');
    if (suite.empty() || name.find(' ', start) != std::string::npos) continue;
    const std::string whole = suite + name.substr(start);
    if (whole.find("DISABLED_") != std::string::npos) continue;
    tests.push_back({whole, {"--gtest_filter=" + whole}});
  }
  return tests;
}

std::vector<ListedTest> catch_list(const std::string& text) {
  std::vector<ListedTest> tests;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
    if (line.empty() || line.starts_with(' ') || line.ends_with(':')) continue;
    // In a filter a comma parts names, a bracket begins a tag, a star matches all.
    std::string filter;
    for (const char c : line) {
      if (c == ',' || c == '[' || c == '*' || c == '\\' || c == '~') filter += '\\';
      filter += c;
    }
    tests.push_back({line, {filter}});
  }
  return tests;
}

std::vector<ListedTest> tests_in(const std::string& path, const std::vector<std::string>& words) {
  std::vector<ListedTest> tests = googletest_list(asked(path, words, {"--gtest_list_tests"}));
  if (!tests.empty()) return tests;
  // A binary that is neither might run all its work for a word that it does not know: its answers
  // have to be lists.
  const std::string version = asked(path, words, {"--version"});
  if (version.find("Catch") != std::string::npos)
    tests = catch_list(asked(path, words, {"--list-tests", "--verbosity", "quiet"}));
  else if (asked(path, words, {"--help"}).find("Catch v2") != std::string::npos)
    tests = catch_list(asked(path, words, {"--list-test-names-only"}));
  if (tests.empty()) {
    throw Failure(kWeirFailed,
                  fmt::format("--gtest: {} lists no tests of GoogleTest (--gtest_list_tests) or of "
                              "Catch2 (--list-tests): hunt it without --gtest",
                              path));
  }
  return tests;
}

}  // namespace weir::cli::hunt
