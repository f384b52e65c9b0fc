#include "dsm/predict/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "dsm/base/stream_writer.h"

namespace weir::predict {
namespace {

class RecordingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/weir-predict-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = std::string(name) + "/run";
  }
  void TearDown() override {
    for (int node = 0; node < 2; node++) unlink(path(node).c_str());
    rmdir(directory_.c_str());
    EXPECT_EQ(rmdir(directory_.substr(0, directory_.size() - 4).c_str()), 0);
  }
  std::string path(int node) const { return directory_ + "/node-" + std::to_string(node); }

  void write_run(uint32_t nodes) const {
    for (uint32_t node = 0; node < nodes; node++) {
      dsm::StreamWriter writer(directory_, {node, nodes, 2, 3, true});
      ASSERT_EQ(writer.failed(), "");
      const UnitBytes units[] = {{3, 10}, {4, 10}, {5, 11}, {9, 10}, {4'000'000'000u, 0}};
      writer.allocate({0, 5}, {100, 20, 2, 8192, 3, 1});
      writer.access({0, 1}, 101, true);
      writer.miss({1, 2}, 102, false);
      writer.note({1, 3}, EventKind::kAcquire, 7);
      writer.granted({1, 0}, 7, {});
      writer.interval({kServerThread, 0}, 1, units);
      writer.diff({kServerThread, 0}, 3, 10);
      writer.note({1, 1'000'000'000'000}, EventKind::kRelease, 7);
      writer.give({kServerThread, 0}, 7, 0);
      writer.push({0, 0}, kToAll, units, 300);
      writer.touch({0, 0}, units, true);
      writer.wait({0, 0}, 4, 7);
      writer.woken({0, 0}, 4, 7);
      writer.fork({0, 0}, 2);
      writer.arrive({0, 9}, 2, 64);
      writer.mark({0, 0});
      writer.free({0, 0}, 100, 20);
      writer.stop({0, 0}, {0, {1, 2, 3, 4}, 500, 6, 7, 8, 9});
      ASSERT_EQ(writer.finish({0, 0}, {}), "");  // what was read before counts
    }
  }

  static std::vector<uint8_t> content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string directory_;
};

std::string refusal(const std::vector<uint8_t>& bytes) {
  Recording recording;
  try {
    read_stream("node-0", bytes, &recording);
  } catch (const Damage& damage) { return damage.what(); }
  return "";
}

TEST_F(RecordingTest, IsReadAsItWasWritten) {
  write_run(2);
  const Recording recording = read_recording(directory_);
  ASSERT_EQ(recording.nodes.size(), 2u);
  EXPECT_EQ(recording.threads, 2u);
  EXPECT_EQ(recording.protocol, 3u);
  EXPECT_TRUE(recording.tapes);
  const std::vector<UnitBytes> units = {{3, 10}, {4, 10}, {5, 11}, {9, 10}, {4'000'000'000u, 0}};
  const auto& events = recording.nodes[1].events;
  ASSERT_EQ(events.size(), 18u);
  EXPECT_EQ(events[0],
            (Event{EventKind::kAllocate, 0, 5, 100, 20, 8192, 3 + 4 * (1 + 4096 * 1), {}}));
  EXPECT_EQ(events[1], (Event{EventKind::kAccess, 0, 1, 101, 0, 0, 1, {}}));
  EXPECT_EQ(events[2], (Event{EventKind::kMiss, 1, 2, 102, 0, 0, 0, {}}));
  EXPECT_EQ(events[3], (Event{EventKind::kAcquire, 1, 3, 7, 0, 0, 0, {}}));
  EXPECT_EQ(events[5], (Event{EventKind::kInterval, kServerThread, 0, 1, 0, 0, 0, units}));
  EXPECT_EQ(events[7], (Event{EventKind::kRelease, 1, 1'000'000'000'000, 7, 0, 0, 0, {}}));
  EXPECT_EQ(events[8], (Event{EventKind::kGive, kServerThread, 0, 7, 0, 0, 0, {}}));
  EXPECT_EQ(events[9], (Event{EventKind::kPush, 0, 0, kToAll, 0, 300, 0, units}));
  EXPECT_EQ(events[14], (Event{EventKind::kArrive, 0, 9, 2, 0, 64, 0, {}}));
  EXPECT_EQ(recording.allocations.at(100).unit_bytes, 8192u);
  EXPECT_EQ(recording.allocations.at(100).home_node, 1u);
  EXPECT_EQ(recording.allocations.at(100).step, 2u);
  const Measured all = recording.measured();
  EXPECT_GT(all.nanoseconds, 0u);
  EXPECT_EQ(all.messages[3], 8u);
  EXPECT_EQ(all.misses, 12u);
  EXPECT_EQ(all.miss_wait, 18u);
}

TEST_F(RecordingTest, TheExampleOfTheHeader) {
  {
    dsm::StreamWriter writer(directory_, {0, 1, 1, 2, false});
    writer.note({1, 3}, EventKind::kAcquire, 7);
    writer.granted({1, 0}, 7, {});
  }
  const std::vector<uint8_t> bytes = content(path(0));
  const std::vector<uint8_t> example = {0x05, 0x01, 0x03, 0x07, 0x06, 0x01, 0x00, 0x07, 0x00};
  ASSERT_GT(bytes.size(), example.size());
  EXPECT_TRUE(std::equal(example.begin(), example.end(), bytes.end() - 9));
  EXPECT_EQ(refusal(bytes), "node-0: it was cut short: the run did not end, or the disk was full");
}

TEST_F(RecordingTest, WhatIsCutOrFollowedIsRefused) {
  write_run(1);
  const std::vector<uint8_t> good = content(path(0));
  EXPECT_EQ(refusal(good), "");
  for (size_t size = 0; size < good.size(); size++)
    EXPECT_NE(refusal({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)}), "") << size;
  std::vector<uint8_t> longer = good;
  longer.push_back(0);
  EXPECT_EQ(refusal(longer), "node-0: something follows its end");
  std::vector<uint8_t> other = good;
  other[8] = 1;
  EXPECT_EQ(refusal(other), "node-0: it is of version 1, this reads version 2");
}

TEST_F(RecordingTest, NoBytesBreakTheReader) {
  write_run(1);
  const std::vector<uint8_t> good = content(path(0));
  for (uint32_t seed = 1; seed <= 3000; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes = good;
    for (uint32_t i = 0; i <= random() % 3; i++)
      bytes[8 + random() % (bytes.size() - 8)] ^= static_cast<uint8_t>(1u << random() % 8);
    Recording recording;
    try {
      read_stream("node-0", bytes, &recording);
    } catch (const Damage&) {}
  }
}

TEST_F(RecordingTest, AMissingNodeIsNamed) {
  write_run(2);
  unlink(path(1).c_str());
  try {
    read_recording(directory_);
    FAIL();
  } catch (const Damage& damage) {
    EXPECT_EQ(damage.what(), path(1) + ": No such file or directory");
  }
}

TEST(StreamWriterTest, AFailureIsToldAndStopsTheRecordingOnly) {
  dsm::StreamWriter writer("/proc/nowhere/run", {0, 1, 1, 2, false});
  EXPECT_NE(writer.failed(), "");
  writer.access({0, 1}, 1, true);
  EXPECT_EQ(writer.finish({0, 0}, {}), writer.failed());
}

}  // namespace
}  // namespace weir::predict
