#include "code/translate/emit.h"

// An operand relative to rip.
//   - Where the cache lies near enough to what it addresses, it gets another displacement. That is
//     so for the data of most programs (kCountCode); libraries are far away. There
//   - lea loads a constant;
//   - an address that fits into 32 bits becomes an absolute one;
//   - else a register holds the address: of rsi, rdi and rbx one that the instruction does not use.
//     It is not needed where the instruction loads a register: that one will do, but is saved too,
//     for the case that the load faults.
// None of the three needs a prefix, so all other bytes stay as they are, also those of VEX and
// EVEX. No instruction that can have such an operand uses two of them but by its ModRM or VEX.vvvv
// (cmpxchg16b uses rbx, its ModRM none of the others).

namespace weir::translate {
namespace {

uint64_t operand_address(const Step& step) {
  int32_t displacement;
  __builtin_memcpy(&displacement, step.code() + step.shape.displacement_at, sizeof displacement);
  return step.end() + static_cast<uint64_t>(int64_t{displacement});
}

bool is_general_load(const Shape& shape) {
  if (shape.is_vector || shape.has_66 || shape.has_repeat || (shape.rex & 4) ||
      shape.reg() == kRsp || shape.reg() == kRbp)
    return false;
  if (shape.map == OpcodeMap::kOneByte) return shape.opcode == 0x8b || shape.opcode == 0x63;
  return shape.map == OpcodeMap::k0F && (shape.opcode & 0xf6) == 0xb6;  // movzx, movsx
}

// The register of VEX.vvvv, without its upper bit.
unsigned third_register(const Step& step) {
  const unsigned at = step.shape.opcode_at;
  if (!step.shape.is_vector) return kRax;
  const bool is_evex = at >= 4 && step.code()[at - 4] == 0x62;
  return ~(step.code()[is_evex ? at - 2 : at - 1] >> 3) & 7u;
}

unsigned free_register(const Step& step) {
  auto is_free = [&](unsigned reg) {
    return step.shape.reg() != reg && third_register(step) != reg;
  };
  return is_free(kRsi) ? kRsi : is_free(kRdi) ? kRdi : kRbx;
}

// With ModRM `mod` and `rm`, and what follows it in place of the displacement.
void put_with_operand(Code& code, const Step& step, uint8_t rm, const uint8_t* operand,
                      size_t size) {
  const Shape& shape = step.shape;
  const unsigned behind = shape.displacement_at + 4u;
  code.put_bytes(step.code(), shape.displacement_at - 1u);
  code.put8(static_cast<uint8_t>((shape.modrm & 0x38) | rm));
  code.put_bytes(operand, size);
  code.put_bytes(step.code() + behind, shape.length - behind);
}

// Whether a signed displacement of 32 bits holds it.
bool is_narrow(uint64_t address) {
  return static_cast<int64_t>(address) == static_cast<int32_t>(address);
}

}  // namespace

void relocate(Code& code, const Step& step, Mark mark) {
  const Shape& shape = step.shape;
  if (!shape.is_rip_relative()) {
    code.put_bytes(step.code(), shape.length);
    return;
  }
  const uint64_t address = operand_address(step), distance = address - (code.here() + shape.length);
  if (is_narrow(distance)) {
    uint8_t displacement[4];
    __builtin_memcpy(displacement, &distance, sizeof displacement);
    put_with_operand(code, step, 5, displacement, sizeof displacement);
    return;
  }
  if (!shape.is_vector && shape.map == OpcodeMap::kOneByte && shape.opcode == 0x8d) {
    code.put_constant(shape.reg() | (shape.rex & 4) << 1,
                      shape.rex & 8 ? address : address & 0xffffffff);
    return;
  }
  if (is_narrow(address)) {
    uint8_t absolute[5] = {0x25};
    __builtin_memcpy(absolute + 1, &address, 4);
    put_with_operand(code, step, 4, absolute, sizeof absolute);
    return;
  }
  const bool loads = is_general_load(shape);
  const unsigned reg = loads ? shape.reg() : free_register(step);
  code.save(reg, kSavedOther);
  mark.lost = kLostOther;
  mark.other = static_cast<uint8_t>(reg);
  code.put_constant(reg, address);
  code.mark(mark);
  put_with_operand(code, step, static_cast<uint8_t>(reg), nullptr, 0);
  if (loads) return;
  mark.done++;
  mark.rip = step.next;
  code.mark(mark);
  code.load(reg, kSavedOther);
}

void load_target(Code& code, const Step& step) {
  const Shape& shape = step.shape;
  if (shape.mod() == 3) {
    code.put({static_cast<uint8_t>(0x48 | (shape.rex & 1)), 0x8b,
              static_cast<uint8_t>(0xc8 | shape.rm())});
    return;
  }
  const uint64_t address = shape.is_rip_relative() ? operand_address(step) : 0;
  const bool is_near =
      is_narrow(address - code.here()) && is_narrow(address - (code.here() + kMaxInstructionSize));
  if (shape.is_rip_relative() && !is_near) code.put_constant(kRcx, address);
  for (unsigned i = 0; i < shape.opcode_at; i++) {  // what changes the address
    const uint8_t prefix = step.code()[i];
    if (prefix == 0x64 || prefix == 0x65 || prefix == 0x67) code.put8(prefix);
  }
  code.put({static_cast<uint8_t>(0x48 | (shape.rex & 3)), 0x8b});
  if (shape.is_rip_relative() && is_near) {
    code.put8(0x0d);
    code.put_relative(address);
    return;
  }
  if (shape.is_rip_relative()) {
    code.put8(0x09);  // (%rcx)
    return;
  }
  code.put8(static_cast<uint8_t>((shape.modrm & 0xc7) | kRcx << 3));
  const unsigned from = shape.opcode_at + 2u;
  code.put_bytes(step.code() + from, shape.displacement_at + shape.displacement_size - from);
}

}  // namespace weir::translate
