// A step is, in the program's own text and its libraries':
// - an instruction with a memory operand, the string instructions among them, if that is not
//   relative to the stack pointer, to a frame (rbp with a negative displacement) or to %fs, whose
//   memory is the task's own, as far as one sees;
//   One that changes such memory without a lock prefix is two: it reads, and it writes;
// - a branch backwards and an indirect call or jump (each call of another library's function is
//   one), so that no loop is without a step.
// In quiet text only a conditional branch backwards is a step. libweir's own functions, which work
// on locks and heaps for the program, have none: they are not cut.

#include "code/translate/step.h"

#include "memory/backing.h"

namespace weir::translate {
namespace {

constexpr uint32_t kMaxQuiet = 64;
Range g_quiet[kMaxQuiet];
uint32_t g_quiet_count = 0;
bool g_counts_steps = false, g_all = false;

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

// Of those with an explicit operand in memory: it is read, changed and written, not locked, and
// decode_change() (code/sites/atomic_op.h) knows it. Others that do so, shifts among them, are one
// step.
bool changes_memory(const Shape& shape) {
  if (shape.has_lock || shape.is_vector || shape.has_repeat) return false;
  const uint8_t o = shape.opcode;
  if (shape.map == OpcodeMap::k0F)
    return o == 0xab || o == 0xb3 || o == 0xbb || (o == 0xba && shape.reg() >= 5);
  if (shape.map != OpcodeMap::kOneByte) return false;
  if (o < 0x38) return (o & 7) < 2;
  if (o == 0x80 || o == 0x81 || o == 0x83) return shape.reg() != 7;
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
  if (is_quiet_text(address)) return 0;
  if (has_implied_memory(shape)) return 1;
  if (!shape.has_memory_operand() || only_names(shape)) return 0;
  if (!g_all && (is_on_stack(shape, code) || has_fs(shape, code))) return 0;
  return changes_memory(shape) ? 2 : 1;
}

}  // namespace weir::translate
