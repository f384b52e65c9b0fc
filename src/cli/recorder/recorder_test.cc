// Recorder and feeder with a stand-in for the program: a child that puts, or takes, through the
// same memory.
#include "cli/recorder/recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "channel/wait.h"
#include "cli/common/failure.h"
#include "cli/recorder/feeder.h"
#include "cli/recorder/test_recorder.h"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;
using namespace test;
using channel::Entry;
using channel::Kind;

Entry entry_of(uint32_t number, std::string* payload) {
  std::minstd_rand random(number + 1);
  uint32_t size = random() % 100;
  if (random() % 100 == 0) size = random() % (channel::kMaxPayload + 1);
  payload->assign(size, static_cast<char>(random()));
  const uint8_t flags = random() % 4 == 0 ? channel::kMore : 0;
  return {Kind::kMemory, flags, 0, size, number, number, 0};
}

bool put_all(ChannelMemory& memory, uint32_t slot, uint32_t count) {
  std::string payload;
  for (uint32_t i = 0; i < count; i++) {
    Entry entry = entry_of(i, &payload);
    if (i + 1 == count) entry.flags = 0;
    if (!put_waiting(memory.header(), memory.ring(slot), entry, payload.data(), entry.size))
      return false;
  }
  return true;
}

// Whether the rings hold these entries and nothing else, in the program's place.
bool takes_all(ChannelMemory& memory, uint32_t slot, uint32_t count) {
  std::string payload;
  for (uint32_t i = 0; i < count; i++) {
    const Entry* entry = peek_waiting(memory.header(), memory.ring(slot));
    const Entry wanted = entry_of(i, &payload);
    if (!entry || entry->check != i || entry->size != wanted.size ||
        memcmp(entry + 1, payload.data(), payload.size()) != 0)
      return false;
    take_waking(memory.header(), memory.ring(slot), entry);
  }
  return peek_waiting(memory.header(), memory.ring(slot)) == nullptr;
}

constexpr uint32_t kMany = 30000;

TEST(Recorder, KeepsWhatAFeederGivesBack) {
  Folder folder;
  int status = -1;
  {
    ChannelMemory memory(channel::Mode::kRecord);
    const pid_t child = start([&] {
      const uint32_t first = open_slot(memory.header(), 0, 0),
                     second = open_slot(memory.header(), 0, channel::kOrderTask);
      return put_all(memory, first, kMany) && put_all(memory, second, kMany / 3);
    });
    const recording::End end = record(memory, folder.directory, child, &status);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(end.streams.at("0-0").entries, kMany);
    EXPECT_EQ(end.streams.at("0-order").entries, kMany / 3);
    EXPECT_GT(end.streams.at("0-0").chunks, 2u);
  }
  const recording::Recording recording(folder.directory);
  EXPECT_EQ(recording::verify(recording).damages, std::vector<std::string>());
  ChannelMemory memory(channel::Mode::kReplay);
  std::vector<std::string> damages;
  Feeder feeder(memory, recording, &damages);
  const pid_t child =
      start([&] { return takes_all(memory, 0, kMany) && takes_all(memory, 1, kMany / 3); });
  EXPECT_EQ(serve(memory, child, [&] { feeder.put(); }), 0);
  std::string stream;
  EXPECT_TRUE(feeder.is_used_up(&stream)) << stream;
  EXPECT_EQ(damages, std::vector<std::string>());
}

TEST(Recorder, KeepsWhatAKilledProgramHadPut) {
  Folder folder;
  ChannelMemory memory(channel::Mode::kRecord);
  int status = -1;
  const pid_t child = start([&] {
    const uint32_t slot = open_slot(memory.header(), 0, 0);
    if (!put_all(memory, slot, 2000)) return false;
    const Entry begun{Kind::kCall, channel::kMore, 0, 0, 0, 0, 0};
    put_waiting(memory.header(), memory.ring(slot), begun, nullptr, 0);
    raise(SIGKILL);
    return true;
  });
  record(memory, folder.directory, child, &status);
  EXPECT_TRUE(WIFSIGNALED(status));
  const recording::Report report = verify(recording::Recording(folder.directory));
  EXPECT_EQ(report.damages, std::vector<std::string>());
  EXPECT_EQ(report.entries, 2000u);  // without the group that was begun
}

