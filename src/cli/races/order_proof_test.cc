// This process stands for the program: its sources have atomic operations.
#include "cli/races/order_proof.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sstream>

namespace weir::cli {
namespace {

std::vector<Mapping> mappings_of_this_process(const std::string& only) {
  std::vector<Mapping> all;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, inode, path;
    words >> range >> rights >> offset >> device >> inode >> path;
    if (path.empty() || path[0] != '/' || rights[2] != 'x' || path.find(only) == std::string::npos)
      continue;
    const size_t dash = range.find('-');
    all.push_back({std::stoull(range.substr(0, dash), nullptr, 16),
                   std::stoull(range.substr(dash + 1), nullptr, 16),
                   std::stoull(offset, nullptr, 16), path});
  }
  return all;
}

TEST(OrderProofTest, AProgramWithAtomicsMayOrderItsThreadsUnseen) {
  static std::atomic<int> flag = 1;
  Modules modules(true);
  modules.set(mappings_of_this_process("unit_tests"));
  OrderProof proof;
  EXPECT_NE(proof.why_not(modules), "") << flag;
  EXPECT_EQ(proof.why_not(modules), proof.why_not(modules));
}

TEST(OrderProofTest, WithoutDebugInformationNothingIsKnown) {
  Modules modules(false);
  modules.set(mappings_of_this_process("unit_tests"));
  EXPECT_TRUE(OrderProof().why_not(modules).starts_with("no debug information in "))
      << OrderProof().why_not(modules);
}

TEST(OrderProofTest, LibrariesOfTheSystemOrderByWhatIsSeen) {
  Modules modules(true);
  modules.set(mappings_of_this_process("/libc.so"));
  EXPECT_EQ(OrderProof().why_not(modules), "");
}

TEST(OrderProofTest, AProgramOfWhichNoFileIsKnownIsNotJudged) {
  Modules modules(true);
  EXPECT_NE(OrderProof().why_not(modules), "");
}

}  // namespace
}  // namespace weir::cli
