// Which bytes of two pieces of memory differ. Pure.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir::region {

// Returns the offset of the first byte from `from` on that differs, or `size` if none does. By the
// widest registers that the processor has.
size_t next_change(const char* one, const char* other, size_t size, size_t from);
// Returns the offset of the first byte from `from` on that is equal, or `size` if none is.
size_t next_equal(const char* one, const char* other, size_t size, size_t from);

// A difference as bytes: "WRD1", the size of the memory, then for each run how many equal bytes lie
// before it, how many it has, and they themselves. Numbers have seven bits to the byte, lowest
// first, the eighth says that more follow.
class DiffWriter {
 public:
  DiffWriter(char* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) {}
  void number(uint64_t value);
  void bytes(const void* from, size_t size);
  size_t size() const { return size_; }

 private:
  char* buffer_;
  size_t capacity_, size_ = 0;  // of what there is to write, of which `capacity_` bytes are written
};

class DiffReader {
 public:
  DiffReader(const void* from, size_t size)
      : at_(static_cast<const uint8_t*>(from)), end_(at_ + size) {}
  // False: cut off, or no number.
  [[nodiscard]] bool number(uint64_t* value);
  // NULL: there are not so many.
  const void* bytes(uint64_t size);
  bool at_end() const { return at_ == end_; }

 private:
  const uint8_t *at_, *end_;
};

inline constexpr char kDiffMagic[4] = {'W', 'R', 'D', '1'};

}  // namespace weir::region