// Turns 0 to 63 in an entry, and `count` that say of themselves that they come after `first`; then
// it is killed. The turns that were kept.
std::vector<uint16_t> turns_kept(uint64_t first, uint32_t count) {
  Folder folder;
  ChannelMemory memory(channel::Mode::kRecord);
  int status = -1;
  const pid_t child = start([&] {
    const uint32_t slot = open_slot(memory.header(), 0, channel::kOrderTask);
    channel::OpenTurns& open = memory.header().turns[0];
    memory.header().processes = 1;
    for (uint16_t i = 0; i < channel::OpenTurns::kMax; i++) open.turn[i] = i;
    const Entry entry{Kind::kTurns, 0, 0, sizeof open.turn, 0, 0, 0};
    if (!put_waiting(memory.header(), memory.ring(slot), entry, open.turn, entry.size))
      return false;
    for (uint16_t i = 0; i < count; i++) open.turn[i] = static_cast<uint16_t>(first + i);
    open.first = first;
    open.count = count;
    raise(SIGKILL);
    return true;
  });
  record(memory, folder.directory, child, &status);
  const recording::Recording recording(folder.directory);
  EXPECT_EQ(verify(recording).damages, std::vector<std::string>());
  std::vector<uint16_t> kept;
  recording::StreamReader reader(recording::File::reading(recording.streams.at(0).path), kNumber,
                                 recording.streams.at(0).key, ~uint64_t{0});
  for (; const Entry* entry = reader.peek(); reader.take()) {
    const auto* turns = reinterpret_cast<const uint16_t*>(entry + 1);
    kept.insert(kept.end(), turns, turns + entry->size / sizeof *turns);
  }
  return kept;
}

TEST(Recorder, MakesAnEntryOfTheLastTurns) {
  const std::vector<uint16_t> kept = turns_kept(channel::OpenTurns::kMax, 3);
  ASSERT_EQ(kept.size(), channel::OpenTurns::kMax + 3);
  for (size_t i = 0; i < kept.size(); i++) EXPECT_EQ(kept[i], i);
}

TEST(Recorder, KeepsNoTurnTwiceWhereTheProgramDiedBetweenItsSteps) {
  EXPECT_EQ(turns_kept(0, channel::OpenTurns::kMax).size(),
            channel::OpenTurns::kMax);  // they are in the entry already
  EXPECT_EQ(turns_kept(0, 0).size(), channel::OpenTurns::kMax);
  EXPECT_EQ(turns_kept(channel::OpenTurns::kMax, channel::OpenTurns::kMax + 1).size(),
            channel::OpenTurns::kMax);  // that is none
}

// Words 0 to `kept - 1` are in an entry, `count` more say that they come after `first`, and `skip`
// points were as expected since: then the program is killed. All words that were kept.
std::vector<channel::Point> points_kept(uint32_t kept, uint64_t first, uint32_t count,
                                        uint32_t skip) {
  Folder folder;
  ChannelMemory memory(channel::Mode::kRecord);
  int status = -1;
  const pid_t child = start([&] {
    const uint32_t slot = open_slot(memory.header(), 0, 3 | channel::kPointsOf);
    channel::OpenPoints& open = memory.header().points[slot];
    const auto word = [](uint64_t value) {
      return channel::encoded({channel::PointKind::kNumber, false, 0, value});
    };
    for (uint32_t i = 0; i < kept; i++) open.word[i] = word(i);
    const Entry entry{Kind::kPoints, 0, 0, kept * 8, 0, 0, 0};
    if (kept && !put_waiting(memory.header(), memory.ring(slot), entry, open.word, entry.size))
      return false;
    for (uint32_t i = 0; i < count; i++) open.word[i] = word(first + i);
    open.first = first;
    open.state = uint64_t{skip} << 32 | count;
    raise(SIGKILL);
    return true;
  });
  record(memory, folder.directory, child, &status);
  const recording::Recording recording(folder.directory);
  EXPECT_EQ(verify(recording).damages, std::vector<std::string>());
  std::vector<channel::Point> points;
  if (recording.streams.empty()) return points;
  EXPECT_EQ(recording.streams.at(0).key.name(), "0-3-objects");
  recording::StreamReader reader(recording::File::reading(recording.streams.at(0).path), kNumber,
                                 recording.streams.at(0).key, ~uint64_t{0});
  for (; const Entry* entry = reader.peek(); reader.take()) {
    const auto* words = reinterpret_cast<const uint64_t*>(entry + 1);
    for (size_t i = 0; i < entry->size / sizeof *words; i++)
      points.push_back(channel::decoded_point(words[i]));
  }
  return points;
}

