#include "dsm/net/links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace weir::dsm {
namespace {

TEST(Links, AreMutual) {
  for (NodeId nodes = 1; nodes < 40; nodes++) {
    for (NodeId node = 0; node < nodes; node++) {
      for (const NodeId other : neighbours(node, nodes)) {
        EXPECT_NE(other, node);
        const auto back = neighbours(other, nodes);
        EXPECT_TRUE(std::find(back.begin(), back.end(), node) != back.end());
      }
    }
  }
}

TEST(Links, AreAllUpToFiveNodesAndFewOfMany) {
  for (NodeId nodes = 1; nodes <= 5; nodes++) EXPECT_EQ(neighbours(0, nodes).size(), nodes - 1);
  EXPECT_LE(neighbours(0, 1024).size(), 20u);
}

// How many steps it takes until everybody but `dead` knows what a neighbour of it knows; 0: never.
unsigned steps_without(NodeId dead, NodeId nodes) {
  std::set<NodeId> knows = {neighbours(dead, nodes).front()};
  for (unsigned steps = 0; steps < nodes; steps++) {
    if (knows.size() == nodes - 1) return steps + 1;
    for (const NodeId node : std::set<NodeId>(knows)) {
      for (const NodeId other : neighbours(node, nodes)) {
        if (other != dead) knows.insert(other);
      }
    }
  }
  return 0;
}

TEST(Links, ReachEverybodyWithoutOne) {
  for (const NodeId nodes : {2u, 3u, 4u, 5u, 6u, 7u, 8u, 16u, 31u, 64u, 100u, 256u}) {
    for (NodeId dead = 0; dead < nodes; dead += 1 + nodes / 8) {
      const unsigned steps = steps_without(dead, nodes);
      EXPECT_GT(steps, 0u) << nodes;
      EXPECT_LE(steps, 7u) << nodes;
    }
  }
}

}  // namespace
}  // namespace weir::dsm
