#include "cli/hunt/habit/corpus.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/common/failure.h"
#include "cli/hunt/run/fake_runner_test.h"

namespace weir::cli::hunt {
namespace {

namespace fs = std::filesystem;

class CorpusTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "corpus-" + std::to_string(getpid());
    fs::remove_all(root_);
    fs::create_directories(root_);
    write(program(), "first content");
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string folder() const { return root_ + "/kept"; }
  std::string program() const { return root_ + "/program"; }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  Corpus opened() const { return Corpus(folder(), program()); }
  Strategies strategies() {
    StrategyOptions options;
    options.strategy = "random";
    return Strategies(options, runner_.one("w3:default"));
  }
  // A search that saw two behaviours, and found one failure.
  void keep_something() {
    Corpus corpus = opened();
    Behaviours behaviours;
    behaviours.take_up(17);
    behaviours.take_up(0xffff'ffff'ffff'ffff);
    Strategies all = strategies();
    all.take_up("random, 0.5", 0.75);
    EXPECT_EQ(corpus.keep(behaviours, all, {{"w3:list:1.2.3>4", "exit 1 at queue.c:8: is full"}}),
              "");
  }

  std::string root_;
  FakeRunner runner_{[](const Switches&) { return false; }};
};

TEST_F(CorpusTest, BeginsEmpty) {
  const Corpus corpus = opened();
  EXPECT_TRUE(corpus.failures().empty());
  EXPECT_EQ(corpus.searches(), 0u);
  EXPECT_TRUE(fs::is_directory(folder()));
}

TEST_F(CorpusTest, WhatWasKeptIsTakenUp) {
  keep_something();
  const Corpus corpus = opened();
  EXPECT_EQ(corpus.searches(), 1u);
  EXPECT_TRUE(corpus.is_of_this_program());
  ASSERT_EQ(corpus.failures().size(), 1u);
  EXPECT_EQ(corpus.failures()[0].schedule, "w3:list:1.2.3>4");
  EXPECT_EQ(corpus.failures()[0].signature, "exit 1 at queue.c:8: is full");
  Behaviours behaviours;
  Strategies all = strategies();
  corpus.give(behaviours, all);
  EXPECT_EQ(behaviours.seen(), (std::unordered_set<uint64_t>{17, 0xffff'ffff'ffff'ffff}));
  EXPECT_EQ(all.arms()[0].worth, 0.75);
}

TEST_F(CorpusTest, AnotherProgramKeepsTheFailuresAlone) {
  keep_something();
  write(program(), "other content");
  const Corpus corpus = opened();
  EXPECT_FALSE(corpus.is_of_this_program());
  EXPECT_EQ(corpus.failures().size(), 1u);
  Behaviours behaviours;
  Strategies all = strategies();
  corpus.give(behaviours, all);
  EXPECT_EQ(behaviours.count(), 0u);
  EXPECT_NE(all.arms()[0].worth, 0.75);
}

TEST_F(CorpusTest, TheSameFailureIsKeptOnce) {
  for (int i = 0; i < 3; i++) keep_something();
  EXPECT_EQ(opened().failures().size(), 1u);
  EXPECT_EQ(opened().searches(), 3u);
}

TEST_F(CorpusTest, AnUnknownFileIsNotReplaced) {
  fs::create_directories(folder());
  write(folder() + "/hunt", "weir-hunt 99\n");
  EXPECT_THROW(opened(), weir::cli::Failure);
  std::ifstream file(folder() + "/hunt");
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "weir-hunt 99");
}

// Cut anywhere, it is read as far as it goes, or refused; what is left says nothing false.
TEST_F(CorpusTest, CutAtEveryByteItIsReadUpToThere) {
  keep_something();
  std::ifstream file(folder() + "/hunt");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  for (size_t size = 0; size < text.size(); size++) {
    write(folder() + "/hunt", text.substr(0, size));
    try {
      const Corpus corpus = opened();
      EXPECT_LE(corpus.failures().size(), 1u);
      EXPECT_LE(corpus.searches(), 1u);
      for (const Corpus::Failure& one : corpus.failures())
        EXPECT_FALSE(one.schedule.empty()) << size;
    } catch (const weir::cli::Failure&) { EXPECT_LT(size, text.find('\n')) << size; }
  }
}

TEST_F(CorpusTest, AFolderThatCannotBeMadeIsRefused) {
  EXPECT_THROW(Corpus(program() + "/below", program()), weir::cli::Failure);
}

}  // namespace
}  // namespace weir::cli::hunt
