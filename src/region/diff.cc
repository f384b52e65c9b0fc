#include "region/diff.h"

#include <string.h>

namespace weir::region {

void DiffWriter::bytes(const void* from, size_t size) {
  if (size_ < capacity_)
    memcpy(buffer_ + size_, from, size < capacity_ - size_ ? size : capacity_ - size_);
  size_ += size;
}

void DiffWriter::number(uint64_t value) {
  do {
    const uint8_t byte = static_cast<uint8_t>((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    bytes(&byte, 1);
    value >>= 7;
  } while (value);
}

bool DiffReader::number(uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; at_ < end_ && shift < 64; shift += 7) {
    const uint8_t byte = *at_++;
    if (shift == 63 && byte > 1) return false;
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return true;
  }
  return false;
}

const void* DiffReader::bytes(uint64_t size) {
  if (size > static_cast<uint64_t>(end_ - at_)) return nullptr;
  const void* from = at_;
  at_ += size;
  return from;
}

}  // namespace weir::region
