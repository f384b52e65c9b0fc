#include "code/decode/flags.h"

#include <Zydis/Zydis.h>

#include "code/decode/registers.h"

// Whoever translates code asks for the first few instructions of every block, so the common ones
// are answered from their opcode, in two nanoseconds instead of a hundred; flags_test.cc compares
// both answers over whole libraries.
//
// Shifts by a register or by a masked count of zero, and repeated comparisons that rcx makes none
// of, write nothing: such instructions count as writing no flag at all.

namespace weir {
namespace {

constexpr uint16_t kAll = kStatusFlags;
constexpr uint16_t kCarry = kCarryFlag;
constexpr FlagEffect kNone{0, 0};
constexpr FlagEffect kWritesAll{0, kAll};
constexpr FlagEffect kAddsCarry{kCarry, kAll};

// What jcc, setcc and cmovcc read, by the upper three bits of their condition.
constexpr uint16_t kCondition[8] = {0x800, 0x001, 0x040, 0x041, 0x080, 0x004, 0x880, 0x8c0};

bool shift_effect(const Shape& shape, const uint8_t* code, FlagEffect& effect) {
  if (shape.reg() < 4) return false;  // rotates
  switch (shape.opcode) {
    case 0xd0:
    case 0xd1: effect = kWritesAll; return true;
    case 0xc0:
    case 0xc1: effect = code[shape.immediate_at] & 0x1f ? kWritesAll : kNone; return true;
    default: effect = kNone; return true;
  }
}

bool one_byte_effect(const Shape& shape, const uint8_t* code, FlagEffect& effect) {
  const uint8_t opcode = shape.opcode;
  const unsigned reg = shape.reg();
  effect = kNone;
  if (opcode < 0x40) {
    if ((opcode & 7) > 5) return false;
    effect = (opcode >> 4) == 1 ? kAddsCarry : kWritesAll;  // adc, sbb
    return true;
  }
  if ((opcode & 0xf0) == 0x50 || (opcode & 0xf0) == 0xb0) return true;
  if ((opcode & 0xf0) == 0x70) {
    effect.read = kCondition[opcode >> 1 & 7];
    return true;
  }
  switch (opcode) {
    case 0x80:
    case 0x81:
    case 0x83: effect = reg == 2 || reg == 3 ? kAddsCarry : kWritesAll; return true;
    case 0x84:
    case 0x85:
    case 0xa8:
    case 0xa9:
    case 0x69:
    case 0x6b: effect = kWritesAll; return true;
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return shift_effect(shape, code, effect);
    case 0xf6:
    case 0xf7: effect = reg == 2 ? kNone : kWritesAll; return true;
    case 0xfe:
    case 0xff:
      if (reg < 2) effect.written = kAll & ~kCarry;
      return true;
    case 0x63:
    case 0x68:
    case 0x6a:
    case 0x86:
    case 0x87:
    case 0x88:
    case 0x89:
    case 0x8a:
    case 0x8b:
    case 0x8d:
    case 0x90:
    case 0x98:
    case 0x99:
    case 0xc2:
    case 0xc3:
    case 0xc6:
    case 0xc7:
    case 0xe8:
    case 0xe9:
    case 0xeb:
    case 0xc9: return shape.modrm != 0xf8 || (opcode & 0xfe) != 0xc6;
    default: return false;
  }
}

bool two_byte_effect(const Shape& shape, FlagEffect& effect) {
  const uint8_t opcode = shape.opcode;
  effect = kNone;
  switch (opcode & 0xf0) {
    case 0x40:
    case 0x80:
    case 0x90: effect.read = kCondition[opcode >> 1 & 7]; return true;
    case 0x50:
    case 0x60: return true;
    case 0xd0:
    case 0xe0:
    case 0xf0: return opcode != 0xff;
    default: break;
  }
  switch (opcode) {
    case 0x2e:
    case 0x2f:
    case 0xaf: effect = kWritesAll; return true;
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x13:
    case 0x14:
    case 0x15:
    case 0x16:
    case 0x17:
    case 0x1e:
    case 0x1f:
    case 0x28:
    case 0x29:
    case 0x2a:
    case 0x2b:
    case 0x2c:
    case 0x2d:
    case 0x70:
    case 0x7e:
    case 0x7f:
    case 0xb6:
    case 0xb7:
    case 0xbe:
    case 0xbf:
    case 0xc6: return true;
    default: return false;
  }
}

bool is_counted_shift(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_SALC:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD: return true;
    default: return false;
  }
}

bool writes_always(const ZydisDecodedInstruction& in, const Shape& shape, const uint8_t* code) {
  if (in.meta.category == ZYDIS_CATEGORY_STRINGOP) return !shape.has_repeat;
  if (!is_counted_shift(in.mnemonic)) return true;
  if (shape.map == OpcodeMap::kOneByte && (shape.opcode & 0xfe) == 0xd0) return true;  // by one
  return shape.immediate_size == 1 && (code[shape.immediate_at] & 0x1f) != 0;
}

}  // namespace

