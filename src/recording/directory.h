// Where recordings are kept, and one recording as a directory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recording/manifest.h"
#include "recording/stream.h"

namespace weir::recording {

// The folder of recordings for which no folder was given: $WEIR_RECORDINGS, or $XDG_DATA_HOME/weir,
// or ~/.local/share/weir. Throws Damage if none of the three is set.
std::string default_place();

// A new directory for the recording of `program`, below default_place() or at `wanted` where that
// is not empty; its absolute name. Throws Damage with the reason.
std::string make_directory(const std::string& program, const std::string& wanted);

struct StreamFile {
  Key key;
  std::string path;
};

// A recording as it is opened to be read. Throws Damage where it is none, or none of this version;
// what follows the manifest may be damaged: the messages are collected.
class Recording {
 public:
  explicit Recording(const std::string& directory);

  std::string directory;  // absolute
  Manifest manifest;
  std::optional<End> end;           // nothing: it was cut short, or the file is damaged
  std::vector<StreamFile> streams;  // by key
  std::vector<Copy> copies;
  std::vector<Identity> images;      // files of programs that it executed
  std::vector<std::string> damages;  // of what the directory itself tells: not of streams

  std::string path(const std::string& name) const { return directory + "/" + name; }
};

// Bytes of all files in it, without kept contents that the store or other recordings have too.
uint64_t size_of(const std::string& directory);

// Whether there is something that calls itself a recording, of whatever version.
bool is_recording(const std::string& directory);

// Names of the recordings in `place`, oldest first.
std::vector<std::string> recordings_in(const std::string& place);

// The recording that a user names: a directory, or else the one of this name in default_place().
std::string recording_named(const std::string& name);

struct Report {
  std::vector<std::string> damages;  // "streams/0-1: chunk 3 (byte 8812): the sum is wrong"
  uint64_t chunks = 0, entries = 0, bytes = 0;
};

// Reads everything: all sums, all entries, and that what the end says is there.
Report verify(const Recording& recording);

// Empty: the file holds what has this size and sum. REQUIRES: if it is not open, errno says why.
std::string damage_of(const File& file, uint64_t size, uint64_t sum);

// The part of verify() that a replay needs before it starts: the sums of the copied files.
void verify_copies(const Recording& recording, std::vector<std::string>* damages);

}  // namespace weir::recording
