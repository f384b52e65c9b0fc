// A tape: what was accessed, by whom and when, as a set of events (Tapeworm, section 2). It says
// which updates there are, not what is in them, so that it can be kept, sent, combined with others
// and stored. Dense in units: events of one interval share an extent.
//
// Encoding (numbers as in varint.h; every tape has exactly one):
//   tape  := tracks track*            how many; in the order of kind, node, interval
//   track := 0 step extent            of the kind and the node of the track before
//          | source interval extent   else; source: 1 + kind + 3 * node
//   step     := its interval, minus that of the track before, minus 1
//   extent   := extent.h; not empty
// Writes of node 2 to units 5, 6, 7 and 9 in interval 10 and to unit 5 in interval 12 are 02 | 07
// 0a 01 00 02 05 02 00 00 | 00 01 01 00 01 05 00: two tracks; the first of kind 0 and node 2,
// interval 10, and the extent that extent.h shows; the second of the same node, one interval left
// out, one chunk with one range of one unit.
//
// File, little endian: "WEIRTAPE"; version, 4 bytes: 1; CRC-32 (polynomial 0xedb88320) of all that
// follows, 4 bytes; size of the tape, 8 bytes; the tape. It is written under another name and
// renamed, so that it is there as a whole or not at all.
#pragma once

#include <stdint.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tape/extent.h"

namespace weir::tape {

enum class Kind : uint8_t {
  kWrite,    // node: the writer
  kRead,     // node: the reader
  kRequest,  // node: the one that requested the unit
};
inline constexpr uint32_t kKinds = 3;

struct Event {
  Kind kind = Kind::kWrite;
  uint32_t node = 0;
  uint32_t interval = 0;  // of the node that recorded it: for writes and reads the node above
  uint32_t unit = 0;
  auto operator<=>(const Event&) const = default;
};

// What all events of one track have in common.
struct Source {
  Kind kind = Kind::kWrite;
  uint32_t node = 0;
  uint32_t interval = 0;
  auto operator<=>(const Source&) const = default;
};

class Tape {
 public:
  // In order, none empty.
  using Tracks = std::map<Source, Extent>;

  void add(const Event& event) {
    tracks_[{event.kind, event.node, event.interval}].add(event.unit);
  }
  void add(const Source& source, const Extent& units);
  void clear() { tracks_.clear(); }

  // Union, difference and intersection of sets of events.
  Tape& operator+=(const Tape& other);
  Tape& operator-=(const Tape& other);
  Tape& operator&=(const Tape& other);
  // Cross: only what refers to units of the extent. The paper writes it as tape + extent.
  Tape& operator&=(const Extent& extent);
  // Only what refers to other units.
  Tape& operator-=(const Extent& extent);
  template <typename Other>
  friend Tape operator+(Tape left, const Other& right) {
    if constexpr (std::is_same_v<Other, Extent>) left &= right;
    else left += right;
    return left;
  }
  template <typename Other>
  friend Tape operator-(Tape left, const Other& right) {
    left -= right;
    return left;
  }
  template <typename Other>
  friend Tape operator&(Tape left, const Other& right) {
    left &= right;
    return left;
  }
  bool operator==(const Tape&) const = default;
  // cross() and without() are & and - by name.
  Tape cross(const Extent& extent) const { return *this & extent; }
  Tape without(const Extent& extent) const { return *this - extent; }

  // Only what passes.
  Tape of_kind(Kind kind) const;
  Tape of_node(uint32_t node) const;
  // Intervals that somebody who has this vector time knows, and those that he does not. A node
  // beyond the vector's end counts as 0: no interval of it is known.
  Tape known_at(std::span<const uint32_t> time) const;
  Tape unknown_at(std::span<const uint32_t> time) const;

  Extent flatten() const;
  Extent flatten(Kind kind) const;
  std::map<uint32_t, Extent> flatten_by_node() const;
  std::map<uint32_t, Extent> flatten_by_node(Kind kind) const;

  const Tracks& tracks() const { return tracks_; }
  bool contains(const Event& event) const;
  bool empty() const { return tracks_.empty(); }
  uint64_t size() const;  // events
  std::vector<Event> events() const;
  size_t memory() const;  // bytes, about

  void append_to(Bytes* to) const;
  // Nothing, and the reader says why, where the bytes are damaged.
  static std::optional<Tape> read_from(Reader* from);

  // Empty: it is done; else why not, for the user, with the file's name.
  [[nodiscard]] std::string store(const std::string& path) const;
  // This tape is as it was where it fails.
  [[nodiscard]] std::string reload(const std::string& path);

 private:
  template <typename Passes>
  Tape filtered(Passes passes) const;

  Tracks tracks_;
};

}  // namespace weir::tape
