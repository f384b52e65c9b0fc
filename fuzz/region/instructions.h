// Random instructions with a memory operand, kind by kind, so that each kind really occurs.
#pragma once

#include <string.h>

#include "code/decode/decoder.h"

namespace fuzz {

// splitmix64
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t limit) { return next() % limit; }
  bool one_in(uint64_t n) { return below(n) == 0; }
};

enum Encoding : uint8_t { kLegacy, kVex, kEvex };
enum Prefix : uint8_t {
  kPlain = 1,
  k66 = 2,
  kF3 = 4,
  kF2 = 8,
  kLock = 16,
  kVector = kPlain | k66 | kF3 | kF2
};

// `map`: 0 one byte, 1 0f, 2 0f 38, 3 0f 3a. `digit`: of ModRM, -1: any; -2: there is no ModRM. No
// `first`: any opcode.
struct Template {
  const char* kind;
  Encoding encoding;
  uint8_t map;
  uint8_t first, last;
  int8_t digit;
  uint8_t prefixes;
};

inline constexpr Template kTemplates[] = {
    {"mov", kLegacy, 0, 0x88, 0x8b, -1, kPlain | k66},
    {"mov", kLegacy, 0, 0x8c, 0x8c, -1, kPlain | k66},
    {"mov", kLegacy, 0, 0xc6, 0xc7, 0, kPlain | k66},
    {"mov", kLegacy, 1, 0xb6, 0xb7, -1, kPlain | k66},
    {"mov", kLegacy, 1, 0xbe, 0xbf, -1, kPlain | k66},
    {"mov", kLegacy, 0, 0x63, 0x63, -1, kPlain},
    {"movbe, movnti, crc32, adx", kLegacy, 2, 0xf0, 0xf9, -1, kVector},
    {"movbe, movnti, crc32, adx", kLegacy, 1, 0xc3, 0xc3, -1, kPlain},
    {"arithmetic", kLegacy, 0, 0x00, 0x3b, -1, kPlain | k66},
    {"arithmetic", kLegacy, 0, 0x69, 0x6b, -1, kPlain | k66},
    {"arithmetic", kLegacy, 0, 0x80, 0x85, -1, kPlain | k66},
    {"arithmetic", kLegacy, 0, 0xf6, 0xf7, -1, kPlain | k66},
    {"arithmetic", kLegacy, 0, 0xfe, 0xff, -1, kPlain | k66},
    {"arithmetic", kLegacy, 1, 0xaf, 0xaf, -1, kPlain | k66},
    {"arithmetic", kLegacy, 1, 0xb8, 0xbd, -1, kF3 | k66},
    {"shifts", kLegacy, 0, 0xc0, 0xc1, -1, kPlain | k66},
    {"shifts", kLegacy, 0, 0xd0, 0xd3, -1, kPlain | k66},
    {"shifts", kLegacy, 1, 0xa4, 0xa5, -1, kPlain | k66},
    {"shifts", kLegacy, 1, 0xac, 0xad, -1, kPlain | k66},
    {"locked", kLegacy, 0, 0x00, 0x3b, -1, kLock},
    {"locked", kLegacy, 0, 0x80, 0x83, -1, kLock},
    {"locked", kLegacy, 0, 0xf6, 0xff, -1, kLock},
    {"locked", kLegacy, 1, 0xc0, 0xc1, -1, kLock},
    {"xchg, xadd", kLegacy, 0, 0x86, 0x87, -1, kPlain | k66},
    {"xchg, xadd", kLegacy, 1, 0xc0, 0xc1, -1, kPlain | k66},
    {"cmpxchg", kLegacy, 1, 0xb0, 0xb1, -1, kPlain | k66 | kLock},
    {"cmpxchg", kLegacy, 1, 0xc7, 0xc7, 1, kPlain | kLock},
    {"bit tests", kLegacy, 1, 0xa3, 0xbb, -1, kPlain | k66},
    {"bit tests", kLegacy, 1, 0xba, 0xba, -1, kPlain | k66 | kLock},
    {"setcc, cmovcc", kLegacy, 1, 0x40, 0x4f, -1, kPlain | k66},
    {"setcc, cmovcc", kLegacy, 1, 0x90, 0x9f, -1, kPlain},
    {"string", kLegacy, 0, 0xa4, 0xa7, -2, kPlain | kF3 | kF2},
    {"string", kLegacy, 0, 0xaa, 0xaf, -2, kPlain | kF3 | kF2},
    {"push, pop", kLegacy, 0, 0xff, 0xff, 6, kPlain | k66},
    {"push, pop", kLegacy, 0, 0x8f, 0x8f, 0, kPlain | k66},
    {"push, pop", kLegacy, 0, 0x50, 0x5f, -2, kPlain | k66},
    {"push, pop", kLegacy, 0, 0x9c, 0x9c, -2, kPlain},
    {"xlat", kLegacy, 0, 0xd7, 0xd7, -2, kPlain},
    {"x87", kLegacy, 0, 0xd8, 0xdf, -1, kPlain},
    {"state, cache lines", kLegacy, 1, 0xae, 0xae, -1, kPlain | k66},
    {"state, cache lines", kLegacy, 1, 0x18, 0x18, -1, kPlain},
    {"maskmov", kLegacy, 1, 0xf7, 0xf7, -1, kPlain | k66},
    {"maskmov", kVex, 1, 0xf7, 0xf7, -1, k66},
    {"maskmov", kVex, 2, 0x2c, 0x2f, -1, k66},
    {"maskmov", kVex, 2, 0x8c, 0x8e, -1, k66},
    {"sse", kLegacy, 1, 0x10, 0x17, -1, kVector},
    {"sse", kLegacy, 1, 0x28, 0x2f, -1, kVector},
    {"sse", kLegacy, 1, 0x51, 0x7f, -1, kVector},
    {"sse", kLegacy, 1, 0xc2, 0xff, -1, kVector},
    {"sse", kLegacy, 2, 0, 0, -1, kPlain | k66},
    {"sse", kLegacy, 3, 0, 0, -1, k66},
    {"vex", kVex, 1, 0x10, 0x17, -1, kVector},
    {"vex", kVex, 1, 0x28, 0x2f, -1, kVector},
    {"vex", kVex, 1, 0x51, 0x7f, -1, kVector},
    {"vex", kVex, 1, 0xc2, 0xff, -1, kVector},
    {"vex", kVex, 2, 0, 0, -1, kVector},
    {"vex", kVex, 3, 0, 0, -1, k66 | kF2},
    {"evex", kEvex, 1, 0x10, 0x17, -1, kVector},
    {"evex", kEvex, 1, 0x28, 0x2f, -1, kVector},
    {"evex", kEvex, 1, 0x51, 0x7f, -1, kVector},
    {"evex", kEvex, 1, 0xc2, 0xff, -1, kVector},
    {"evex", kEvex, 2, 0, 0, -1, kVector},
    {"evex", kEvex, 3, 0, 0, -1, kVector},
    {"gather", kVex, 2, 0x90, 0x93, -1, k66},
    {"gather, scatter by masks", kEvex, 2, 0x90, 0x93, -1, k66},
    {"gather, scatter by masks", kEvex, 2, 0xa0, 0xa3, -1, k66},
    {"any opcode", kLegacy, 0, 0, 0, -1, kVector},
    {"any opcode", kLegacy, 1, 0, 0, -1, kVector},
    {"any bytes", kLegacy, 0, 0, 0, -2, kVector},
};
inline constexpr size_t kTemplateCount = sizeof kTemplates / sizeof *kTemplates;

