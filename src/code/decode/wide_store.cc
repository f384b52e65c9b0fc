#include "code/decode/wide_store.h"

// movups, movupd, movaps, movapd, movdqu, movdqa, movntps, movntpd, movntdq: as SSE, VEX and EVEX
// encode them. What the prefixes F3, F2 and 66 mean there is `pp` in VEX and EVEX.

namespace weir {
namespace {

enum Prefix : uint8_t { kNone, k66, kF3, kF2 };

struct Encoding {
  Prefix prefix = kNone;
  uint8_t size = 16;
  uint8_t high_bits = 0;  // of the register's number, beyond ModRM.reg
  bool is_evex = false;
  bool is_known = true;
};

Encoding encoding_of(const Shape& shape, const uint8_t* code) {
  Encoding e;
  const unsigned at = shape.opcode_at;
  if (!shape.is_vector) {
    for (unsigned i = 0; i < at; i++) {
      if (code[i] == 0xf3) e.prefix = kF3;
      if (code[i] == 0xf2) e.prefix = kF2;
    }
    if (e.prefix == kNone && shape.has_66) e.prefix = k66;
    e.high_bits = shape.rex & 4 ? 8 : 0;
    return e;
  }
  e.is_evex = at >= 4 && code[at - 4] == 0x62;
  if (e.is_evex) {  // P0, P1, P2
    const uint8_t p0 = code[at - 3], p1 = code[at - 2], p2 = code[at - 1];
    e.prefix = static_cast<Prefix>(p1 & 3);
    e.high_bits = static_cast<uint8_t>((p0 & 0x80 ? 0 : 8) | (p0 & 0x10 ? 0 : 16));
    const unsigned length = p2 >> 5 & 3;
    e.size = static_cast<uint8_t>(16u << length);
    e.is_known = (p2 & 0x97) == 0 && length != 3;  // no mask, no zeroing, no broadcast
    return e;
  }
  const bool is_short = at >= 2 && code[at - 2] == 0xc5;
  const bool is_long = at >= 3 && code[at - 3] == 0xc4;
  e.is_known = is_short || is_long;
  if (!e.is_known) return e;
  const uint8_t last = code[at - 1], first = code[is_short ? at - 1 : at - 2];
  e.prefix = static_cast<Prefix>(last & 3);
  e.size = last & 4 ? 32 : 16;
  e.high_bits = first & 0x80 ? 0 : 8;
  return e;
}

}  // namespace

WideStore wide_store(const Shape& shape, const uint8_t* code) {
  WideStore store;
  if (shape.map != OpcodeMap::k0F || !shape.has_memory_operand()) return store;
  const uint8_t o = shape.opcode;
  if (o != 0x11 && o != 0x29 && o != 0x2b && o != 0x7f && o != 0xe7) return store;
  const Encoding e = encoding_of(shape, code);
  bool is_one = false;
  switch (o) {
    case 0x11:
    case 0x29:
    case 0x2b: is_one = e.prefix == kNone || e.prefix == k66; break;
    case 0x7f: is_one = e.prefix == k66 || e.prefix == kF3 || (e.prefix == kF2 && e.is_evex); break;
    default: is_one = e.prefix == k66;
  }
  if (!is_one || !e.is_known) return store;
  store.size = e.size;
  store.source = static_cast<uint8_t>(shape.reg() | e.high_bits);
  store.is_aligned = o == 0x29 || o == 0x2b || o == 0xe7 || (o == 0x7f && e.prefix == k66);
  return store;
}

}  // namespace weir
