// What the bytes of a text could be, at every offset, if it is not known which offsets begin an
// instruction. Many times as fast as decoding. It finds a superset of what is there.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

// A read of any type from any address.
template <typename T>
inline T load_at(const uint8_t* at) {
  T value;
  __builtin_memcpy(&value, at, sizeof(value));
  return value;
}

namespace byte_scan {

// What is looked for, a byte and its successor:
enum class Look : uint8_t {
  kSyscall,    // 0f 05
  kAtomic,     // f0; 86 or 87 with a memory operand; 0f ae
  kProcessor,  // 0f 31; 0f 01; 0f a2; 0f ae; 0f c7: what asks the processor, or sets %gs
  kFar,  // what may be the opcode of a branch of 32 bits (e8, e9, 0f 8x, c7 f8) or a lea relative
         // to rip (8d)
  kAbsolute,  // what may be ModRM and SIB of an operand at an absolute address with an index,
              // scaled by 8
};

// Whether one byte with its successor matches: the definition, and the model for the tests.
constexpr bool matches(Look look, uint8_t byte, uint8_t next) {
  switch (look) {
    case Look::kSyscall: return byte == 0x0f && next == 0x05;
    case Look::kAtomic:
      return byte == 0xf0 || ((byte & 0xfe) == 0x86 && next < 0xc0) ||
             (byte == 0x0f && next == 0xae);
    case Look::kProcessor:
      return byte == 0x0f &&
             (next == 0x31 || next == 0x01 || next == 0xa2 || next == 0xae || next == 0xc7);
    case Look::kFar:
      return (byte & 0xfe) == 0xe8 || (byte == 0x0f && (next & 0xf0) == 0x80) ||
             (byte == 0xc7 && next == 0xf8) || (byte == 0x8d && (next & 0xc7) == 0x05);
    case Look::kAbsolute: return (byte & 0xc7) == 0x04 && (next & 0xc7) == 0xc5;
  }
  return false;
}

inline constexpr size_t kBlock = 64;

// masks[i] has a bit for each of the 64 bytes of block i. Reads one byte behind the last block.
// Keeps vector registers.
void find_matches(Look look, const uint8_t* code, size_t blocks, uint64_t* masks);

// visit(offset), ascending, for each offset in [start, limit) of `code` whose bytes match. Behind
// the text lie zeros.
template <typename Visit>
inline void scan(Look look, const uint8_t* code, uint32_t size, uint32_t start, uint32_t limit,
                 Visit visit) {
  constexpr uint32_t kBatch = 32;
  uint64_t masks[kBatch];
  uint32_t at = start;
  while (at < limit && uint64_t{at} + kBlock < size) {
    uint64_t blocks = (uint64_t{limit} - at + kBlock - 1) / kBlock,
             readable = (uint64_t{size} - 1 - at) / kBlock;
    if (blocks > readable) blocks = readable;
    if (blocks > kBatch) blocks = kBatch;
    find_matches(look, code + at, blocks, masks);
    for (uint64_t i = 0; i < blocks; i++, at += kBlock) {
      for (uint64_t hits = masks[i]; hits != 0; hits &= hits - 1) {
        uint32_t offset = at + static_cast<uint32_t>(__builtin_ctzll(hits));
        if (offset < limit) visit(offset);
      }
    }
  }
  for (; at < limit; at++) {
    if (matches(look, code[at], at + 1 < size ? code[at + 1] : 0)) visit(at);
  }
}

}  // namespace byte_scan
}  // namespace weir