struct Made {
  const Template* from;
  uint8_t code[32];
  size_t length;
  uint8_t map, opcode, digit;  // as they are read: bytes drawn at random may be prefixes
  bool is_gather, is_xlat;
  uint8_t reg, second;         // of ModRM; of VEX.vvvv
  uint8_t base, index, scale;  // as encoded; where is_gather the index is a vector
  int64_t displacement;
  weir::Instruction decoded;
};

// Instructions that would change what the test itself stands on, or store where an operand lies.
inline bool is_left_out(const Made& made) {
  const uint8_t digit = made.digit;
  if (made.from->encoding != kLegacy) return false;
  switch (made.map) {
    case 0:
      return made.opcode == 0x8e || made.opcode == 0x9d ||  // mov to a segment register; popf
             (made.opcode >= 0x6c && made.opcode <= 0x6f) || made.opcode == 0xc8 ||  // ports; enter
             ((made.opcode == 0xd9 || made.opcode == 0xdd) &&
              (digit == 4 ||
               digit == 6));  // x87: the whole state, which says where its last operand lay
    case 1:
      return made.opcode <= 0x01 || made.opcode == 0xa1 || made.opcode == 0xa9 ||
             made.opcode == 0xb2 || made.opcode == 0xb4 || made.opcode == 0xb5 ||
             (made.opcode == 0xae && (digit == 1 || digit > 3) && digit != 7) ||
             (made.opcode == 0xc7 && digit != 1);
    default: return false;
  }
}

