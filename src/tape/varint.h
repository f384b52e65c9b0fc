// Numbers as bytes, low seven bits first, the eighth says that more follow: what tapes and extents
// are encoded with. A number has one encoding; a longer one is damage.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <span>
#include <vector>

namespace weir::tape {

using Bytes = std::vector<uint8_t>;

inline void put_number(uint64_t number, Bytes* to) {
  for (; number >= 0x80; number >>= 7) to->push_back(static_cast<uint8_t>(number | 0x80));
  to->push_back(static_cast<uint8_t>(number));
}

// Reads from the front of some bytes. After the first thing that is not well nothing is read any
// more, and reason() says what it was.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> from)
      : start_(from.data()), at_(from.data()), end_(from.data() + from.size()) {}

  // At most `most`; 0 where it is damaged.
  uint64_t number(uint64_t most, const char* what) {
    uint64_t value = 0;
    for (unsigned shift = 0; reason_ == nullptr; shift += 7) {
      if (at_ == end_) {
        damaged("the bytes end too early");
        break;
      }
      const uint8_t byte = *at_++;
      const uint64_t part = byte & 0x7f;
      if (shift > 63 || (shift == 63 && part > 1) || (shift > 0 && byte == 0)) {
        damaged("a number is written wrongly");
        break;
      }
      value |= part << shift;
      if (byte < 0x80) {
        if (value > most) damaged(what);
        break;
      }
    }
    return reason_ ? 0 : value;
  }
  // NULL: there are not so many.
  const uint8_t* bytes(size_t size) {
    if (reason_ || size > left()) {
      damaged("the bytes end too early");
      return nullptr;
    }
    at_ += size;
    return at_ - size;
  }
  void damaged(const char* why) {
    if (!reason_) reason_ = why;
  }

  bool good() const { return reason_ == nullptr; }
  const char* reason() const { return reason_ ? reason_ : ""; }  // static
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  size_t read() const { return static_cast<size_t>(at_ - start_); }

 private:
  const uint8_t* start_;
  const uint8_t* at_;
  const uint8_t* end_;
  const char* reason_ = nullptr;
};

}  // namespace weir::tape
