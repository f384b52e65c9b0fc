// What a checkpoint is on disk.
//
// Layout, in the directory that the program names:
//   current              one line: the name of the generation that counts, and the checksum of its
//                        directory, 16 hexadecimal digits. Replaced at once, by rename.
//   generation-G/directory   DirectoryHeader, for each node's file its FileSum, then
//                            Memory::put_all: what is allocated, and where.
//   generation-G/node-N      FileHeader, then for each unit Record and bytes; last, a Record with
//                            unit kNoUnit, the number of units as its size, and as its checksum
//                            that of all headers before it. Units that are not there are zero.
// Numbers are little endian.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <string>
#include <vector>

#include "dsm/base/types.h"

namespace weir::dsm {

inline constexpr uint32_t kCheckpointVersion = 2;

// Continues `before` over some bytes. Finds damage, not forgery: each step can be undone, so one
// word that differs always makes the sum differ.
uint64_t checksum(uint64_t before, const void* bytes, size_t size);

struct FileSum {
  uint64_t size = 0, checksum = 0;
};

struct DirectoryHeader {
  char magic[8] = {'w', 'e', 'i', 'r', 'd', 's', 'm', 'd'};
  uint32_t version = kCheckpointVersion;
  uint32_t nodes = 0;    // that wrote it
  uint64_t address = 0;  // Settings::address: pointers in shared memory are right nowhere else
  uint64_t root = 0;     // in the segment
};
static_assert(sizeof(DirectoryHeader) == 32);

class UnitWriter {
 public:
  UnitWriter(const std::string& path, NodeId node, uint32_t generation);
  ~UnitWriter();
  void add(UnitId unit, const uint8_t* bytes, uint64_t size);
  // Puts the file on disk now. Returns an error number.
  [[nodiscard]] int finish(FileSum& sum);

 private:
  void put(const void* bytes, size_t size);
  FILE* file_;
  int error_ = 0;
  FileSum sum_;
  uint64_t units_ = 0;
};

// Ends the job where the file is not what the directory says.
class UnitReader {
 public:
  UnitReader(const std::string& path, NodeId node, uint32_t generation, const FileSum& expected);
  ~UnitReader();
  // Returns false if there are no more units.
  bool next(UnitId& unit, std::vector<uint8_t>& bytes);

 private:
  void get(void* bytes, size_t size);
  const std::string path_;
  FILE* file_;
  FileSum expected_;
  FileSum sum_;  // of what was read
  uint64_t units_ = 0;
};

struct Current {
  uint32_t generation = 0;  // 0: none
  uint64_t checksum = 0;    // of its directory
};
std::string generation_path(const std::string& directory, uint32_t generation);

// These return error numbers; EBADMSG: the file is damaged. For read_current(), a missing file is
// no error.
[[nodiscard]] int read_current(const std::string& directory, Current& current);
[[nodiscard]] int write_current(const std::string& directory, const Current& current);
[[nodiscard]] int read_whole(const std::string& path, std::vector<uint8_t>& bytes);
[[nodiscard]] int write_whole(const std::string& path, const void* bytes, size_t size);
// An empty one, in a directory that is made where it lacks.
[[nodiscard]] int make_generation(const std::string& directory, uint32_t generation);
[[nodiscard]] int sync_directory(const std::string& path);
// As far as possible.
void remove_generation(const std::string& directory, uint32_t generation);
void remove_others(const std::string& directory, uint32_t generation);

}  // namespace weir::dsm
