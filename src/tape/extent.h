// A set of units, as Tapeworm's extents (section 2): small whether it holds three units or sixteen
// million, and combined with others in time proportional to what both take in memory.
//
// Encoding (numbers as in varint.h; every set has exactly one):
//   extent := chunks chunk*
//   chunks := how many, ascending; a chunk is 65,536 units of which at least one is in the set
//   chunk  := gap runs run*  |  gap 0 bitmap
//   gap    := the chunk's number (unit / 65,536), minus that of the chunk before, minus 1; of the
//             first one: the number itself
//   runs   := how many ranges, 1 to 2,048
//   run    := skip more
//   skip   := units left out since the run before ended, minus 1; of the first one: its first unit
//             in the chunk
//   more   := units minus 1
//   bitmap := 8,192 bytes, lowest unit in the lowest bit; only where there are more than 2,048
//             ranges
// So {5, 6, 7, 9} is 01 00 02 05 02 00 00: one chunk, the first, with two ranges: from 5 on, two
// more; one left out (8), no more after 9.
#pragma once

#include <stdint.h>

#include <initializer_list>
#include <optional>
#include <vector>

#include "tape/varint.h"

namespace weir::tape {

struct UnitRange {  // both included
  uint32_t first = 0;
  uint32_t last = 0;
  uint64_t size() const { return uint64_t{last} - first + 1; }
  bool operator==(const UnitRange&) const = default;
};

class Extent {
 public:
  class Iterator;

  Extent() = default;
  Extent(std::initializer_list<uint32_t> units) {
    for (const uint32_t unit : units) add(unit);
  }

  void add(uint32_t unit) { add_range(unit, unit); }
  // Both included. REQUIRES: first <= last.
  void add_range(uint32_t first, uint32_t last);
  void clear() { chunks_.clear(); }

  Extent& operator+=(const Extent& other) { return combine(other, Operation::kUnion); }
  Extent& operator&=(const Extent& other) { return combine(other, Operation::kIntersection); }
  Extent& operator-=(const Extent& other) { return combine(other, Operation::kDifference); }
  friend Extent operator+(Extent left, const Extent& right) { return left += right, left; }
  friend Extent operator&(Extent left, const Extent& right) { return left &= right, left; }
  friend Extent operator-(Extent left, const Extent& right) { return left -= right, left; }
  bool operator==(const Extent& other) const;

  bool contains(uint32_t unit) const;
  bool intersects(const Extent& other) const;
  bool empty() const { return chunks_.empty(); }
  uint64_t size() const;  // units
  size_t memory() const;  // bytes

  // Its units, ascending. Valid while the extent is not changed.
  Iterator begin() const;
  Iterator end() const;
  // As few ranges as there can be, ascending.
  std::vector<UnitRange> ranges() const;

  void append_to(Bytes* to) const;
  // Nothing, and the reader says why, where the bytes are damaged.
  static std::optional<Extent> read_from(Reader* from);

 private:
  enum class Operation { kUnion, kIntersection, kDifference };

  // Layout: `words` are either ranges, the first unit in the low half and the last in the high one,
  // ascending and not touching; or a bitmap of 2,048 words.
  struct Chunk {
    uint32_t number = 0;  // unit >> 16
    uint32_t units = 0;
    uint32_t runs = 0;
    bool is_bitmap = false;
    std::vector<uint32_t> words;
  };
  friend struct ChunkWork;

  Extent& combine(const Extent& other, Operation operation);

  std::vector<Chunk> chunks_;  // by number, none empty
};

class Extent::Iterator {
 public:
  using value_type = uint32_t;
  using difference_type = ptrdiff_t;
  using pointer = const uint32_t*;
  using reference = uint32_t;
  using iterator_category = std::input_iterator_tag;

  uint32_t operator*() const { return unit_; }
  Iterator& operator++() {
    if (unit_ < last_) {
      unit_++;
    } else {
      next_run();
    }
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Iterator& other) const {
    return chunk_ == other.chunk_ && (at_end() || unit_ == other.unit_);
  }

 private:
  friend class Extent;
  explicit Iterator(const Extent* of, size_t chunk) : of_(of), chunk_(chunk) {
    if (!at_end()) next_run();
  }
  bool at_end() const { return chunk_ == of_->chunks_.size(); }
  void next_run();

  const Extent* of_;
  size_t chunk_;
  uint32_t place_ = 0;  // in the chunk: the next range, or the next bit
  uint32_t unit_ = 0, last_ = 0;
};

inline Extent::Iterator Extent::begin() const { return Iterator(this, 0); }
inline Extent::Iterator Extent::end() const { return Iterator(this, chunks_.size()); }

}  // namespace weir::tape