TEST(Recorder, MakesAnEntryOfTheLastPoints) {
  const std::vector<channel::Point> points =
      points_kept(channel::OpenPoints::kMax, channel::OpenPoints::kMax, 3, 9);
  ASSERT_EQ(points.size(), channel::OpenPoints::kMax + 4);
  for (size_t i = 0; i + 1 < points.size(); i++) EXPECT_EQ(points[i].value, i);
  EXPECT_EQ(points.back().kind, channel::PointKind::kEnd);
  EXPECT_EQ(points.back().skip, 9u);
  EXPECT_EQ(points_kept(0, 0, 0, 5).size(), 1u);  // none but as expected
}

TEST(Recorder, KeepsNoPointTwiceWhereTheProgramDiedBetweenItsSteps) {
  EXPECT_EQ(points_kept(5, 0, 5, 0).size(), 5u);  // they are in the entry already
  EXPECT_EQ(points_kept(5, 0, 0, 0).size(), 5u);
  EXPECT_EQ(points_kept(5, 5, channel::OpenPoints::kMax + 1, 0).size(), 5u);  // that is none
}

TEST(Recorder, CutsGroupsThatAreLongerThanAChunk) {
  Folder folder;
  ChannelMemory memory(channel::Mode::kRecord);
  int status = -1;
  const std::string bytes(channel::kMaxPayload, 'b');
  const pid_t child = start([&] {
    const uint32_t slot = open_slot(memory.header(), 0, 0);
    for (int i = 0; i < 300; i++) {
      const Entry entry{Kind::kMemory,
                        static_cast<uint8_t>(i == 299 ? 0 : channel::kMore),
                        0,
                        channel::kMaxPayload,
                        0,
                        0,
                        0};
      if (!put_waiting(memory.header(), memory.ring(slot), entry, bytes.data(),
                       channel::kMaxPayload))
        return false;
    }
    return true;
  });
  record(memory, folder.directory, child, &status);
  EXPECT_EQ(status, 0);
  const recording::Recording recording(folder.directory);
  const recording::Report report = verify(recording);
  EXPECT_EQ(report.damages, std::vector<std::string>());
  EXPECT_EQ(report.entries, 300u);
  EXPECT_GT(report.chunks, 2u);
  // Without its last chunk nothing of the group is left to a replay.
  const std::string path = recording.streams.front().path;
  fs::resize_file(path, fs::file_size(path) - 1);
  const recording::Extent extent = scan(recording::File::reading(path), kNumber, {0, 0});
  EXPECT_EQ(extent.good_size, 0u);
  EXPECT_EQ(extent.chunks, report.chunks - 1);
}

TEST(Recorder, EndsTheRecordingWhereTheProgramOverwroteTheMemory) {
  for (int kind = 0; kind < 4; kind++) {
    Folder folder;
    ChannelMemory memory(channel::Mode::kRecord);
    int status = -1;
    const pid_t child = start([&] {
      const uint32_t slot = open_slot(memory.header(), 0, 0);
      put_all(memory, slot, 10);
      channel::Ring ring = memory.ring(slot);
      Entry entry{Kind::kCall, 0, 0, 0, 0, 0, 0};
      if (kind == 0) entry.size = 0xffff'fff0;
      if (kind == 1) entry.kind = static_cast<Kind>(77);
      if (kind == 2) ring.slot->head += 3;
      if (kind == 3) ring.slot->head += 1ull << 40;
      if (kind < 2) {
        memcpy(ring.bytes + ring.slot->head % channel::kRingSize, &entry, sizeof entry);
        __atomic_store_n(&ring.slot->head, ring.slot->head + sizeof entry, __ATOMIC_RELEASE);
      }
      return !drain_waiting(memory.header(), ring);
    });
    const recording::End end = record(memory, folder.directory, child, &status);
    EXPECT_EQ(status, 0) << kind;
    EXPECT_NE(end.reason.find("has overwritten"), std::string::npos) << kind << end.reason;
  }
}

