// The tests in a binary of GoogleTest or Catch2, so that each is hunted for itself (--gtest).
#pragma once

#include <string>
#include <vector>

namespace weir::cli::hunt {

struct ListedTest {
  std::string name;
  std::vector<std::string> arguments;  // that make the binary run it alone
};

// What `--gtest_list_tests` prints.
std::vector<ListedTest> googletest_list(const std::string& text);
// What `--list-tests --verbosity quiet` (Catch2, version 3) or `--list-test-names-only` (version 2)
// prints.
std::vector<ListedTest> catch_list(const std::string& text);

// Asks the binary, natively. Throws Failure where it is neither.
std::vector<ListedTest> tests_in(const std::string& path, const std::vector<std::string>& words);

}  // namespace weir::cli::hunt
