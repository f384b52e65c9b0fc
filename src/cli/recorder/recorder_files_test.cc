// Files that the program maps: what the recorder copies, and when.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "channel/wait.h"
#include "cli/recorder/test_recorder.h"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;
using namespace test;
using channel::Entry;
using channel::Kind;

// What the program side sends with a mapped file that is open as `descriptor`; `said` is what it
// names.
std::string mapped(const std::string& path, int descriptor, int said) {
  struct stat status;
  fstat(descriptor, &status);
  const channel::MappedFile file{static_cast<uint64_t>(status.st_size),
                                 status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
                                 status.st_dev,
                                 status.st_ino,
                                 getpid(),
                                 said};
  return std::string(reinterpret_cast<const char*>(&file), sizeof file) + path;
}

bool send_file(ChannelMemory& memory, uint32_t slot, int64_t number, const std::string& payload) {
  const Entry entry{Kind::kFile, 0, 0, static_cast<uint32_t>(payload.size()), 0, 0, number};
  return put_waiting(memory.header(), memory.ring(slot), entry, payload.data(), entry.size) &&
         drain_waiting(memory.header(), memory.ring(slot));
}

// A program that opens the file, maps it, and then does this with its descriptor. Its status.
int record_mapping(const Folder& folder, const std::string& name, int flags,
                   const std::function<bool(int)>& then, recording::End* end = nullptr) {
  ChannelMemory memory(channel::Mode::kRecord);
  int status = -1;
  const pid_t child = start([&] {
    const uint32_t slot = open_slot(memory.header(), 0, 0);
    const int descriptor = open(name.c_str(), flags);
    return send_file(memory, slot, 0, mapped(name, descriptor, descriptor)) && then(descriptor);
  });
  const recording::End ended = record(memory, folder.directory, child, &status);
  if (end) *end = ended;
  return status;
}

std::string large_file(const Folder& folder, size_t size) {
  const std::string name = folder.outside("large");
  std::ofstream(name) << std::string(size, 'm');
  return name;
}

TEST(Recorder, CopiesMappedFilesAndThoseThatLostTheirName) {
  Folder folder;
  const std::string named = folder.outside("named"), lost = folder.outside("lost");
  std::ofstream(named) << "named content";
  std::ofstream(lost) << std::string(3 << 20, 'l');
  ChannelMemory memory(channel::Mode::kRecord);
  int status = -1;
  const pid_t child = start([&] {
    const uint32_t slot = open_slot(memory.header(), 0, 0);
    const int first = open(named.c_str(), O_RDONLY), second = open(lost.c_str(), O_RDONLY);
    unlink(lost.c_str());
    return send_file(memory, slot, 0, mapped(named, first, first)) &&
           send_file(memory, slot, 1, mapped(lost, second, second)) &&
           send_file(memory, slot, 2, mapped(named, first, -1));
  });
  record(memory, folder.directory, child, &status);
  EXPECT_EQ(status, 0);
  const recording::Recording recording(folder.directory);
  EXPECT_EQ(verify(recording).damages, std::vector<std::string>());
  EXPECT_EQ(recording.copies.size(), 3u);
  for (const recording::Copy& copy : recording.copies)
    EXPECT_EQ(copy.path, copy.number == 1 ? lost : named);
  EXPECT_EQ(recording::content_of(folder.directory + "/files/0", 100), "named content");
  EXPECT_EQ(fs::file_size(folder.directory + "/files/1"), 3u << 20);
  std::ofstream(folder.directory + "/files/0") << "named Content";
  EXPECT_EQ(verify(recording).damages,
            (std::vector<std::string>{"files/0: the sum is wrong", "files/2: the sum is wrong"}));
}

TEST(Recorder, EndsTheRecordingWhereAMappedFileIsGone) {
  Folder folder;
  const std::string name = folder.outside("gone");
  std::ofstream(name) << "gone";
  ChannelMemory memory(channel::Mode::kRecord);
  int status = -1;
  const pid_t child = start([&] {
    const uint32_t slot = open_slot(memory.header(), 0, 0);
    const int descriptor = open(name.c_str(), O_RDONLY);
    const std::string payload = mapped(name, descriptor, descriptor);
    close(descriptor);
    unlink(name.c_str());
    return !send_file(memory, slot, 0, payload) && strstr(memory.header().why, "gone");
  });
  const recording::End end = record(memory, folder.directory, child, &status);
  EXPECT_EQ(status, 0);
  EXPECT_NE(end.reason.find("has changed or gone"), std::string::npos) << end.reason;
}

