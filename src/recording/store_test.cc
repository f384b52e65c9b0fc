// Contents in a store, and what becomes of those that somebody has damaged.
#include "recording/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

namespace weir::recording {
namespace {

namespace fs = std::filesystem;

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::string name = (fs::temp_directory_path() / "weir-store-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    for (const char* made : {"one", "two"}) fs::create_directory(folder_ / made);
    std::ofstream(folder_ / "file") << "content";
  }
  ~StoreTest() override { fs::remove_all(folder_); }

  File file() const { return File::reading((folder_ / "file").string()); }
  std::string store() const { return (folder_ / "store").string(); }
  fs::path content(uint64_t sum) const { return folder_ / "store/contents" / hex(sum); }
  static std::string text(const fs::path& path) { return content_of(path.string(), 1000); }

  fs::path folder_;
};

TEST_F(StoreTest, HasAContentOnceForAllRecordings) {
  const Store kept(store());
  const auto sum = kept.keep(file(), {}, (folder_ / "one").string());
  ASSERT_TRUE(sum);
  EXPECT_EQ(*sum, sum_of_file(file()));
  EXPECT_EQ(kept.keep(file(), sum, (folder_ / "two").string()), sum);
  EXPECT_EQ(text(folder_ / "one" / hex(*sum)), "content");
  EXPECT_TRUE(fs::equivalent(folder_ / "one" / hex(*sum), folder_ / "two" / hex(*sum)));
  EXPECT_EQ(fs::hard_link_count(content(*sum)), 3u);
  EXPECT_EQ(kept.keep(file(), sum, (folder_ / "two").string()), sum);  // once more
}

TEST_F(StoreTest, MakesADamagedContentAnew) {
  const Store kept(store());
  const auto sum = kept.keep(file(), {}, (folder_ / "one").string());
  ASSERT_TRUE(sum);
  fs::permissions(content(*sum), fs::perms::owner_all);
  std::ofstream(content(*sum)) << "CONTENT";
  EXPECT_EQ(kept.keep(file(), sum, (folder_ / "two").string()), sum);
  EXPECT_EQ(text(folder_ / "two" / hex(*sum)), "content");
}

TEST_F(StoreTest, WithoutAFolderMakesCopies) {
  const Store none("");
  const auto sum = none.keep(file(), {}, (folder_ / "one").string());
  ASSERT_TRUE(sum);
  EXPECT_EQ(text(folder_ / "one" / hex(*sum)), "content");
  EXPECT_EQ(fs::hard_link_count(folder_ / "one" / hex(*sum)), 1u);
}

TEST_F(StoreTest, KnowsOldFilesByTheirFacts) {
  const Store kept(store());
  struct stat status;
  ASSERT_EQ(stat((folder_ / "file").c_str(), &status), 0);
  kept.learn(status, {17, "b1"});
  EXPECT_FALSE(kept.known(status)) << "it may change again in this instant";
  status.st_mtim.tv_sec -= 10;
  status.st_ctim.tv_sec -= 10;
  kept.learn(status, {17, "b1"});
  ASSERT_TRUE(kept.known(status));
  EXPECT_EQ(kept.known(status)->sum, 17u);
  EXPECT_EQ(kept.known(status)->build, "b1");
  status.st_ctim.tv_nsec ^= 1;
  EXPECT_FALSE(kept.known(status));
}

TEST_F(StoreTest, PruneLeavesWhatIsUsedOrNew) {
  const Store kept(store());
  const auto sum = kept.keep(file(), {}, (folder_ / "one").string());
  ASSERT_TRUE(sum);
  kept.prune();
  fs::remove(folder_ / "one" / hex(*sum));
  kept.prune();
  EXPECT_TRUE(fs::exists(content(*sum)));
}

}  // namespace
}  // namespace weir::recording
