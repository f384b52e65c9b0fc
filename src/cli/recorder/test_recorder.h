// For tests: a recorder with a stand-in for the program, a child that puts through the same memory.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "base/atomic_enum.h"
#include "cli/recorder/recorder.h"

namespace weir::cli::test {

inline constexpr uint64_t kNumber = 0x1234;

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/weir-recorder-XXXXXX";
    path_ = mkdtemp(name);
    directory = recording::make_directory("/bin/program", path_ + "/one");
    recording::Manifest manifest;
    manifest.recording = kNumber;
    manifest.program = "/bin/program";
    manifest.arguments = {"program"};
    recording::replace_file(directory + "/manifest", manifest.text());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string directory;
  std::string outside(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline uint32_t open_slot(channel::Header& header, uint32_t process, uint32_t task) {
  const uint32_t slot = __atomic_fetch_add(&header.slots, 1, __ATOMIC_SEQ_CST);
  header.slot[slot].process = process;
  header.slot[slot].task = task;
  store_enum<__ATOMIC_RELEASE>(header.slot[slot].state, channel::State::kOpen);
  return slot;
}

inline pid_t start(const std::function<bool()>& program) {
  const pid_t child = fork();
  if (child == 0) _exit(program() ? 0 : 1);
  return child;
}

// Serves `child` until it ends; its status as wait gives it.
inline int serve(ChannelMemory& memory, pid_t child, const std::function<void()>& work) {
  for (;;) {
    const uint32_t seen = memory.bell();
    work();
    int status;
    if (waitpid(child, &status, WNOHANG) == child) return status;
    memory.sleep(seen, 2'000'000);
  }
}

inline recording::End record(ChannelMemory& memory, const std::string& directory, pid_t child,
                             int* status) {
  Recorder recorder(memory, directory, kNumber);
  uint64_t now = 1;
  *status = serve(memory, child, [&] { recorder.take(), recorder.age(now += 20'000'000); });
  recording::End end;
  recorder.finish(end);
  end.reason = recorder.failure().empty() ? recording::kExited : recorder.failure();
  EXPECT_TRUE(recording::replace_file(directory + "/end", end.text()));
  return end;
}

}  // namespace weir::cli::test
