// The byte layout of one x86-64 instruction: how long it is and where its parts lie, without what
// it means. This is what a sweep over a whole library needs; decoder.h tells what an instruction
// does.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

// Bytes; of a longer one the processor makes a fault.
inline constexpr uint32_t kMaxInstructionSize = 15;

enum class OpcodeMap : uint8_t { kOneByte, k0F, k0F38, k0F3A, kOther };

struct Shape {
  uint8_t length = 0;
  OpcodeMap map = OpcodeMap::kOneByte;  // kOther: 3DNow, XOP and the maps that only EVEX has
  uint8_t opcode = 0;
  uint8_t opcode_at = 0;  // offset of the opcode byte
  uint8_t rex = 0;        // the REX byte, 0 without one
  bool has_modrm = false;
  bool is_vector = false;  // VEX, EVEX or XOP encoded
  bool has_lock = false;
  bool has_repeat = false;  // F2 or F3
  bool has_66 = false;
  bool has_67 = false;
  uint8_t modrm = 0;
  uint8_t displacement_at = 0;
  uint8_t displacement_size = 0;
  uint8_t immediate_at = 0;
  uint8_t immediate_size = 0;

  uint8_t mod() const { return modrm >> 6; }
  uint8_t reg() const { return (modrm >> 3) & 7; }
  uint8_t rm() const { return modrm & 7; }
  bool has_memory_operand() const { return has_modrm && mod() != 3; }
  bool has_16_bits() const {
    return has_66 && !(rex & 8);
  }  // REX.W wins: threads' variables are found by calls with both
  bool is_rip_relative() const { return has_modrm && mod() == 0 && rm() == 5; }
};

// How control goes on after an instruction.
enum class Flow : uint8_t {
  kNext,         // to the next instruction only
  kJump,         // direct jump
  kConditional,  // jcc
  kLoop,  // loop, loope, loopne, jrcxz: conditional with a short displacement only; also xbegin
  kCall,  // direct call
  kIndirectCall,
  kIndirectJump,
  kReturn,
  kStop,  // hlt, ud2, int3: nothing follows in a sound program
};

// Reads at most `available` bytes. Returns false if they are no instruction of 64-bit mode, or cut
// off.
[[nodiscard]] bool read_shape(const uint8_t* code, size_t available, Shape& shape);

Flow flow_of(const Shape& shape);

// A jump or call, conditional or not, to a place that the instruction names.
inline bool is_direct(Flow flow) {
  return flow == Flow::kJump || flow == Flow::kConditional || flow == Flow::kLoop ||
         flow == Flow::kCall;
}
// Control never goes on to the instruction behind it. A call may not return, but is none of these.
inline bool never_continues(Flow flow) {
  return flow == Flow::kJump || flow == Flow::kIndirectJump || flow == Flow::kReturn ||
         flow == Flow::kStop;
}
// REQUIRES: is_direct(flow_of(shape)). Relative to the instruction's end.
int64_t branch_displacement(const Shape& shape, const uint8_t* code);

}  // namespace weir
