// Sets of units, in chunks.
//
// The problem: the same set type serves a lock that guards one unit and a flush of everything that
// a program has (16 million pages are 64 GiB). The paper keeps a bitmap over all shared pages, and
// says itself that this would be too much with more of them. Sorted ranges alone are small for what
// programs do (blocks of an array). But a program that writes every other page makes millions of
// them, and each further unit then moves megabytes.
//
// The mechanism: units are divided into chunks of 65,536. A chunk holds sorted ranges while these
// take no more than a bitmap of the chunk, 8 KiB, and a bitmap from then on. So a set takes at most
// 1.01 bits for each unit of each chunk that it touches, and at most about 60 bytes more for each
// chunk; adding a unit moves at most 8 KiB. Two chunks of ranges are combined by walking both. If
// one is a bitmap, both become bitmaps on the stack, and the result becomes ranges again if it has
// few.
//
// Invariants:
//   1. No chunk is empty, and chunks are in the order of their numbers. So an empty set has no
//      chunks. (not checkable: a walk through the set at each change; extent_test.cc compares with
//      a plain set)
//   2. Ranges of a chunk are in order, and a unit that is not in the set lies between two: the same
//      units have the same ranges. A bitmap is left only when its ranges are down to a fourth of
//      the possible maximum, so that a set at the border is not converted time and again. Equal
//      sets may therefore differ in their memory, but not in their ranges and not in their
//      encoding. (not checkable: a walk through the set at each change; extent_test.cc compares
//      with a plain set)
//   3. units and runs of a chunk are right in both forms. (not checkable: a walk through the set at
//      each change; extent_test.cc compares with a plain set)
#include "tape/extent.h"

#include <algorithm>
#include <array>
#include <bit>

namespace weir::tape {

namespace {

constexpr uint32_t kChunkUnits = 65536;
constexpr uint32_t kBitmapWords = kChunkUnits / 32;
constexpr uint32_t kMaxRuns = kBitmapWords;  // a range takes a word
constexpr uint32_t kFewRuns = kMaxRuns / 4;
constexpr uint32_t kMaxChunk = 0xffff;

using Bitmap = std::array<uint32_t, kBitmapWords>;

uint32_t first_of(uint32_t range) { return range & 0xffff; }
uint32_t last_of(uint32_t range) { return range >> 16; }
uint32_t range_of(uint32_t first, uint32_t last) { return first | last << 16; }
bool bit(const uint32_t* words, uint32_t unit) { return words[unit / 32] >> unit % 32 & 1; }

void set_bits(uint32_t* words, uint32_t first, uint32_t last) {
  const uint32_t low = ~uint32_t{0} << first % 32, high = ~uint32_t{0} >> (31 - last % 32);
  if (first / 32 == last / 32) {
    words[first / 32] |= low & high;
    return;
  }
  words[first / 32] |= low;
  for (uint32_t i = first / 32 + 1; i < last / 32; i++) words[i] = ~uint32_t{0};
  words[last / 32] |= high;
}

// The first unit from `from` on that is in the bitmap, or (wanted = 0) is not; kChunkUnits where
// there is none.
uint32_t next_bit(const uint32_t* words, uint32_t from, uint32_t flip) {
  if (from >= kChunkUnits) return kChunkUnits;
  uint32_t i = from / 32;
  uint32_t word = (words[i] ^ flip) & ~uint32_t{0} << from % 32;
  while (word == 0) {
    if (++i == kBitmapWords) return kChunkUnits;
    word = words[i] ^ flip;
  }
  return i * 32 + static_cast<uint32_t>(std::countr_zero(word));
}
uint32_t next_set(const uint32_t* words, uint32_t from) { return next_bit(words, from, 0); }
uint32_t next_clear(const uint32_t* words, uint32_t from) {
  return next_bit(words, from, ~uint32_t{0});
}

}  // namespace

// What is done with one chunk; here and not in the header, as it is nobody else's business.
struct ChunkWork {
  using Chunk = Extent::Chunk;
  using Operation = Extent::Operation;

  template <typename Visit>
  static void each_run(const Chunk& chunk, Visit visit) {
    if (!chunk.is_bitmap) {
      for (const uint32_t range : chunk.words) visit(first_of(range), last_of(range));
      return;
    }
    for (uint32_t first = next_set(chunk.words.data(), 0); first < kChunkUnits;) {
      const uint32_t limit = next_clear(chunk.words.data(), first);
      visit(first, limit - 1);
      first = next_set(chunk.words.data(), limit);
    }
  }

