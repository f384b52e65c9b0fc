// One stream of a recording on disk: the entries of one task, or a process's order stream, in
// chunks (recording/format.h).
//
// Invariants
// 1. A chunk is written by one append. What a crash leaves behind the last whole chunk is no chunk,
//    as its sums show. (not checkable: a crash comes between two instructions)
// 2. A chunk holds whole entries. If it ends inside a group (channel::kMore), it says so
//    (kGroupGoesOn). (not checkable: the reader does, and reports damage)
// 3. A reader hands out only what lies before the first damage, and no entry of a group that is not
//    whole. (not checkable: what lies behind damage may be anything)
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "channel/format.h"
#include "recording/bytes.h"
#include "recording/format.h"

namespace weir::recording {

inline constexpr uint32_t kOrderStream = 0xffff'ffff;  // channel::kOrderTask

struct Key {
  uint32_t process;
  uint32_t task;
  auto operator<=>(const Key&) const = default;
  std::string name() const;  // "0-3", "0-order", "0-3-objects": the file's name in streams/
  static std::optional<Key> from_name(std::string_view name);
};

// Entries that wait to become a chunk.
struct Chunk {
  Key key;
  uint32_t flags = 0;
  uint64_t sequence = 0;
  uint64_t first_entry = 0;
  uint64_t entries = 0;
  std::string raw;
};

// The chunk's bytes as they go to disk. Throws Damage where zstd fails.
std::string packed(const Chunk& chunk, uint64_t recording, int level);
// In `room`, which grows as needed and is worth keeping for the next chunk.
std::string_view pack_into(std::string& room, const Chunk& chunk, uint64_t recording, int level);

// Gathers the entries of one stream and cuts chunks, if it can between two groups.
class Chunker {
 public:
  explicit Chunker(Key key) : key_(key) {}
  void add(const channel::Entry& entry, const void* payload);
  bool is_full() const { return raw_.size() >= kWanted; }
  bool is_empty() const { return raw_.empty(); }
  // All up to the end of the last whole group; all where a group is longer than a chunk. Nothing:
  // there is no whole group yet.
  std::optional<Chunk> cut();
  Key key() const { return key_; }

 private:
  static constexpr size_t kWanted = 256 << 10;
  static constexpr size_t kLongGroup = kMaxRaw / 2;

  Key key_;
  std::string raw_;
  size_t whole_ = 0;            // bytes of raw_ that end at a group's end
  uint64_t whole_entries_ = 0;  // entries before that
  uint64_t entries_ = 0;        // ever added
  uint64_t first_entry_ = 0;    // of raw_
  uint64_t sequence_ = 0;
};

// What a stream's file holds, by headers and sums alone.
struct Extent {
  // Bytes of the file that a replay may use: whole chunks up to the end of a group.
  uint64_t good_size = 0;
  uint64_t whole_size = 0;  // bytes of whole chunks
  uint64_t file_size = 0;
  uint64_t chunks = 0;    // whole ones
  uint64_t raw_size = 0;  // in them
  std::string damage;     // what comes behind the last whole chunk; empty: nothing
};

Extent scan(const File& file, uint64_t recording, Key key);

// Reads entry after entry. Never throws: what cannot be read is the end, and damage() says why.
class StreamReader {
 public:
  StreamReader() = default;
  // Up to `limit` bytes of the file (Extent::good_size).
  StreamReader(File file, uint64_t recording, Key key, uint64_t limit);

  // The entry that take() removes, with its payload behind it; null at the end.
  const channel::Entry* peek();
  void take();
  Key key() const { return key_; }
  const std::string& damage() const { return damage_; }
  uint64_t entries() const { return entries_; }  // taken

 private:
  bool next_chunk();

  File file_;
  uint64_t recording_ = 0;
  Key key_{};
  uint64_t limit_ = 0, offset_ = 0, sequence_ = 0, entries_ = 0;
  std::string raw_;
  size_t at_ = 0;
  std::string damage_;
};

// Whether `left` bytes at `at` begin with a whole, well-formed entry.
bool is_entry(const char* at, size_t left);

}  // namespace weir::recording
