#include "cli/hunt/habit/known.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "cli/common/failure.h"

namespace weir::cli::hunt {
namespace {

class File {
 public:
  explicit File(const std::string& text)
      : path_(::testing::TempDir() + "known-" + std::to_string(getpid())) {
    std::ofstream(path_) << text;
  }
  ~File() { unlink(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

KnownFindings known(const std::string& text) {
  const File file(text);
  KnownFindings result;
  result.add_file(file.path());
  return result;
}

Finding finding(Finding::Kind kind, const std::string& what, const std::string& said = "") {
  Finding made;
  made.kind = kind;
  made.what = what;
  made.said = said;
  return made;
}

TEST(KnownFindings, EveryKindHasALine) {
  using Kind = Finding::Kind;
  for (const Kind kind : {Kind::kExit, Kind::kSignal, Kind::kDeadlock, Kind::kLimit, Kind::kTimeout,
                          Kind::kOutput, Kind::kOracle, Kind::kSanitizer, Kind::kHeap}) {
    EXPECT_TRUE(known(std::string(word_of(kind)) + ":*").has(finding(kind, "something")));
    EXPECT_TRUE(known("any:some*").has(finding(kind, "something")));
  }
}

TEST(KnownFindings, AnotherKindOrTextIsNew) {
  KnownFindings all = known("deadlock:^deadlock of 2\nexit:*queue.c:88*\n");
  EXPECT_TRUE(all.has(finding(Finding::Kind::kDeadlock, "deadlock of 2 threads")));
  EXPECT_FALSE(all.has(finding(Finding::Kind::kDeadlock, "deadlock of 3 threads")));
  EXPECT_FALSE(all.has(finding(Finding::Kind::kSignal, "deadlock of 2 threads")));
  EXPECT_TRUE(all.has(finding(Finding::Kind::kExit, "exit status 1", "queue.c:88: violated")));
  EXPECT_FALSE(all.has(finding(Finding::Kind::kExit, "exit status 1", "queue.c:89: violated")));
  EXPECT_EQ(all.met(), 2u);
}

TEST(KnownFindings, CommentsAndBlanksSayNothing) {
  KnownFindings all = known("# exit:*\n\n   \t\r\n  exit:only this$  \r\n");
  EXPECT_FALSE(all.has(finding(Finding::Kind::kExit, "exit status 1")));
  EXPECT_TRUE(all.has(finding(Finding::Kind::kExit, "only this")));
}

TEST(KnownFindings, AWrongLineIsNamed) {
  for (const char* wrong : {"crash:x", "deadlock", ":x", "Exit:x"}) {
    const File file("# first\n" + std::string(wrong) + "\n");
    KnownFindings all;
    try {
      all.add_file(file.path());
      ADD_FAILURE() << wrong;
    } catch (const Failure& failure) {
      const std::string said = failure.what();
      EXPECT_NE(said.find(file.path() + ":2: '" + wrong + "'"), std::string::npos) << said;
    }
  }
  EXPECT_THROW(KnownFindings().add_file("/nowhere/at/all"), Failure);
}

}  // namespace
}  // namespace weir::cli::hunt