  static void fill(const Chunk& chunk, Bitmap* bitmap) {
    if (chunk.is_bitmap) {
      std::copy(chunk.words.begin(), chunk.words.end(), bitmap->begin());
      return;
    }
    bitmap->fill(0);
    for (const uint32_t range : chunk.words)
      set_bits(bitmap->data(), first_of(range), last_of(range));
  }

  static void count(Chunk* chunk) {
    uint32_t units = 0, runs = 0;
    if (chunk->is_bitmap) {
      uint32_t before = 0;
      for (const uint32_t word : chunk->words) {
        units += static_cast<uint32_t>(std::popcount(word));
        runs += static_cast<uint32_t>(std::popcount(word & ~(word << 1 | before)));
        before = word >> 31;
      }
    } else {
      for (const uint32_t range : chunk->words) units += last_of(range) - first_of(range) + 1;
      runs = static_cast<uint32_t>(chunk->words.size());
    }
    chunk->units = units;
    chunk->runs = runs;
  }

  static void to_bitmap(Chunk* chunk) {
    if (chunk->is_bitmap) return;
    std::vector<uint32_t> bits(kBitmapWords);
    for (const uint32_t range : chunk->words)
      set_bits(bits.data(), first_of(range), last_of(range));
    chunk->words = std::move(bits);
    chunk->is_bitmap = true;
  }
  static void to_ranges(Chunk* chunk) {
    if (!chunk->is_bitmap) return;
    std::vector<uint32_t> ranges;
    ranges.reserve(chunk->runs);
    each_run(*chunk,
             [&](uint32_t first, uint32_t last) { ranges.push_back(range_of(first, last)); });
    chunk->words = std::move(ranges);
    chunk->is_bitmap = false;
  }
  // After count().
  static void choose_form(Chunk* chunk) {
    if (!chunk->is_bitmap && chunk->runs > kMaxRuns) to_bitmap(chunk);
    if (chunk->is_bitmap && chunk->runs <= kFewRuns) to_ranges(chunk);
  }

  static bool contains(const Chunk& chunk, uint32_t unit) {
    if (chunk.is_bitmap) return bit(chunk.words.data(), unit);
    const auto at = std::partition_point(chunk.words.begin(), chunk.words.end(),
                                         [&](uint32_t range) { return last_of(range) < unit; });
    return at != chunk.words.end() && first_of(*at) <= unit;
  }

  static void add(Chunk* chunk, uint32_t first, uint32_t last) {
    if (chunk->is_bitmap) {
      uint32_t* words = chunk->words.data();
      if (first == last) {
        if (bit(words, first)) return;
        const uint32_t neighbours = (first > 0 && bit(words, first - 1)) +
                                    (first + 1 < kChunkUnits && bit(words, first + 1));
        set_bits(words, first, first);
        chunk->units++;
        chunk->runs += 1 - neighbours;
      } else {
        set_bits(words, first, last);
        count(chunk);
      }
    } else {
      // [from, to): the ranges that the new one touches.
      auto& ranges = chunk->words;
      const auto from = std::partition_point(
          ranges.begin(), ranges.end(), [&](uint32_t range) { return last_of(range) + 1 < first; });
      auto to = from;
      uint32_t covered = 0;
      for (; to != ranges.end() && first_of(*to) <= last + 1; ++to) {
        first = std::min(first, first_of(*to));
        last = std::max(last, last_of(*to));
        covered += last_of(*to) - first_of(*to) + 1;
      }
      chunk->units += last - first + 1 - covered;
      if (from == to) {
        ranges.insert(from, range_of(first, last));
      } else {
        *from = range_of(first, last);
        ranges.erase(from + 1, to);
      }
      chunk->runs = static_cast<uint32_t>(ranges.size());
    }
    choose_form(chunk);
  }

