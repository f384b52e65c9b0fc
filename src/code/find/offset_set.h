// A set of offsets into a text, one bit each.
#pragma once

#include <stdint.h>

namespace weir {

class OffsetSet {
 public:
  static uint64_t bytes_for(uint64_t text_size) { return (text_size >> 3) + 16; }
  void use(uint64_t* words) { words_ = words; }
  void add(uint32_t offset) { words_[offset >> 6] |= uint64_t{1} << (offset & 63); }
  void add_range(uint32_t start, uint32_t limit) {
    for (; start < limit && (start & 63) != 0; start++) add(start);
    for (; limit - start >= 64; start += 64) words_[start >> 6] = ~uint64_t{0};
    if (start < limit) words_[start >> 6] |= (uint64_t{1} << (limit - start)) - 1;
  }
  bool has(uint32_t offset) const { return words_[offset >> 6] >> (offset & 63) & 1; }
  bool has_any(uint32_t start, uint32_t limit) const {
    for (uint32_t i = start; i < limit; i++) {
      if (has(i)) return true;
    }
    return false;
  }
  // The first member in [start, limit), or limit.
  uint32_t next(uint32_t start, uint32_t limit) const { return search(start, limit, 0); }
  // The first offset in [start, limit) that is no member, or limit.
  uint32_t next_absent(uint32_t start, uint32_t limit) const {
    return search(start, limit, ~uint64_t{0});
  }

 private:
  uint32_t search(uint32_t start, uint32_t limit, uint64_t flip) const {
    if (start >= limit) return limit;
    uint64_t word = (words_[start >> 6] ^ flip) & ~uint64_t{0} << (start & 63);
    for (uint32_t at = start & ~63u;;) {
      if (word != 0) {
        const uint32_t found = at + static_cast<uint32_t>(__builtin_ctzll(word));
        return found < limit ? found : limit;
      }
      at += 64;
      if (at >= limit) return limit;
      word = words_[at >> 6] ^ flip;
    }
  }

  uint64_t* words_ = nullptr;
};

}  // namespace weir
