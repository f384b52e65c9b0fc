// Bytes of another node's view, read and written for it, as if its own threads had: under each
// protocol, against a model, while rights come and go.
#include "dsm/node/peers.h"

#include <gtest/gtest.h>

#include <random>

#include "dsm/node/test_cluster.h"

namespace weir::dsm {
namespace {

class PeersTest : public testing::TestWithParam<weir_dsm_protocol> {};

TEST_P(PeersTest, WhatIsReadAndWrittenForAnotherNodeIsAsItsOwnAccess) {
  constexpr size_t kSize = 200'000;
  constexpr unsigned kNodes = 3, kRounds = 25;
  Settings settings;
  settings.size = 64 << 20;
  settings.protocol = GetParam();
  TestCluster cluster(kNodes, settings);
  std::atomic<uint64_t> offset{0};
  cluster.run([&](unsigned me) {
    if (me == 0)
      offset =
          static_cast<uint64_t>(static_cast<uint8_t*>(weir_dsm_alloc(kSize)) - cluster.view(0, 0));
    weir_dsm_barrier(0);
    uint8_t* const shared = cluster.view(me, offset);
    std::vector<uint8_t> model(kSize), bytes(kSize);
    std::mt19937 random(7), own(me);
    for (unsigned round = 0; round < kRounds; round++) {
      const unsigned writer = random() % kNodes, by = random() % kNodes, peer = random() % kNodes;
      const size_t at = random() % kSize, size = 1 + random() % (kSize - at);
      for (size_t i = 0; i < size; i++) bytes[i] = static_cast<uint8_t>(random());
      memcpy(model.data() + at, bytes.data(), size);
      // Half of the rounds by the node itself, half by another one for it.
      if (round % 2 == 0) {
        if (me == writer) memcpy(shared + at, bytes.data(), size);
      } else if (me == by) {
        cluster.node(me).peers.write(peer, offset + at, bytes.data(), size, this_thread());
      }
      weir_dsm_barrier(1);
      weir_dsm_barrier(3);  // a node's release of what was written for it
      weir_dsm_barrier(4);  // all are past that
      const size_t from = own() % kSize, length = 1 + own() % (kSize - from);
      const unsigned of = own() % kNodes;
      cluster.node(me).peers.read(of, offset + from, bytes.data(), length, this_thread());
      EXPECT_EQ(memcmp(bytes.data(), model.data() + from, length), 0) << "round " << round;
      if (round % 5 == 0) {
        EXPECT_EQ(memcmp(shared, model.data(), kSize), 0) << "round " << round;
      }
      weir_dsm_barrier(2);
    }
  });
}

// Nothing that is said of the program's threads counts the one that copies for others.
TEST_P(PeersTest, TheThreadThatCopiesForOthersIsNoneOfTheProgram) {
  Settings settings;
  settings.size = 64 << 20;
  settings.protocol = GetParam();
  TestCluster cluster(2, settings);
  std::atomic<uint64_t> offset{0};
  cluster.run([&](unsigned me) {
    if (me == 0)
      offset =
          static_cast<uint64_t>(static_cast<uint8_t*>(weir_dsm_alloc(100)) - cluster.view(0, 0));
    weir_dsm_barrier(0);
    Node& node = cluster.node(me);
    const uint32_t value = me + 7;
    uint32_t read = 0;
    node.peers.write(1 - me, offset + 4 * me, &value, 4, this_thread());
    weir_dsm_barrier(1);
    weir_dsm_barrier(2);
    node.peers.read(1 - me, offset + 4 * me, &read, 4, this_thread());
    EXPECT_EQ(read, value);
    weir_dsm_barrier(3);
    EXPECT_EQ(node.known_threads, 1u);
    {
      const std::lock_guard<std::mutex> held(node.mutex);
      ASSERT_EQ(node.diagnostics.threads.size(), 1u);
      EXPECT_EQ(node.diagnostics.threads[0]->track, 0u);
    }
    weir_dsm_barrier(4);
  });
}

INSTANTIATE_TEST_SUITE_P(Protocols, PeersTest,
                         testing::Values(WEIR_DSM_SC, WEIR_DSM_LRC, WEIR_DSM_HLRC));

}  // namespace
}  // namespace weir::dsm