class Writer {
 public:
  Writer(Random& random, Made& made) : random_(random), made_(made) {}

  // False: not an instruction, or one that this test has no use for.
  bool write() {
    const Template& from = *made_.from;
    made_.map = from.map;
    const unsigned choices = from.last == 0 ? 256 : from.last - from.first + 1u;
    made_.opcode = static_cast<uint8_t>(from.first + random_.below(choices));
    if (strcmp(from.kind, "any bytes") == 0) {
      made_.length = 0;
      for (int i = 0; i < 16; i++) put(random_.next());
    } else {
      choose_address();
      put_prefixes();
      put(made_.opcode);
      if (from.digit != -2) put_address();
      for (int i = 0; i < 8; i++) put(random_.next());
    }
    if (from.encoding == kLegacy) find_opcode();
    return decode();
  }

 private:
  void put(uint64_t byte) { made_.code[made_.length++] = static_cast<uint8_t>(byte); }

  void find_opcode() {
    const uint8_t* at = made_.code;
    while (
        at < made_.code + 12 &&
        (memchr("\x66\x67\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65", *at, 11) || (*at & 0xf0) == 0x40))
      at++;
    made_.map = 0;
    if (*at == 0xc4 || *at == 0xc5 || *at == 0x62) made_.map = 4;
    if (*at == 0x0f) {
      made_.map = 1;
      at++;
      if (*at == 0x38 || *at == 0x3a) made_.map = 4;
    }
    made_.opcode = at[0];
    made_.digit = at[1] >> 3 & 7;
  }

  void choose_address() {
    const Template& from = *made_.from;
    made_.is_xlat = from.map == 0 && made_.opcode == 0xd7;
    made_.is_gather = strncmp(from.kind, "gather", 6) == 0;
    made_.reg = static_cast<uint8_t>(from.digit >= 0 ? from.digit : random_.below(16));
    made_.second = static_cast<uint8_t>(random_.one_in(2) ? 0 : random_.below(16));
    made_.base = static_cast<uint8_t>(random_.below(16));
    made_.index = random_.one_in(2) || made_.is_gather ? static_cast<uint8_t>(random_.below(16))
                                                       : uint8_t{weir::kNoRegister};
    if (made_.index == weir::kRsp && !made_.is_gather) made_.index = weir::kNoRegister;
    made_.scale = static_cast<uint8_t>(random_.below(4));
    if (made_.index != weir::kNoRegister && !made_.is_gather && random_.one_in(16)) {
      made_.base = weir::kNoRegister;
      made_.scale = 0;
    }
    switch (random_.below(4)) {
      case 0: made_.displacement = 0; break;
      case 1: made_.displacement = static_cast<int8_t>(random_.next()); break;
      case 2: made_.displacement = static_cast<int64_t>(random_.below(20000)) - 10000; break;
      default:
        made_.displacement = random_.one_in(2) ? static_cast<int32_t>(random_.next())
                                               : static_cast<int16_t>(random_.next());
    }
  }