FlagEffect decoded_flag_effect(const Shape& shape, const uint8_t* code) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction in;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, code, shape.length, &in)))
    return {kAll, 0};
  if (in.cpu_flags == nullptr) return kNone;
  const ZydisAccessedFlags& flags = *in.cpu_flags;
  FlagEffect effect;
  effect.read = static_cast<uint16_t>(flags.tested & kAll);
  if (in.mnemonic == ZYDIS_MNEMONIC_LAHF || in.mnemonic == ZYDIS_MNEMONIC_PUSHF ||
      in.mnemonic == ZYDIS_MNEMONIC_PUSHFQ || in.mnemonic == ZYDIS_MNEMONIC_PUSHFD) {
    effect.read = kAll;
  }
  if (writes_always(in, shape, code)) {
    effect.written = static_cast<uint16_t>(
        (flags.modified | flags.set_0 | flags.set_1 | flags.undefined) & kAll);
  }
  return effect;
}

FlagEffect flag_effect(const Shape& shape, const uint8_t* code) {
  FlagEffect effect;
  if (!shape.is_vector) {
    if (shape.map == OpcodeMap::kOneByte && one_byte_effect(shape, code, effect)) return effect;
    if (shape.map == OpcodeMap::k0F && two_byte_effect(shape, effect)) return effect;
  }
  return decoded_flag_effect(shape, code);
}

bool leaves_flags_unread(const uint8_t* text, size_t size, size_t offset) {
  constexpr int kMostSteps = 16;
  uint16_t live = kEveryFlag;
  for (int i = 0; i < kMostSteps && offset < size; i++) {
    Shape shape;
    const uint8_t* code = text + offset;
    if (!read_shape(code, size - offset, shape)) return false;
    switch (flow_of(shape)) {
      case Flow::kCall:
      case Flow::kIndirectCall:
      case Flow::kReturn: return true;
      case Flow::kNext: {
        const FlagEffect effect = flag_effect(shape, code);
        if (effect.read & live) return false;
        live &= static_cast<uint16_t>(~effect.written);
        if (!live) return true;
        offset += shape.length;
        break;
      }
      case Flow::kJump:  // out of the text it is too large a number, backwards too
        offset += shape.length + static_cast<size_t>(branch_displacement(shape, code));
        break;
      default: return false;
    }
  }
  return false;
}

bool condition_holds(unsigned code, uint64_t flags) {
  const bool carry = flags & 1, parity = flags >> 2 & 1, zero = flags >> 6 & 1,
             sign = flags >> 7 & 1, overflow = flags >> 11 & 1;
  const bool all[] = {overflow,
                      carry,
                      zero,
                      carry || zero,
                      sign,
                      parity,
                      sign != overflow,
                      zero || sign != overflow};
  return all[code >> 1] != static_cast<bool>(code & 1);
}

}  // namespace weir
