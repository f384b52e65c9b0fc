#include "cli/launch/program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/common/failure.h"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    std::string name = fs::temp_directory_path() / "weir-test-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ProgramTest() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& bytes,
                   fs::perms mode = fs::perms(0755)) {
    fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    fs::permissions(path, mode);
    return path;
  }

  static int status_of(const std::vector<std::string>& words) {
    try {
      locate_program(words);
      return 0;
    } catch (const Failure& failure) { return failure.status; }
  }

  fs::path folder_;
};

TEST_F(ProgramTest, AnExecutableFileInPathWinsOverAnEarlierOneThatIsNot) {
  file("a/tool", "echo\n", fs::perms(0644));
  std::string good = file("b/tool", "#!/bin/sh\n");
  std::string path = (folder_ / "a").string() + ":" + (folder_ / "b").string();
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(locate_program({"tool"}).path, good);
  setenv("PATH", (folder_ / "a").c_str(), 1);
  EXPECT_EQ(status_of({"tool"}), kCannotRun);
  setenv("PATH", (folder_ / "c").c_str(), 1);
  EXPECT_EQ(status_of({"tool"}), kNotFound);
}

TEST_F(ProgramTest, TextWithoutInterpreterIsGivenToTheShell) {
  std::string text = file("text", "echo hello\n");
  Program program = locate_program({text, "x"});
  EXPECT_EQ(program.path, "/bin/sh");
  EXPECT_EQ(program.argv, (std::vector<std::string>{"/bin/sh", text, "x"}));
}

TEST_F(ProgramTest, KeepsTheNameThatTheUserTyped) {
  setenv("PATH", "/bin:/usr/bin", 1);
  Program program = locate_program({"true", "a b"});
  EXPECT_EQ(program.argv, (std::vector<std::string>{"true", "a b"}));
}

TEST_F(ProgramTest, EveryTruncationOfAProgramIsRefusedOrAccepted) {
  std::ifstream stream("/bin/true", std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(stream), {});
  for (size_t size = 0; size < std::min<size_t>(bytes.size(), 2000); size += 7) {
    int status = status_of({file("cut", bytes.substr(0, size))});
    EXPECT_TRUE(status == 0 || status == kCannotRun) << size;
  }
}

TEST_F(ProgramTest, EveryDamagedHeaderByteIsRefusedOrAccepted) {
  std::ifstream stream("/bin/true", std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(stream), {});
  for (size_t at = 0; at < 512; at++) {
    for (char value : {'\x00', '\x7f', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = value;
      int status = status_of({file("damaged", damaged)});
      EXPECT_TRUE(status == 0 || status == kCannotRun) << at;
    }
  }
}

}  // namespace
}  // namespace weir::cli