  // Both as ranges: a sweep over the places where either begins or ends.
  static std::vector<uint32_t> sweep(const std::vector<uint32_t>& left,
                                     const std::vector<uint32_t>& right, Operation operation) {
    std::vector<uint32_t> result;
    result.reserve(operation == Operation::kIntersection ? std::min(left.size(), right.size())
                                                         : left.size());
    size_t i = 0, k = 0;  // in edges: range * 2 + (0: its first unit, 1: its limit)
    const auto edge = [](const std::vector<uint32_t>& ranges, size_t at) {
      if (at == ranges.size() * 2) return ~uint32_t{0};
      return at % 2 == 0 ? first_of(ranges[at / 2]) : last_of(ranges[at / 2]) + 1;
    };
    bool was_in = false;
    uint32_t since = 0;
    while (i < left.size() * 2 || k < right.size() * 2) {
      const uint32_t here = std::min(edge(left, i), edge(right, k));
      if (edge(left, i) == here) i++;
      if (edge(right, k) == here) k++;
      const bool in_left = i % 2, in_right = k % 2;
      bool in = in_left || in_right;
      if (operation == Operation::kIntersection) in = in_left && in_right;
      if (operation == Operation::kDifference) in = in_left && !in_right;
      if (in && !was_in) since = here;
      if (!in && was_in) result.push_back(range_of(since, here - 1));
      was_in = in;
    }
    return result;
  }

  static void combine(Chunk* chunk, const Chunk& other, Operation operation) {
    if (!chunk->is_bitmap && !other.is_bitmap) {
      chunk->words = sweep(chunk->words, other.words, operation);
    } else {
      Bitmap right;
      fill(other, &right);
      to_bitmap(chunk);
      for (uint32_t i = 0; i < kBitmapWords; i++) {
        uint32_t& word = chunk->words[i];
        if (operation == Operation::kUnion) word |= right[i];
        else if (operation == Operation::kIntersection) word &= right[i];
        else word &= ~right[i];
      }
    }
    count(chunk);
    choose_form(chunk);
  }
};

void Extent::add_range(uint32_t first, uint32_t last) {
  for (uint32_t number = first >> 16; number <= last >> 16; number++) {
    const uint32_t from = number == first >> 16 ? first & 0xffff : 0,
                   to = number == last >> 16 ? last & 0xffff : 0xffff;
    auto at = chunks_.end();  // where most are added
    if (!chunks_.empty() && chunks_.back().number >= number) {
      at = std::partition_point(chunks_.begin(), chunks_.end(),
                                [&](const Chunk& chunk) { return chunk.number < number; });
    }
    if (at == chunks_.end() || at->number != number) {
      at = chunks_.insert(at, Chunk{});
      at->number = number;
    }
    ChunkWork::add(&*at, from, to);
  }
}

Extent& Extent::combine(const Extent& other, Operation operation) {
  if (this == &other) {
    if (operation == Operation::kDifference) clear();
    return *this;
  }
  std::vector<Chunk> result;
  if (operation == Operation::kUnion) result.reserve(chunks_.size() + other.chunks_.size());
  auto left = chunks_.begin();
  auto right = other.chunks_.begin();
  while (left != chunks_.end() || right != other.chunks_.end()) {
    if (right == other.chunks_.end() || (left != chunks_.end() && left->number < right->number)) {
      if (operation != Operation::kIntersection) result.push_back(std::move(*left));
      ++left;
    } else if (left == chunks_.end() || right->number < left->number) {
      if (operation == Operation::kUnion) result.push_back(*right);
      ++right;
    } else {
      ChunkWork::combine(&*left, *right, operation);
      if (left->units > 0) result.push_back(std::move(*left));
      ++left;
      ++right;
    }
  }
  chunks_ = std::move(result);
  return *this;
}

bool Extent::operator==(const Extent& other) const {
  if (chunks_.size() != other.chunks_.size()) return false;
  for (size_t i = 0; i < chunks_.size(); i++) {
    const Chunk &left = chunks_[i], &right = other.chunks_[i];
    if (left.number != right.number || left.units != right.units || left.runs != right.runs)
      return false;
    if (left.is_bitmap == right.is_bitmap) {
      if (left.words != right.words) return false;
    } else {
      Bitmap one, another;
      ChunkWork::fill(left, &one);
      ChunkWork::fill(right, &another);
      if (one != another) return false;
    }
  }
  return true;
}

bool Extent::contains(uint32_t unit) const {
  const auto at = std::partition_point(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) {
    return chunk.number < unit >> 16;
  });
  return at != chunks_.end() && at->number == unit >> 16 && ChunkWork::contains(*at, unit & 0xffff);
}

bool Extent::intersects(const Extent& other) const {
  auto left = chunks_.begin(), right = other.chunks_.begin();
  while (left != chunks_.end() && right != other.chunks_.end()) {
    if (left->number < right->number) ++left;
    else if (right->number < left->number) ++right;
    else {
      Chunk both = *left;
      ChunkWork::combine(&both, *right, Operation::kIntersection);
      if (both.units > 0) return true;
      ++left;
      ++right;
    }
  }
  return false;
}

