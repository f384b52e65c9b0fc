// A damaged image must not hurt: each read may fail, and ends the listing.
#include "code/find/text_map.h"

namespace weir {
namespace {

// Layout: "MZ"; at 60 the offset of the headers. Those: "PE\0\0", a COFF header of 20 bytes, and
// the optional header, which has the directories, each a relative address and a size, from 112 on;
// the fourth is that of exceptions.
constexpr uint16_t kDos = 0x5a4d, kOptional64 = 0x20b;
constexpr uint32_t kPe = 0x4550;
// The machine; .NET's compiler writes another number for each system.
constexpr uint16_t kMachine = 0x8664, kLinux = 0x7b79;
constexpr uint64_t kHeadersAt = 60, kMachineAt = 4, kOptionalAt = 24;
constexpr uint64_t kCountAt = kOptionalAt + 108, kExceptionAt = kOptionalAt + 136;

// Layout of an entry of the exception directory, sorted by `start`.
struct Function {
  uint32_t start, limit, unwind;
};

template <typename T>
bool load(uint64_t address, T& value) {
  return fetch_memory(&value, reinterpret_cast<const void*>(address), sizeof value);
}

}  // namespace

bool PeImage::open(Range object) {
  object_ = object;
  table_ = {};
  uint16_t magic = 0, machine = 0, optional = 0;
  uint32_t headers = 0, signature = 0, count = 0, directory[2] = {};
  if (object.size() < kPageSize || !load(object.start, magic) || magic != kDos ||
      !load(object.start + kHeadersAt, headers) || headers > kPageSize - kExceptionAt - 8)
    return false;
  const uint64_t at = object.start + headers;
  if (!load(at, signature) || signature != kPe || !load(at + kMachineAt, machine) ||
      (machine != kMachine && machine != (kMachine ^ kLinux)) ||
      !load(at + kOptionalAt, optional) || optional != kOptional64)
    return false;
  if (!load(at + kCountAt, count) || count < 4 || !load(at + kExceptionAt, directory)) return true;
  if (directory[0] > object.size() || directory[1] > object.size() - directory[0]) return true;
  table_ = {object.start + directory[0], object.start + directory[0] + directory[1]};
  return true;
}

size_t PeImage::functions(Range* out, size_t capacity) const {
  const size_t count = table_.size() / sizeof(Function);
  if (out == nullptr) return count;
  size_t found = 0;
  Function entry;
  for (size_t i = 0; i < count && load(table_.start + i * sizeof entry, entry); i++) {
    if (entry.start >= entry.limit || entry.limit > object_.size()) break;
    if (found < capacity) out[found] = {object_.start + entry.start, object_.start + entry.limit};
    found++;
  }
  return found;
}

}  // namespace weir
