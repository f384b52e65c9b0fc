// A step is, in the program's own text and its libraries':
// - an instruction with a memory operand, the string instructions among them, if that is not
//   relative to the stack pointer, to a frame (rbp with a negative displacement) or to %fs, whose
//   memory is the task's own, as far as one sees;
//   One that changes such memory without a lock prefix is two: it reads, and it writes. So is one
//   that stores a whole vector register, unless that is 16 bytes that have to be aligned. Repeated
//   moves and fills are four;
// - a branch backwards and an indirect call or jump (each call of another library's function is
//   one), so that no loop is without a step.
// In quiet text only a conditional branch backwards is a step, and in functions that copy memory
// for the program (memcpy, strcpy, memset) each access, as one. libweir's own functions, which work
// on locks and heaps for the program, have none: they are not cut.

#include "code/translate/step.h"

#include "code/decode/wide_store.h"
#include "memory/backing.h"

namespace weir::translate {
namespace {

constexpr uint32_t kMaxQuiet = 64, kMaxCopying = 32;
Range g_quiet[kMaxQuiet], g_copying[kMaxCopying];
uint32_t g_quiet_count = 0, g_copying_count = 0;
bool g_counts_steps = false, g_all = false;

bool is_copying_text(uint64_t address) {
  for (uint32_t i = 0; i < g_copying_count; i++)
    if (g_copying[i].contains(address)) return true;
  return false;
}

bool has_fs(const Shape& shape, const uint8_t* code) {
  for (unsigned i = 0; i < shape.opcode_at; i++)
    if (code[i] == 0x64) return true;
  return false;
}

// Of the explicit operand: its address depends on rsp, or on rbp as a frame has it.
bool is_on_stack(const Shape& shape, const uint8_t* code) {
  constexpr unsigned kStackPointer = 4, kFrame = 5;
  unsigned base = shape.rm();
  if (base == 4) {  // SIB
    const uint8_t sib = code[shape.opcode_at + 2];
    base = sib & 7;
    if (base == 5 && shape.mod() == 0) return false;
  }
  if (shape.is_vector) {
    // The bit that makes it r12 or r13 is inverted in the prefix; two-byte VEX has none.
    const unsigned at = shape.opcode_at;
    const bool is_short = at >= 2 && code[at - 2] == 0xc5;
    const bool is_evex = at >= 4 && code[at - 4] == 0x62;
    const uint8_t bits = is_evex ? code[at - 3] : at >= 2 ? code[at - 2] : uint8_t{0xff};
    if (!is_short && !(bits & 0x20)) return false;
  } else if (shape.rex & 1) {
    return false;
  }
  if (base == kStackPointer) return true;
  if (base != kFrame || shape.mod() == 0) return false;
  const uint8_t last = code[shape.displacement_at + shape.displacement_size - 1];
  return last & 0x80;
}

// One byte opcodes whose operand is implied: movs, cmps, stos, lods, scas; moves from and to a
// fixed address; xlat.
bool has_implied_memory(const Shape& shape) {
  if (shape.is_vector || shape.map != OpcodeMap::kOneByte) return false;
  const uint8_t o = shape.opcode;
  return (o >= 0xa0 && o <= 0xa7) || (o >= 0xaa && o <= 0xaf) || o == 0xd7;
}

// Repeated movs or stos.
bool is_repeated_store(const Shape& shape) {
  if (shape.is_vector || shape.map != OpcodeMap::kOneByte || !shape.has_repeat) return false;
  return (shape.opcode | 1) == 0xa5 || (shape.opcode | 1) == 0xab;
}

// Of those with an explicit operand in memory: it is read, changed and written, not locked. xchg is
// always locked.
bool changes_memory(const Shape& shape) {
  if (shape.has_lock || shape.is_vector) return false;
  const uint8_t o = shape.opcode;
  if (shape.map == OpcodeMap::k0F) {
    switch (o) {
      case 0xab:
      case 0xb3:
      case 0xbb: return true;  // bts, btr, btc
      case 0xba: return shape.reg() >= 5;
      case 0xa4:
      case 0xa5:
      case 0xac:
      case 0xad: return true;  // shld, shrd
      case 0xb0:
      case 0xb1:
      case 0xc0:
      case 0xc1: return true;  // cmpxchg, xadd
      case 0xc7: return shape.reg() == 1;
      default: return false;
    }
  }
  if (shape.map != OpcodeMap::kOneByte) return false;
  if (o < 0x38) return (o & 7) < 2;
  if (o == 0x80 || o == 0x81 || o == 0x83) return shape.reg() != 7;
  if ((o | 1) == 0xc1 || (o & 0xfc) == 0xd0) return true;  // shifts, rotations
  if (o == 0xf6 || o == 0xf7) return shape.reg() == 2 || shape.reg() == 3;
  return (o == 0xfe || o == 0xff) && shape.reg() < 2;
}

// lea, nop, prefetches: the operand is not accessed.
bool only_names(const Shape& shape) {
  if (shape.is_vector) return false;
  if (shape.map == OpcodeMap::kOneByte) return shape.opcode == 0x8d;
  return shape.map == OpcodeMap::k0F && (shape.opcode == 0x0d || (shape.opcode & 0xf8) == 0x18);
}

bool is_pause(const Shape& shape) {
  return shape.map == OpcodeMap::kOneByte && !shape.is_vector && shape.opcode == 0x90 &&
         shape.has_repeat && !(shape.rex & 1);
}

}  // namespace

void count_steps(bool all) {
  g_counts_steps = true;
  g_all = all;
}

bool counts_steps() { return g_counts_steps; }

void note_quiet_text(Range text) {
  if (g_quiet_count < kMaxQuiet) g_quiet[g_quiet_count++] = text;
}

void forget_quiet_text() { g_quiet_count = 0; }

bool is_quiet_text(uint64_t address) {
  for (uint32_t i = 0; i < g_quiet_count; i++)
    if (g_quiet[i].contains(address)) return true;
  return false;
}

void note_copying_text(Range text) {
  if (g_copying_count < kMaxCopying) g_copying[g_copying_count++] = text;
}

unsigned weight_of(const Shape& shape, const uint8_t* code, Flow flow, uint64_t target) {
  if (!g_counts_steps) return is_pause(shape) ? kPauseWeight : 1;
  const auto address = reinterpret_cast<uint64_t>(code);
  if (page::own_image().contains(address)) return 0;
  switch (flow) {
    case Flow::kJump: return target <= address && !is_quiet_text(address);
    case Flow::kConditional:
    case Flow::kLoop: return target <= address;
    case Flow::kIndirectCall:
    case Flow::kIndirectJump: return !is_quiet_text(address);
    case Flow::kNext: break;
    default: return 0;
  }
  const bool is_quiet = is_quiet_text(address);
  if (is_quiet && !is_copying_text(address)) return 0;
  if (is_repeated_store(shape)) return is_quiet ? 1 : kStringWeight;
  if (has_implied_memory(shape)) return 1;
  if (!shape.has_memory_operand() || only_names(shape)) return 0;
  if (!g_all && (is_on_stack(shape, code) || has_fs(shape, code))) return 0;
  const WideStore store = wide_store(shape, code);
  if (is_quiet) return 1;
  if (store.size) return store.parts();
  return changes_memory(shape) ? kChangeWeight : 1;
}

}  // namespace weir::translate
