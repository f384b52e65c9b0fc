// In a replay, the loader of a program looks for libraries where there may be none, or others, by
// now: the recorded program had made them, or the system has been upgraded. It makes its system
// calls before the library can see any. So the kernel is told to ask the command about them
// (seccomp's user notification), and the command hands out the recording's copies.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>

#include "cli/common/channel_memory.h"
#include "cli/launch/kept_files.h"
#include "recording/directory.h"

struct seccomp_notif;

namespace weir::cli {

class LoaderFiles {
 public:
  // Does nothing if the recording has copies of no programs, and what it keeps is not used.
  LoaderFiles(const ChannelMemory& memory, const recording::Recording& recording, KeptFiles& kept);
  ~LoaderFiles();

  // In the child, before it becomes the program. Throws Failure where this machine forbids it.
  void install();

 private:
  void serve();
  void answer(const seccomp_notif& request);
  bool answer_readlink(const seccomp_notif& request, uint32_t first);
  bool answer_stat(const seccomp_notif& request, const channel::Image& image,
                   const std::string& path);
  bool answer_open(const seccomp_notif& request, const channel::Image& image,
                   const std::string& path);
  bool answer_kept(const seccomp_notif& request, const std::string& path);
  bool answer_getcwd(const seccomp_notif& request);
  bool answer_facts(const seccomp_notif& request);
  bool give(const seccomp_notif& request, int descriptor) const;
  void respond(const seccomp_notif& request, int64_t value, uint32_t flags) const;

  const ChannelMemory& memory_;
  const std::string directory_;
  KeptFiles& kept_;
  // By number: of copies that are executed or loaded at the start of a program.
  std::map<uint64_t, std::string> names_;
  std::map<uint64_t, uint64_t> sums_;  // of those that are kept contents, by number
  std::map<uint32_t, const recording::Identity*> opened_;  // by task: what it opened last
  int ends_[2] = {-1, -1};  // by which the child hands over the descriptor
  int listener_ = -1;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

}  // namespace weir::cli
