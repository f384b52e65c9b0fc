#include "cli/sources/source_map.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/common/failure.h"

namespace weir::cli {
namespace {

class SourceMapTest : public testing::Test {
 protected:
  SourceMapTest() : folder_(testing::TempDir() + "weir_map_XXXXXX") {
    if (!mkdtemp(folder_.data())) throw std::runtime_error("mkdtemp");
  }
  ~SourceMapTest() override {
    std::filesystem::remove_all(folder_);
    set_source_places({});
  }
  std::string write(const std::string& name) {
    const std::string path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << "int x;\n";
    return path;
  }
  std::string folder_;
};

TEST_F(SourceMapTest, FoldersThatAreElsewhere) {
  const std::string there = write("now/src/a.c");
  set_source_places({{{"/build/project", folder_ + "/now"}}, {}, {}});
  EXPECT_EQ(found_source("/build/project/src/a.c"), there);
  EXPECT_EQ(found_source("/build/projects/src/a.c"), "/build/projects/src/a.c");
  EXPECT_EQ(found_source("/build/project/src/b.c"), "/build/project/src/b.c");
  EXPECT_FALSE(is_guessed_source(there));
}

TEST_F(SourceMapTest, TheLongestEndingOfAName) {
  const std::string deep = write("tree/src/net/a.c"), flat = write("tree/a.c");
  set_source_places({{}, {folder_ + "/tree"}, {}});
  EXPECT_EQ(found_source("/gone/src/net/a.c"), deep);
  EXPECT_EQ(found_source("/gone/lib/a.c"), flat);
  EXPECT_EQ(found_source("src/net/a.c"), deep);
  EXPECT_EQ(found_source("/gone/b.c"), "/gone/b.c");
}

TEST_F(SourceMapTest, GuessesComeLastAndAreTold) {
  const std::string own = write("own/a.c"), guess = write("guess/a.c"), other = write("guess/b.c");
  set_source_places({{}, {folder_ + "/own"}, {folder_ + "/guess"}});
  EXPECT_EQ(found_source("/gone/a.c"), own);
  EXPECT_EQ(found_source("/gone/b.c"), other);
  EXPECT_EQ(found_source(guess), guess);  // it is where it was
  EXPECT_TRUE(is_guessed_source(other));
  EXPECT_FALSE(is_guessed_source(own));
  EXPECT_EQ(found_source("/usr/include/b.c"), "/usr/include/b.c");
}

TEST(SourceMap, Words) {
  EXPECT_EQ(source_map_of("/a=/b"), std::pair(std::string("/a"), std::string("/b")));
  for (const char* wrong : {"", "=", "/a", "/a=", "=/b"})
    EXPECT_THROW(source_map_of(wrong), Failure) << wrong;
}

}  // namespace
}  // namespace weir::cli
