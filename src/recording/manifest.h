// The JSON files of a recording: what was recorded (written before the program starts), what it
// executed, and how it ended (written last; a recording without it was cut short). Each ends in a
// sum over what it says.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recording/bytes.h"

namespace weir::recording {

// A file that a replay needs unchanged: the program, its interpreters and its libraries.
struct Identity {
  std::string path;
  uint64_t size = 0;
  int64_t modified = 0;  // nanoseconds
  std::string build;     // GNU build id in hex; empty: none
  uint64_t sum = 0;      // XXH64 of the content
  bool is_kept = false;  // the recording has its content: kept_name()
  // What stat(2) says of it, as the loader leaves that in the program's memory; empty: unknown.
  std::vector<int64_t> facts = {};
};

// Of the kept content with this sum, in a recording's folder.
std::string kept_name(uint64_t sum);
std::vector<int64_t> facts_of(const struct stat& status);
// REQUIRES: `facts` are not empty.
struct stat status_of(const std::vector<int64_t>& facts);

// What of a processor a program can see: a replay elsewhere would take other paths.
struct Processor {
  std::string name;                // for messages
  std::vector<uint64_t> features;  // cli/launch/processor_x86_64.h
  bool operator==(const Processor& other) const { return features == other.features; }
};

// What a run under order serial was told, but for the machine.
struct Scheduled {
  std::string schedule;  // empty: the default one
  uint64_t step_limit = 0;
  bool operator==(const Scheduled&) const = default;
};

// What the program found of signals, by their numbers.
struct SignalState {
  std::vector<int> ignored, blocked;
  bool operator==(const SignalState&) const = default;
};

struct Manifest {
  uint64_t recording = 0;  // random
  std::string weir;        // version of the command
  int64_t started = 0;     // nanoseconds of real time
  std::string order, view;
  std::optional<Scheduled> scheduled;  // order serial
  bool fingerprint = false;
  std::string program;  // as given to execve
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string directory;               // working directory
  int descriptor = -1;                 // of the channel
  uint64_t stack = 0;                  // soft limit: it decides where the kernel maps
  std::optional<SignalState> signals;  // none: unknown
  uint64_t vdso = 0;                   // bytes of the kernel's vDSO and its data; 0: unknown
  // Ids: user, effective user, group, effective group. Empty: unknown.
  std::vector<uint64_t> user;
  std::string system;  // release of the kernel
  Processor processor;
  std::vector<Identity> files;

  // Whether the recording has the content of its files.
  bool has_kept() const { return !files.empty() && files.front().is_kept; }

  // Throws Damage: no recording, another format, a wrong sum, or something missing.
  static Manifest from_text(const std::string& text);
  std::string text() const;
};

// The file `images`: of the programs that the recorded one executed.
std::string text_of_images(const std::vector<Identity>& files);
std::vector<Identity> images_from(const std::string& text);

std::string signal_name(int signal);  // "SIGSEGV", "signal 35"

struct End {
  std::string reason;   // "exited", "killed", or why the recording stopped before the program
  int status = 0;       // exit status, or the signal
  double seconds = 0;   // the program's
  uint64_t packed = 0;  // bytes of all streams on disk
  uint64_t raw = 0;
  struct Stream {
    uint64_t chunks, entries;
    bool operator==(const Stream&) const = default;
  };
  std::map<std::string, Stream> streams;

  static End from_text(const std::string& text);
  std::string text() const;
  bool is_whole() const;      // up to the program's end
  std::string words() const;  // "exit 0", "SIGSEGV", "cut: No space left on device"
};

inline constexpr const char* kExited = "exited";
inline constexpr const char* kKilled = "killed";

// A line of files/list: the copy of a mapped file.
struct Copy {
  uint64_t number = 0;
  uint64_t size = 0;
  uint64_t sum = 0;
  std::string path;
  std::string line() const;  // with a newline
};

// The whole lines before the first that is damaged; `damage` says what that one is.
std::vector<Copy> copies_from(const std::string& text, std::string* damage);

}  // namespace weir::recording
