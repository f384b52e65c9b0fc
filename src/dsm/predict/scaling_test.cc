#include "dsm/predict/scaling.h"

#include <gtest/gtest.h>

#include "dsm/predict/tables.h"
#include "dsm/predict/test_recording.h"

namespace weir::predict {
namespace {

// Each node writes its block of an array, and reads a unit of each neighbour's, `rounds` times.
HandMade stencil(uint32_t nodes, uint32_t block, int rounds, uint64_t compute) {
  HandMade made(nodes);
  made.recording.allocations[0] = {0, nodes * block, 4096, 0, 0};
  for (uint32_t node = 0; node < nodes; node++) {
    made.on(node);
    for (int i = 0; i < rounds; i++) {
      if (node > 0) made.read(node * block - 1);
      if (node + 1 < nodes) made.read((node + 1) * block);
      std::vector<UnitBytes> units;
      for (uint32_t k = 0; k < block; k++) units.push_back({node * block + k, 1000});
      made.compute(compute).interval(std::move(units)).barrier();
    }
  }
  return made;
}

TEST(ScalingTest, BlocksAndHalosAreDivided) {
  const Workload base = workload_of(stencil(2, 16, 4, 8'000'000).recording);
  for (const uint32_t nodes : {2u, 4u, 8u, 16u, 32u}) {
    const Prediction result = predict(base, nodes, simple_settings(), Reads::kAuto);
    // In each round but the first, each node misses on both sides; the outermost on one.
    EXPECT_EQ(result.misses, 3u * 2 * (nodes - 1)) << nodes;
    EXPECT_EQ(result.messages[1], 4u * 2 * (nodes - 1)) << nodes;
    EXPECT_EQ(result.compute, 2u * 4 * 8'000'000) << nodes;
  }
}

TEST(ScalingTest, MorePartsThanUnitsShareUnits) {
  const Workload base = workload_of(stencil(2, 2, 2, 1'000'000).recording);
  const Workload eight = scaled(base, 4, Reads::kAuto);  // two parts write each unit
  uint64_t bytes = 0, writers = 0;
  for (const Script& script : eight.scripts) {
    for (const Op& op : script) {
      if (op.kind != OpKind::kInterval) continue;
      ASSERT_EQ(eight.lists[op.list].size(), 1u);
      writers++;
      bytes += eight.lists[op.list][0].bytes;
    }
  }
  EXPECT_EQ(writers, 2u * 8);
  EXPECT_EQ(bytes, 2u * 4 * 1000);
}

TEST(ScalingTest, WhatAllReadAllPartsRead) {
  HandMade made(4);
  for (uint32_t node = 0; node < 4; node++) {
    made.on(node);
    if (node == 0) made.write(100).interval({{100, 50}});
    made.barrier();
    if (node > 0) made.read(100);
    made.barrier();
  }
  const Workload base = workload_of(made.recording);
  EXPECT_EQ(predict(base, 4, simple_settings(), Reads::kAuto).misses, 3u);
  // The one unit is written by all parts of its writer, as they are more than its units: each lacks
  // what the others have written.
  EXPECT_EQ(predict(base, 16, simple_settings(), Reads::kAuto).misses, 16u);
  EXPECT_EQ(predict(base, 16, simple_settings(), Reads::kSplit).misses, 3u);
}

HandMade with_locks(bool once) {
  HandMade made(2);
  for (uint32_t node = 0; node < 2; node++) {
    made.on(node);
    for (int i = 0; i < (once ? 1 : 6); i++)
      made.compute(800).acquire(0).compute(100).write(9).interval({{9, 8}}).release(0);
    made.barrier();
  }
  return made;
}

TEST(ScalingTest, SectionsOfEachAreTakenByEachPartOthersAreDealtOut) {
  const auto sections = [](const Workload& workload) {
    uint64_t count = 0, compute = 0;
    for (const Script& script : workload.scripts) {
      for (const Op& op : script) {
        count += op.kind == OpKind::kAcquire;
        compute += op.compute;
      }
    }
    return std::make_pair(count, compute);
  };
  const auto each = sections(scaled(workload_of(with_locks(true).recording), 4, Reads::kAuto));
  EXPECT_EQ(each, (std::pair<uint64_t, uint64_t>{8, 2 * 800 + 8 * 100}));
  const auto dealt = sections(scaled(workload_of(with_locks(false).recording), 4, Reads::kAuto));
  EXPECT_EQ(dealt, (std::pair<uint64_t, uint64_t>{12, 12 * 800 + 12 * 100}));
}

TEST(ScalingTest, FindsWhereMoreNodesStopToHelp) {
  const Workload base = workload_of(stencil(2, 64, 3, 60'000).recording);
  const std::vector<Prediction> all = predict_scaling(base, 128, simple_settings(), Reads::kAuto);
  const size_t stops = where_it_stops(all);
  EXPECT_GT(all[stops].nodes, 4u);
  EXPECT_LT(all[stops].nodes, 128u);
  for (size_t i = 0; i < all.size(); i++)
    EXPECT_GT(static_cast<double>(all[i].time), 0.98 * static_cast<double>(all[stops].time));
  EXPECT_NE(
      scaling_table(all).find("More nodes stop to help at " + std::to_string(all[stops].nodes)),
      std::string::npos);
}

TEST(ScalingTest, AThousandNodes) {
  const Workload base = workload_of(stencil(8, 256, 3, 40'000'000).recording);
  const Prediction result = predict(base, 1024, simple_settings(), Reads::kAuto);
  EXPECT_EQ(result.nodes, 1024u);
  EXPECT_EQ(result.misses, 2u * 2 * 1023);
}

}  // namespace
}  // namespace weir::predict