TEST(Recorder, TellsTheProgramWhereTheDirectoryCannotBeWritten) {
  Folder folder;
  fs::remove_all(folder.directory + "/streams");
  ChannelMemory memory(channel::Mode::kRecord);
  int status = -1;
  const pid_t child = start([&] {
    const uint32_t slot = open_slot(memory.header(), 0, 0);
    return !put_all(memory, slot, 10 * kMany) &&
           strstr(memory.header().why, "streams/0-0: No such file");
  });
  const recording::End end = record(memory, folder.directory, child, &status);
  EXPECT_EQ(status, 0);
  EXPECT_NE(end.reason.find("No such file"), std::string::npos);
}

// As a full disk: what was appended in part is cut off again.
TEST(Recorder, LeavesWholeChunksWhereTheDiskIsFull) {
  Folder folder;
  ChannelMemory memory(channel::Mode::kRecord);
  rlimit was;
  getrlimit(RLIMIT_FSIZE, &was);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit small{50000, was.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  int status = -1;
  const pid_t child = start([&] {
    return !put_all(memory, open_slot(memory.header(), 0, 0), 100 * kMany) &&
           strstr(memory.header().why, "File too large");
  });
  const recording::End end = record(memory, folder.directory, child, &status);
  setrlimit(RLIMIT_FSIZE, &was);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(status, 0);
  const recording::Recording recording(folder.directory);
  EXPECT_FALSE(recording.end->is_whole());
  const recording::Report report = verify(recording);
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_NE(report.damages[0].find("ends before the program did"), std::string::npos);
  EXPECT_GT(report.entries, 1000u);
}

TEST(Recorder, KeepsAsManyStreamsAsThereAreSlots) {
  Folder folder;
  int status = -1;
  {
    ChannelMemory memory(channel::Mode::kRecord);
    const pid_t child = start([&] {
      for (uint32_t i = 0; i < channel::kMaxStreams; i++) {
        if (!put_all(memory, open_slot(memory.header(), i / 64, i % 64), 3)) return false;
      }
      return true;
    });
    record(memory, folder.directory, child, &status);
  }
  EXPECT_EQ(status, 0);
  recording::Recording recording(folder.directory);
  EXPECT_EQ(recording.streams.size(), channel::kMaxStreams);
  const recording::Report report = verify(recording);
  EXPECT_EQ(report.damages, std::vector<std::string>());
  EXPECT_EQ(report.entries, 3u * channel::kMaxStreams);
  ChannelMemory memory(channel::Mode::kReplay);
  std::vector<std::string> damages;
  recording.streams.push_back({{9999, 0}, "/nowhere"});
  EXPECT_THROW(Feeder(memory, recording, &damages), Failure);
}

TEST(Feeder, ClosesADamagedStreamBeforeTheDamage) {
  Folder folder;
  int status = -1;
  {
    ChannelMemory memory(channel::Mode::kRecord);
    record(memory, folder.directory,
           start([&] { return put_all(memory, open_slot(memory.header(), 0, 0), kMany); }),
           &status);
  }
  recording::Recording recording(folder.directory);
  const std::string path = recording.streams.front().path;
  std::string bytes = recording::content_of(path, 100 << 20);
  bytes[bytes.size() / 2] ^= 4;
  ASSERT_TRUE(recording::replace_file(path, bytes));
  ChannelMemory memory(channel::Mode::kReplay);
  std::vector<std::string> damages;
  Feeder feeder(memory, recording, &damages);
  ASSERT_EQ(damages.size(), 1u);
  const pid_t child = start([&] {
    uint32_t count = 0;
    bool more = false;
    while (const Entry* entry = peek_waiting(memory.header(), memory.ring(0))) {
      if (entry->check != count++) return false;
      more = entry->flags & channel::kMore;
      take_waking(memory.header(), memory.ring(0), entry);
    }
    return !more && count > 100 && count < kMany;
  });
  EXPECT_EQ(serve(memory, child, [&] { feeder.put(); }), 0);
}

}  // namespace
}  // namespace weir::cli
