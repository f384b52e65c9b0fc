// What a replay takes from the recording because the files of which its programs consist are not
// on this machine as they were: another version was installed, or they are gone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/launch/program.h"
#include "recording/directory.h"

namespace weir::cli {

class KeptFiles {
 public:
  // Compares the recorded files with those that are there now. Throws Failure if one has changed
  // and the recording does not have its content.
  explicit KeptFiles(const recording::Recording& recording);
  ~KeptFiles();
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  // Whether something has changed: then all of the recorded files come from the recording.
  bool is_used() const { return is_used_; }
  // The recorded working directory; empty: it was gone.
  const std::string& directory() const { return recording_.manifest.directory; }
  // The recorded file of this name, which may be relative; null: it is none of them.
  const recording::Identity* named(const std::string& path) const;
  // The loader would find this file, and did not when this was recorded.
  bool is_new(const std::string& path) const;
  // A descriptor of the file, to be read or mapped; not open, with errno.
  recording::File opened(const recording::Identity& file) const;
  // A descriptor of a program, which the kernel can execute. Throws Failure.
  int executable(uint64_t sum);

  // The file that holds the content of a program or library of this name in a memory map, and its
  // recorded name; both the given name if it is none of the recording's.
  struct Shown {
    std::string file, name;
  };
  Shown shown(const std::string& mapped) const;
  // A folder in which a debugger finds the recorded files by their recorded names, and below
  // kByLastPart by the last parts of these, for as long as this object is. Empty: all are where
  // they were. Throws Failure.
  std::string debugger_root();
  // The file of the recorded program, for a debugger.
  std::string program_file() const;
  static constexpr const char* kByLastPart = "/.by-last-part";

  // In the child: what is to be executed instead of the recorded program. Its working directory is
  // one of its own then. Throws Failure.
  Program program();

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  std::string path_of(uint64_t sum) const;
  int with_interpreter(const recording::File& program, uint64_t sum);

  const recording::Recording& recording_;
  bool is_used_ = false;
  std::string root_;  // debugger_root()
  std::map<std::string, const recording::Identity*> by_path_;
  std::map<uint64_t, int> executables_;      // descriptors, by sum
  std::map<std::string, int> interpreters_;  // of those that have changed, by path
};

}  // namespace weir::cli