uint64_t Extent::size() const {
  uint64_t units = 0;
  for (const Chunk& chunk : chunks_) units += chunk.units;
  return units;
}

size_t Extent::memory() const {
  size_t bytes = sizeof(Extent) + chunks_.capacity() * sizeof(Chunk);
  for (const Chunk& chunk : chunks_) bytes += chunk.words.capacity() * sizeof(uint32_t);
  return bytes;
}

std::vector<UnitRange> Extent::ranges() const {
  std::vector<UnitRange> found;
  for (const Chunk& chunk : chunks_) {
    ChunkWork::each_run(chunk, [&](uint32_t first, uint32_t last) {
      first |= chunk.number << 16;
      last |= chunk.number << 16;
      // Ranges go on over the border of two chunks.
      if (!found.empty() && first != 0 && found.back().last == first - 1) found.back().last = last;
      else found.push_back({first, last});
    });
  }
  return found;
}

void Extent::Iterator::next_run() {
  for (; !at_end(); chunk_++, place_ = 0) {
    const Chunk& chunk = of_->chunks_[chunk_];
    uint32_t first = 0, last = 0;
    if (!chunk.is_bitmap) {
      if (place_ == chunk.words.size()) continue;
      first = first_of(chunk.words[place_]);
      last = last_of(chunk.words[place_]);
      place_++;
    } else {
      first = next_set(chunk.words.data(), place_);
      if (first == kChunkUnits) continue;
      place_ = next_clear(chunk.words.data(), first);
      last = place_ - 1;
    }
    unit_ = chunk.number << 16 | first;
    last_ = chunk.number << 16 | last;
    return;
  }
}

void Extent::append_to(Bytes* to) const {
  put_number(chunks_.size(), to);
  uint32_t next = 0;
  for (const Chunk& chunk : chunks_) {
    put_number(chunk.number - next, to);
    next = chunk.number + 1;
    if (chunk.runs <= kMaxRuns) {
      put_number(chunk.runs, to);
      uint32_t place = 0;
      ChunkWork::each_run(chunk, [&](uint32_t first, uint32_t last) {
        put_number(first - place, to);
        put_number(last - first, to);
        place = last + 2;
      });
      continue;
    }
    put_number(0, to);
    for (const uint32_t word : chunk.words) {
      for (uint32_t shift = 0; shift < 32; shift += 8)
        to->push_back(static_cast<uint8_t>(word >> shift));
    }
  }
}

std::optional<Extent> Extent::read_from(Reader* from) {
  Extent extent;
  const uint64_t chunks = from->number(kMaxChunk + 1, "an extent has too many chunks");
  uint64_t next = 0;
  for (uint64_t i = 0; i < chunks && from->good(); i++) {
    Chunk chunk;
    next += from->number(kMaxChunk, "a chunk is beyond the last unit");
    if (next > kMaxChunk) from->damaged("a chunk is beyond the last unit");
    chunk.number = static_cast<uint32_t>(next++);
    const uint64_t runs = from->number(kMaxRuns, "a chunk has too many ranges");
    if (!from->good()) break;
    if (runs == 0) {
      const uint8_t* bytes = from->bytes(kBitmapWords * 4);
      if (!bytes) break;
      chunk.is_bitmap = true;
      chunk.words.resize(kBitmapWords);
      for (uint32_t k = 0; k < kBitmapWords * 4; k++)
        chunk.words[k / 4] |= uint32_t{bytes[k]} << k % 4 * 8;
    }
    uint64_t place = 0;
    for (uint64_t k = 0; k < runs && from->good(); k++) {
      const uint64_t first = place + from->number(kChunkUnits - 1, "a range is beyond its chunk");
      const uint64_t last = first + from->number(kChunkUnits - 1, "a range is beyond its chunk");
      if (last >= kChunkUnits) from->damaged("a range is beyond its chunk");
      chunk.words.push_back(
          range_of(static_cast<uint32_t>(first & 0xffff), static_cast<uint32_t>(last & 0xffff)));
      place = last + 2;
    }
    ChunkWork::count(&chunk);
    if (chunk.is_bitmap && chunk.runs <= kMaxRuns)
      from->damaged("a bitmap has as few ranges as are written one by one");
    extent.chunks_.push_back(std::move(chunk));
  }
  if (!from->good()) return std::nullopt;
  return extent;
}

}  // namespace weir::tape
