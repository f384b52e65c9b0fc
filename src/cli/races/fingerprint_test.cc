#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/races/report.h"

namespace weir::cli {
namespace {

class FingerprintTest : public testing::Test {
 protected:
  FingerprintTest() : folder_(testing::TempDir() + "weir_print_XXXXXX") {
    if (!mkdtemp(folder_.data())) throw std::runtime_error("mkdtemp");
  }
  ~FingerprintTest() override { std::filesystem::remove_all(folder_); }

  Frame frame(const std::string& folder, const std::string& text, int line) {
    std::filesystem::create_directories(folder_ + "/" + folder);
    const std::string path = folder_ + "/" + folder + "/a.c";
    std::ofstream file(path);
    for (int i = 1; i < line; i++) file << "\n";
    file << text << "\n";
    Frame made;
    made.function = "work", made.file = path, made.line = line;
    return made;
  }
  static ReportedRace race(const Frame& first, const Frame& second, const std::string& object) {
    ReportedRace made;
    made.rule = "data-race";
    made.sides[0].frames = {first};
    made.sides[1].frames = {second};
    made.object.has_variable = true;
    made.object.variable.name = object;
    return made;
  }
  std::string folder_;
};

TEST_F(FingerprintTest, IsTheSameWhereTheProgramIs) {
  const Frame here = frame("here", "  count++;", 4), moved = frame("there", "count++;", 90);
  Frame other = here;
  other.function = "main";
  const std::string print = fingerprint_of(race(here, other, "table[3].count"));
  EXPECT_EQ(print.size(), 32u);
  EXPECT_EQ(fingerprint_of(race(other, here, "table[7].count")), print);  // in another order
  Frame other_moved = moved;
  other_moved.function = "main";
  EXPECT_EQ(fingerprint_of(race(moved, other_moved, "table[3].count")), print);
}

TEST_F(FingerprintTest, IsAnotherWhereAnythingElseIs) {
  const Frame here = frame("here", "count++;", 4), changed = frame("other", "count--;", 4);
  const std::string print = fingerprint_of(race(here, here, "count"));
  EXPECT_NE(fingerprint_of(race(changed, here, "count")), print);
  EXPECT_NE(fingerprint_of(race(here, here, "other")), print);
  ReportedRace possible = race(here, here, "count");
  possible.rule = kPossibleRace;
  EXPECT_NE(fingerprint_of(possible), print);
}

}  // namespace
}  // namespace weir::cli
