#include "code/find/text_map.h"

// A function that catches exceptions, or has destructors to call when one passes, has an exception
// table (LSDA): for each stretch of its code, where the unwinder goes on. No instruction leads to
// those places, and most of them are code that is seldom executed and seldom tested, with locked
// instructions (reference counts) in it.
//
// Layout of the table: encoding of the base, the base (else: the function's start); encoding of the
// types, if any the distance to them; encoding of the stretches, their size in bytes; for each
// stretch start, length, landing pad (0: none), action.

namespace weir {
namespace {

constexpr uint8_t kOmitted = 0xff, kUleb = 0x01, kIndirect = 0x80, kSigned4 = 0x0b, kFormat = 0x0f;

}  // namespace

// The frame description of the function that begins exactly at `function`; 0: there is none that
// can be found.
uint64_t ElfObject::frame_of(uint64_t function) const {
  UnwindHeader header;
  if (!load_unwind_header(header) || !header.has_table()) return 0;
  int32_t entry[2];
  const auto from_header = [&](int32_t offset) {
    return unwind_header_ + static_cast<uint64_t>(int64_t{offset});
  };
  for (uint32_t low = 0, high = header.count; low < high;) {
    const uint32_t middle = low + (high - low) / 2;
    if (!load(unwind_header_ + sizeof header + 8 * uint64_t{middle}, entry)) return 0;
    const uint64_t start = from_header(entry[0]);
    if (start == function) return from_header(entry[1]);
    if (start < function) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return 0;
}

uint64_t ElfObject::exception_table(uint64_t function) const {
  const uint64_t frame = frame_of(function);
  uint64_t next;
  Range range;
  if (frame == 0 || !fde_range(frame, next, range) || range.start != function) return 0;
  const uint8_t encoding = last_table_encoding_;  // fde_range() has just looked at this frame's CIE
  if (encoding == kOmitted || (encoding & kIndirect)) return 0;
  const bool is_wide = (last_encoding_ & 7) == 4 || (last_encoding_ & kFormat) == 0;
  uint64_t at = frame + 8 + (is_wide ? 16 : 8);
  uint8_t byte;
  do {  // the size of what follows
    if (!load(at++, byte)) return 0;
  } while (byte & 0x80);
  uint64_t table = 0;
  if ((encoding & 7) == 3) {
    uint32_t narrow;
    if (!load(at, narrow)) return 0;
    table = (encoding & kFormat) == kSigned4
                ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(narrow)})
                : narrow;
  } else if ((encoding & 7) == 4 || (encoding & kFormat) == 0) {
    if (!load(at, table)) return 0;
  } else {
    return 0;
  }
  if (table == 0) return 0;
  return (encoding & 0x70) == 0x10 ? table + at : table;
}

size_t ElfObject::landing_pads(uint64_t function, uint64_t* out, size_t capacity,
                               size_t skipped) const {
  uint64_t at = exception_table(function);
  if (at == 0) return 0;
  bool is_whole = true;
  const auto number = [&]() -> uint64_t {
    uint64_t value = 0;
    uint8_t byte = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (!load(at, byte)) break;
      at++;
      value |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) return value;
    }
    is_whole = false;
    return 0;
  };
  const auto encoded = [&](uint8_t encoding) -> uint64_t {
    const uint64_t where = at;
    uint64_t value = 0;
    if ((encoding & kFormat) == kUleb) return number();
    if ((encoding & 7) == 3) {
      uint32_t narrow = 0;
      is_whole = is_whole && load(at, narrow);
      value =
          (encoding & 8) ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(narrow)}) : narrow;
      at += 4;
    } else if ((encoding & 7) == 2) {
      uint16_t narrow = 0;
      is_whole = is_whole && load(at, narrow);
      value = narrow;
      at += 2;
    } else {
      is_whole = is_whole && load(at, value);
      at += 8;
    }
    return (encoding & 0x70) == 0x10 ? value + where : value;
  };
  uint8_t encoding;
  if (!load(at++, encoding)) return 0;
  const uint64_t base = encoding == kOmitted ? function : encoded(encoding);
  if (!load(at++, encoding)) return 0;
  if (encoding != kOmitted) (void)number();
  if (!load(at++, encoding)) return 0;
  const uint64_t size = number();
  const uint64_t limit = at + size;
  size_t found = 0;
  while (is_whole && at < limit && found < capacity) {
    (void)encoded(encoding);
    (void)encoded(encoding);
    const uint64_t pad = encoded(encoding);
    (void)number();
    if (!is_whole || pad == 0) continue;
    if (skipped > 0) {
      skipped--;
    } else {
      out[found++] = base + pad;
    }
  }
  return found;
}

}  // namespace weir