// The program says of what it consists; of that a copy is kept which somebody wants, under each of
// its numbers.
TEST(Recorder, CopiesFilesOfProgramsThatAreWanted) {
  Folder folder;
  const std::string made = folder.outside("made"), installed = folder.outside("installed");
  std::ofstream(made) << "made here";
  std::ofstream(installed) << "from elsewhere";
  ChannelMemory memory(channel::Mode::kRecord);
  const pid_t child = start([&] {
    const uint32_t slot = open_slot(memory.header(), 0, 0);
    bool good = true;
    for (const auto& [number, name] :
         {std::pair(3, made), std::pair(4, installed), std::pair(5, made)}) {
      const int descriptor = open(name.c_str(), O_RDONLY);
      const std::string payload = mapped(name, descriptor, -1);
      const Entry entry{
          Kind::kFile, 0, channel::kOfImage, static_cast<uint32_t>(payload.size()), 0, 0, number};
      good = good &&
             put_waiting(memory.header(), memory.ring(slot), entry, payload.data(), entry.size);
    }
    return good && drain_waiting(memory.header(), memory.ring(slot));
  });
  Recorder recorder(memory, folder.directory, kNumber,
                    [&](const std::string& path, const struct stat&, recording::Copy& kept) {
                      kept.size = 14;
                      return path == made ? Recorder::Need::kCopy : Recorder::Need::kListed;
                    });
  EXPECT_EQ(serve(memory, child, [&] { recorder.take(); }), 0);
  recording::End end;
  recorder.finish(end);
  EXPECT_EQ(recorder.failure(), "");
  EXPECT_EQ(recording::content_of(folder.directory + "/files/3", 100), "made here");
  EXPECT_FALSE(fs::exists(folder.directory + "/files/4"));
  const std::string list = recording::content_of(folder.directory + "/files/list", 4096);
  EXPECT_NE(list.find(" 4 14 0000000000000000 " + installed), std::string::npos) << list;
  EXPECT_TRUE(fs::equivalent(folder.directory + "/files/3", folder.directory + "/files/5"));
  EXPECT_EQ(fs::status(folder.directory + "/files/3").permissions() & fs::perms::owner_exec,
            fs::perms::owner_exec);
}

// The program goes on before its file is copied. Who writes the file waits; the copy has what was
// mapped.
TEST(Recorder, LetsNobodyWriteWhatIsBeingCopied) {
  constexpr size_t kSize = 100 << 20;
  for (const bool cuts : {false, true}) {
    Folder folder;
    const std::string name = large_file(folder, kSize);
    const auto change = [&](int) {
      return cuts ? truncate(name.c_str(), 10) == 0
                  : write(open(name.c_str(), O_WRONLY), "changed", 7) == 7;
    };
    EXPECT_EQ(record_mapping(folder, name, O_RDONLY, change), 0);
    EXPECT_EQ(verify(recording::Recording(folder.directory)).damages, std::vector<std::string>());
    const std::string copy = recording::content_of(folder.directory + "/files/0", kSize);
    EXPECT_EQ(copy.size(), kSize);
    EXPECT_EQ(copy.substr(0, 7), "mmmmmmm");
    EXPECT_EQ(fs::file_size(name), cuts ? 10 : kSize);
  }
}

// What is open for writing cannot be leased, and is copied before the program goes on.
TEST(Recorder, CopiesAtOnceWhatMayBeWritten) {
  constexpr size_t kSize = 20 << 20;
  Folder folder;
  const std::string name = large_file(folder, kSize);
  const auto change = [](int descriptor) {
    return pwrite(descriptor, "changed", 7, kSize - 7) == 7;
  };
  EXPECT_EQ(record_mapping(folder, name, O_RDWR, change), 0);
  EXPECT_EQ(verify(recording::Recording(folder.directory)).damages, std::vector<std::string>());
  EXPECT_EQ(recording::content_of(folder.directory + "/files/0", kSize), std::string(kSize, 'm'));
}

// What comes after a file comes to disk after its copy: where that fails the recording ends before
// the file.
TEST(Recorder, KeepsNothingBehindACopyThatFails) {
  Folder folder;
  const std::string name = large_file(folder, 20 << 20);
  fs::remove_all(folder.directory + "/files");
  recording::End end;
  (void)record_mapping(
      folder, name, O_RDONLY, [](int) { return true; }, &end);
  EXPECT_NE(end.reason.find("cannot be copied"), std::string::npos) << end.reason;
  EXPECT_EQ(end.streams.size(), 0u);
}

}  // namespace
}  // namespace weir::cli
