// A unit's diffs: what is kept is found, in order, whoever wrote it and in whatever order it came.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "dsm/protocol/lrc.h"

namespace weir::dsm {
namespace {

DiffPtr diff_of(NodeId node, uint32_t last) {
  auto diff = std::make_shared<Diff>();
  diff->node = node;
  diff->first = diff->last = last;
  return diff;
}

std::vector<uint32_t> after(const LazyPage& page, NodeId node, uint32_t last) {
  std::vector<uint32_t> found;
  for (const DiffPtr& diff : page.diffs_after(node, last)) {
    EXPECT_EQ(diff->node, node);
    found.push_back(diff->last);
  }
  return found;
}

TEST(Diffs, AreFoundInOrderOfAge) {
  constexpr NodeId kNodes = 5;
  for (unsigned seed = 1; seed <= 50; seed++) {
    std::mt19937 random(seed);
    LazyPage page(kNodes, 0, VectorTime(kNodes));
    std::map<NodeId, std::set<uint32_t>> model;
    const uint32_t spread = seed % 2 ? 4 : 60;  // how far from the newest one may be
    for (uint32_t step = 1; step <= 300; step++) {
      const auto node = static_cast<NodeId>(random() % (kNodes - 1) + 1);  // node 0 has none
      const auto last = static_cast<uint32_t>(step + random() % spread);
      EXPECT_EQ(page.add_diff(diff_of(node, last)), model[node].insert(last).second);
      const auto asked = static_cast<NodeId>(random() % kNodes);
      const auto from = static_cast<uint32_t>(random() % (step + spread));
      const auto first = model[asked].upper_bound(from);
      EXPECT_EQ(after(page, asked, from), std::vector<uint32_t>(first, model[asked].end()));
    }
  }
}

// Each more costs what the one before it has cost, not a move of all that are there.
TEST(Diffs, OfOneNodeDoNotMoveThoseOfOthers) {
  LazyPage page(3, 0, VectorTime(3));
  for (uint32_t last = 1; last <= 1000; last++) page.add_diff(diff_of(2, last));
  const DiffPtr* const its = page.diffs_after(2, 0).data();
  for (uint32_t last = 1; last <= 1000; last++) page.add_diff(diff_of(1, last));
  EXPECT_EQ(page.diffs_after(2, 0).data(), its);
  EXPECT_EQ(page.diffs_after(1, 999).size(), 1u);
  EXPECT_TRUE(page.diffs_after(1, 1000).empty());
  EXPECT_TRUE(page.diffs_after(0, 0).empty());
}

}  // namespace
}  // namespace weir::dsm
