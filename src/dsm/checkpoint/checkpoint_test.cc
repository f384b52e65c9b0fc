// Checkpoints of several nodes in one process, read back by other numbers of them; and what is
// damaged is found out.
#include <errno.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "dsm/node/test_cluster.h"

namespace weir::dsm {
namespace {

class Cluster : public TestCluster {
 public:
  Cluster(weir_dsm_protocol protocol, NodeId nodes, uint64_t size = 64 << 20)
      : TestCluster(nodes, settings_of(protocol, size), {.delay_microseconds = 100}) {}
  // The same memory as each node sees it.
  template <typename T>
  T* view(NodeId node, uint64_t offset) {
    return reinterpret_cast<T*>(TestCluster::view(node, offset));
  }
  uint64_t offset(NodeId node, const void* address) {
    return static_cast<uint64_t>(static_cast<const uint8_t*>(address) - TestCluster::view(node, 0));
  }

 private:
  static Settings settings_of(weir_dsm_protocol protocol, uint64_t size) {
    Settings settings;
    settings.size = size;
    settings.protocol = protocol;
    settings.tree = 2;
    return settings;
  }
};

constexpr uint32_t kWords = 40'000;  // 78 pages and a part

// The root: where all else is, as offsets.
struct Root {
  uint64_t round, words, big, annotated, small, freed;
  uint32_t region;
};

uint64_t value_of(uint64_t round, uint64_t i) {
  return (round * 1'000'003 + i) * 0x9e37'79b9'7f4a'7c15;
}

void* allocate(size_t size, weir_dsm_home home, weir_dsm_unit unit = WEIR_DSM_PAGES,
               unsigned pages = 1) {
  weir_dsm_attributes attributes = {};
  attributes.home = home;
  attributes.unit = unit;
  attributes.pages = pages;
  return weir_dsm_alloc_with(size, &attributes);
}

// Collective; node 0 allocates.
uint64_t make(Cluster& cluster, NodeId node) {
  uint64_t offset = 0;
  if (node == 0) {
    offset = cluster.offset(0, weir_dsm_alloc(sizeof(Root)));
    auto* root = cluster.view<Root>(0, offset);
    root->words = cluster.offset(0, allocate(kWords * 8, WEIR_DSM_BLOCK));
    void* freed = weir_dsm_alloc(10'000);
    root->big = cluster.offset(0, allocate(kWords * 8, WEIR_DSM_FIRST_TOUCH, WEIR_DSM_PAGES, 4));
    root->annotated = cluster.offset(0, allocate(10'000, WEIR_DSM_CYCLIC, WEIR_DSM_ANNOTATED));
    root->small = cluster.offset(0, weir_dsm_alloc(100));
    root->region = weir_dsm_region_alloc(5'000, nullptr);
    root->freed = cluster.offset(0, freed);
    weir_dsm_free(freed);
  }
  weir_dsm_share(&offset, sizeof offset, 0);
  return offset;
}

// Everybody writes a part of all pages, one node the other units; who writes what changes with the
// rounds.
void write(Cluster& cluster, NodeId node, uint64_t offset, uint64_t round, uint64_t*& region) {
  const unsigned nodes = weir_dsm_nodes();
  weir_dsm_barrier(1);
  const Root root = *cluster.view<Root>(node, offset);
  auto* words = cluster.view<uint64_t>(node, root.words);
  auto* big = cluster.view<uint64_t>(node, root.big);
  auto* annotated = cluster.view<uint64_t>(node, root.annotated);
  for (uint64_t i = 0; i < kWords; i++) {
    if ((i / 100 + round) % nodes == node) words[i] = value_of(round, i);
    if (i / 700 % 3 == 0 && (i / 1000 + round) % nodes == node) big[i] = value_of(round, i + 1);
  }
  if (round % nodes == node) {
    weir_dsm_write_access(annotated);
    for (uint64_t i = 0; i < 1250; i++) annotated[i] = value_of(round, i + 2);
    for (uint64_t i = 0; i < 625; i++) region[i] = value_of(round, i + 3);
    *cluster.view<uint64_t>(node, root.small) = round;
    cluster.view<Root>(node, offset)->round = round;
  }
}

uint64_t wrong(Cluster& cluster, NodeId node, uint64_t offset, uint64_t round, uint64_t*& region) {
  const Root root = *cluster.view<Root>(node, offset);
  auto* words = cluster.view<uint64_t>(node, root.words);
  auto* big = cluster.view<uint64_t>(node, root.big);
  auto* annotated = cluster.view<uint64_t>(node, root.annotated);
  weir_dsm_read_access(annotated);
  uint64_t wrong = root.round != round || *cluster.view<uint64_t>(node, root.small) != round;
  for (uint64_t i = 0; i < kWords; i++) {
    wrong += words[i] != value_of(round, i);
    wrong += big[i] != (i / 700 % 3 == 0 ? value_of(round, i + 1) : 0);
    if (i < 1250) wrong += annotated[i] != value_of(round, i + 2);
    if (i < 625) wrong += region[i] != value_of(round, i + 3);
  }
  return wrong;
}

class CheckpointTest : public testing::TestWithParam<weir_dsm_protocol> {
 protected:
  CheckpointTest() {
    char name[] = "/tmp/weir-checkpoint-XXXXXX";
    top_ = mkdtemp(name);
    directory_ = top_ + "/deep/er";
  }
  ~CheckpointTest() override { std::filesystem::remove_all(top_); }

  std::string file(const std::string& name) const { return directory_ + "/" + name; }

  // Checkpoints after each of so many rounds, then writes on.
  void write_rounds(NodeId nodes, uint64_t rounds) {
    std::atomic<int> failed{0};
    Cluster cluster(GetParam(), nodes);
    cluster.run([&](NodeId node) {
      const uint64_t offset = make(cluster, node);
      uint64_t* region = nullptr;
      weir_dsm_region_attach(cluster.view<Root>(node, offset)->region,
                             reinterpret_cast<void**>(&region));
      for (uint64_t round = 1; round <= rounds; round++) {
        write(cluster, node, offset, round, region);
        failed += weir_dsm_checkpoint(directory_.c_str(), cluster.view<Root>(node, offset));
      }
      write(cluster, node, offset, rounds + 1, region);
      weir_dsm_barrier(2);
    });
    EXPECT_EQ(failed, 0);
  }

  // Restarts, expects `round`, and makes `more` rounds with a checkpoint after each.
  void read_round(NodeId nodes, uint64_t round, uint64_t more) {
    std::atomic<uint64_t> bad{0};
    Cluster cluster(GetParam(), nodes);
    cluster.run([&](NodeId node) {
      void* root = weir_dsm_restart(directory_.c_str());
      if (!root) {
        bad++;
        return;
      }
      const uint64_t offset = cluster.offset(node, root);
      uint64_t* region = nullptr;
      weir_dsm_region_attach(cluster.view<Root>(node, offset)->region,
                             reinterpret_cast<void**>(&region));
      bad += wrong(cluster, node, offset, round, region);
      for (uint64_t i = 1; i <= more; i++) {
        write(cluster, node, offset, round + i, region);
        bad += static_cast<uint64_t>(weir_dsm_checkpoint(directory_.c_str(), root));
        bad += wrong(cluster, node, offset, round + i, region);
      }
      weir_dsm_barrier(3);
      if (node != 0) return;
      // What is new lies nowhere where something was, and what there is can be freed.
      const Root all = *cluster.view<Root>(node, offset);
      const uint64_t another = cluster.offset(0, weir_dsm_alloc(50'000)),
                     small = cluster.offset(0, weir_dsm_alloc(50));
      bad += another < all.annotated || (small > all.words && small < another) ||
             small == all.small || small == offset;
      weir_dsm_free(cluster.view<void>(0, all.words));
    });
    EXPECT_EQ(bad, 0u);
  }

  void change(const std::string& name, uint64_t at) const {
    std::fstream bytes(file(name), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at));
    const int byte = bytes.get();
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(bytes.good());
  }

  void expect_found_out(const char* message) {
    EXPECT_EXIT(read_round(2, 2, 0), testing::ExitedWithCode(125), message);
  }

  std::string top_, directory_;
};

TEST_P(CheckpointTest, OtherNumbersOfNodesGoOn) {
  write_rounds(3, 3);
  read_round(2, 3, 2);
  read_round(5, 5, 1);
  read_round(1, 6, 1);
  read_round(3, 7, 0);
}

TEST_P(CheckpointTest, OneGenerationIsKept) {
  write_rounds(2, 3);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"current", "generation-3"}));
}

TEST_P(CheckpointTest, NothingThereIsNoRoot) {
  Cluster cluster(GetParam(), 3);
  std::atomic<int> roots{0};
  cluster.run([&](NodeId) { roots += weir_dsm_restart(directory_.c_str()) != nullptr; });
  EXPECT_EQ(roots, 0);
}

TEST_P(CheckpointTest, AnErrorLeavesTheEarlierOne) {
  write_rounds(3, 2);
  // A directory that cannot be replaced by a file: the very last step fails.
  std::filesystem::create_directory(file("current.next"));
  std::vector<int> answers(3);
  {
    Cluster cluster(GetParam(), 3);
    cluster.run([&](NodeId node) {
      answers[node] = weir_dsm_checkpoint(directory_.c_str(), weir_dsm_restart(directory_.c_str()));
    });
  }
  EXPECT_EQ(answers, (std::vector<int>{EISDIR, EISDIR, EISDIR}));
  EXPECT_FALSE(std::filesystem::exists(file("generation-3")));
  read_round(2, 2, 0);
}

TEST_P(CheckpointTest, ErrorsAreEverybodys) {
  std::ofstream(top_ + "/file") << "x";
  std::vector<int> places(3), roots(3);
  Cluster cluster(GetParam(), 3);
  cluster.run([&](NodeId node) {
    const uint64_t offset = make(cluster, node);
    places[node] = weir_dsm_checkpoint((top_ + "/file").c_str(), cluster.view<Root>(node, offset));
    roots[node] = weir_dsm_checkpoint(directory_.c_str(), nullptr);
  });
  EXPECT_EQ(places, (std::vector<int>{ENOTDIR, ENOTDIR, ENOTDIR}));
  EXPECT_EQ(roots, (std::vector<int>{EINVAL, EINVAL, EINVAL}));
}

TEST_P(CheckpointTest, RemainsOfAnInterruptedOneDoNotCount) {
  write_rounds(2, 2);
  std::filesystem::create_directory(file("generation-3"));
  std::ofstream(file("generation-3/node-0")) << "half";
  std::ofstream(file("current.next")) << "generation-3 0";
  read_round(2, 2, 1);
  read_round(3, 3, 0);
}

TEST_P(CheckpointTest, DamageIsFoundOut) {
  write_rounds(3, 2);
  for (const char* name : {"node-0", "node-1", "node-2", "directory"}) {
    const std::string path = std::string("generation-2/") + name;
    const uint64_t size = std::filesystem::file_size(file(path));
    for (const uint64_t at : {uint64_t{0}, uint64_t{25}, uint64_t{33}, size / 2, size - 1}) {
      change(path, at);
      expect_found_out(name);
      change(path, at);
    }
  }
  change("current", 14);
  expect_found_out(
      "generation-2/directory|current cannot be read");  // the digit may be none any more
  change("current", 14);
  read_round(2, 2, 0);
}

TEST_P(CheckpointTest, MissingAndShortFilesAreFoundOut) {
  write_rounds(3, 2);
  const std::string last = file("generation-2/node-2");
  std::filesystem::copy_file(last, file("whole"));
  std::filesystem::resize_file(last, std::filesystem::file_size(last) - 24);
  expect_found_out("node-2 has not the");
  std::filesystem::rename(file("whole"), last);
  std::filesystem::remove(file("generation-2/node-1"));
  expect_found_out("incomplete: .*node-1");
  std::filesystem::resize_file(file("current"), 5);
  expect_found_out("current cannot be read .it is damaged");
}

TEST_P(CheckpointTest, ASmallerSegmentIsSaid) {
  write_rounds(2, 1);
  EXPECT_EXIT(
      {
        Cluster cluster(GetParam(), 2, 512 << 10);
        cluster.run([&](NodeId) { weir_dsm_restart(directory_.c_str()); });
      },
      testing::ExitedWithCode(125), "WEIR_DSM_SIZE");
}

INSTANTIATE_TEST_SUITE_P(All, CheckpointTest,
                         testing::Values(WEIR_DSM_LRC, WEIR_DSM_HLRC, WEIR_DSM_SC),
                         [](const auto& one) {
                           return one.param == WEIR_DSM_LRC    ? "Lrc"
                                  : one.param == WEIR_DSM_HLRC ? "Hlrc"
                                                               : "Sc";
                         });

}  // namespace
}  // namespace weir::dsm