  void put_prefixes() {
    const Template& from = *made_.from;
    unsigned prefix;
    do { prefix = 1u << random_.below(5); } while (!(from.prefixes & prefix));
    const unsigned wide = random_.one_in(2), r = made_.reg >> 3 & 1,
                   b = made_.base == weir::kNoRegister ? 0 : made_.base >> 3 & 1;
    const unsigned x = made_.index == weir::kNoRegister ? 0 : made_.index >> 3 & 1;
    const unsigned pp = prefix == k66 ? 1 : prefix == kF3 ? 2 : prefix == kF2 ? 3 : 0;
    const unsigned length = static_cast<unsigned>(random_.below(from.encoding == kEvex ? 3 : 2));
    if (from.encoding == kLegacy) {
      if (prefix == k66) put(0x66);
      if (prefix == kF3) put(0xf3);
      if (prefix == kF2) put(0xf2);
      if (prefix == kLock) put(0xf0);
      if (strcmp(from.kind, "string") == 0 && random_.one_in(4)) put(0x66);
      if (random_.one_in(8)) put(random_.one_in(2) ? 0x2e : 0x3e);  // segments that have no meaning
      if (wide || r || b || x || random_.one_in(4)) put(0x40 | wide << 3 | r << 2 | x << 1 | b);
      if (from.map > 0) put(0x0f);
      if (from.map > 1) put(from.map == 2 ? 0x38 : 0x3a);
    } else if (from.encoding == kVex) {
      if (from.map == 1 && !x && !b && random_.one_in(2)) {
        put(0xc5);
        put(static_cast<unsigned>(!r) << 7 | (~made_.second & 15u) << 3 | length << 2 | pp);
        return;
      }
      put(0xc4);
      put(static_cast<unsigned>(!r) << 7 | static_cast<unsigned>(!x) << 6 |
          static_cast<unsigned>(!b) << 5 | from.map);
      put(wide << 7 | (~made_.second & 15u) << 3 | length << 2 | pp);
    } else {
      const unsigned mask =
          static_cast<unsigned>(made_.is_gather ? 1 + random_.below(7) : random_.below(8));
      put(0x62);
      put(static_cast<unsigned>(!r) << 7 | static_cast<unsigned>(!x) << 6 |
          static_cast<unsigned>(!b) << 5 | 0x10 | from.map);
      put(wide << 7 | (~(made_.is_gather ? 0u : made_.second) & 15u) << 3 | 4 | pp);
      put((mask && random_.one_in(2) && !made_.is_gather ? 0x80u : 0) | length << 5 |
          (random_.one_in(4) && !made_.is_gather ? 0x10u : 0) | 8 | mask);
    }
  }

  // ModRM, SIB, displacement.
  void put_address() {
    const unsigned reg = (made_.reg & 7u) << 3, base = made_.base & 7u;
    const bool no_base = made_.base == weir::kNoRegister;
    const bool sib = no_base || made_.index != weir::kNoRegister || base == 4 || random_.one_in(4);
    unsigned mode = 2;
    if (no_base || (made_.displacement == 0 && base != 5)) mode = 0;
    else if (made_.displacement == static_cast<int8_t>(made_.displacement)) mode = 1;
    put(mode << 6 | reg | (sib ? 4 : base));
    if (sib)
      put(unsigned{made_.scale} << 6 |
          (made_.index == weir::kNoRegister ? 4 : made_.index & 7u) << 3 | (no_base ? 5 : base));
    const unsigned bytes = no_base || mode == 2 ? 4 : mode;
    for (unsigned i = 0; i < bytes; i++) put(static_cast<uint64_t>(made_.displacement) >> 8 * i);
  }

  bool decode() {
    weir::Instruction& to = made_.decoded;
    to = {};
    if (!weir::decode_bytes(made_.code, 15, 0x10000, to) || to.is_branch || to.is_syscall ||
        is_left_out(made_))
      return false;
    made_.length = to.length;
    if (made_.is_gather || made_.is_xlat) return true;
    if (to.operand_count == 0 || to.unknown_read || to.unknown_write) return false;
    for (unsigned i = 0; i < to.operand_count; i++) {
      const weir::Operand& operand = to.operands[i];
      if (operand.segment != weir::Segment::kNone || operand.address32 ||
          operand.base == weir::kRip || operand.base == operand.index)
        return false;
      if (operand.base == weir::kNoRegister &&
          (operand.index == weir::kNoRegister || operand.scale > 1))
        return false;
    }
    return true;
  }

  Random& random_;
  Made& made_;
};

}  // namespace fuzz
