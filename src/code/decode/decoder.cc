#include "code/decode/decoder.h"

#include <Zydis/Decoder.h>
#include <Zydis/Register.h>

// Zydis tells which memory an instruction touches, hidden operands included; this file turns that
// into addresses. Where the architecture computes an address in a way that an operand cannot say,
// it is handled here:
//   - push, call, enter and pushf write below the stack pointer that they start with;
//   - pop to memory computes its address after the stack pointer has moved;
//   - bit tests with a register move the address by that register's upper bits;
//   - repeated string instructions step up or down by the direction flag, as often as rcx says.
// What remains undescribed (gather, scatter, tiles, xlat, the kernel's accesses) is said to be
// unknown, never left out.

namespace weir {
namespace {

// No state that xsave writes lies above this offset in its standard format (legacy area to tile
// data).
constexpr uint16_t kStateSaveLimit = 11008;

struct Decoded {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

uint8_t register_number(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP) return kRip;
  ZydisRegisterClass kind = ZydisRegisterGetClass(reg);
  if (kind != ZYDIS_REGCLASS_GPR64 && kind != ZYDIS_REGCLASS_GPR32) return kNoRegister;
  return static_cast<uint8_t>(ZydisRegisterGetId(reg));
}

bool has(const ZydisDecodedInstruction& from, uint64_t attribute) {
  return (from.attributes & attribute) != 0;
}

bool saves_state(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64: return true;
    default: return false;
  }
}

bool only_hints(const ZydisDecodedInstruction& from) {
  return from.meta.category == ZYDIS_CATEGORY_NOP || from.meta.category == ZYDIS_CATEGORY_WIDENOP ||
         from.meta.category == ZYDIS_CATEGORY_PREFETCH ||
         from.meta.category == ZYDIS_CATEGORY_CLDEMOTE;
}

// Of whole numbers. Not: moves of any kind, also conditional ones, and what converts or extends.
bool is_computation(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV:
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_XOR: return true;
    default: return false;
  }
}

bool is_masked_move(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ: return true;
    default: return false;
  }
}

bool accesses_beyond_operands(const ZydisDecodedInstruction& from) {
  switch (from.mnemonic) {
    case ZYDIS_MNEMONIC_XLAT:
    case ZYDIS_MNEMONIC_CLZERO:
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_INT: return true;
    default: return from.meta.category == ZYDIS_CATEGORY_AMX_TILE;
  }
}

void set_flow(const Decoded& from, Instruction& to) {
  const ZydisDecodedInstruction& in = from.instruction;
  to.is_call = in.meta.category == ZYDIS_CATEGORY_CALL;
  to.is_return = in.meta.category == ZYDIS_CATEGORY_RET;
  to.is_jump = in.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
  to.is_branch =
      to.is_call || to.is_return || to.is_jump || in.meta.category == ZYDIS_CATEGORY_COND_BR;
  const ZydisDecodedOperand& first = from.operands[0];
  if (to.is_branch && in.operand_count > 0 && first.type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
      first.imm.is_relative) {
    to.has_target = true;
    to.target = to.address + to.length + static_cast<uint64_t>(first.imm.value.s);
  }
  to.is_syscall = in.mnemonic == ZYDIS_MNEMONIC_SYSCALL || in.mnemonic == ZYDIS_MNEMONIC_SYSENTER ||
                  in.mnemonic == ZYDIS_MNEMONIC_INT;
  to.is_fence = in.mnemonic == ZYDIS_MNEMONIC_MFENCE;
  to.computes = is_computation(in.mnemonic);
}

void set_repeat(const ZydisDecodedInstruction& in, Instruction& to) {
  to.is_string =
      in.meta.category == ZYDIS_CATEGORY_STRINGOP || in.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
  if (!to.is_string) return;
  if (has(in, ZYDIS_ATTRIB_HAS_REPE) || has(in, ZYDIS_ATTRIB_HAS_REPNE)) {
    to.repeat = Repeat::kConditional;
  } else if (has(in, ZYDIS_ATTRIB_HAS_REP)) {
    to.repeat = Repeat::kCounted;
  }
}

Operand operand_of(const Decoded& from, const ZydisDecodedOperand& operand) {
  const ZydisDecodedInstruction& in = from.instruction;
  Operand to;
  to.base = register_number(operand.mem.base);
  to.index = register_number(operand.mem.index);
  to.scale = operand.mem.scale;
  if (operand.mem.segment == ZYDIS_REGISTER_FS) to.segment = Segment::kFs;
  if (operand.mem.segment == ZYDIS_REGISTER_GS) to.segment = Segment::kGs;
  to.address32 = in.address_width == 32;
  to.read = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
  to.written = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  to.size = static_cast<uint16_t>(operand.size / 8);
  to.displacement = operand.mem.disp.value;
  // A repeated instruction's accesses are conditional only by their count, which accesses_of()
  // applies.
  bool conditional =
      (operand.actions & (ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE)) != 0;
  bool string =
      in.meta.category == ZYDIS_CATEGORY_STRINGOP || in.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
  bool masked = in.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED;
  to.exact = !(conditional && !string) && !masked && !is_masked_move(in.mnemonic);
  if (saves_state(in.mnemonic)) {
    to.size = kStateSaveLimit;
    to.exact = false;
  }
  if (operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && to.base == kRsp && to.written) {
    to.displacement -= to.size;
  } else if (in.mnemonic == ZYDIS_MNEMONIC_POP && to.base == kRsp && to.written) {
    to.displacement += to.size;
  }
  return to;
}

void set_operands(const Decoded& from, Instruction& to) {
  const ZydisDecodedInstruction& in = from.instruction;
  if (accesses_beyond_operands(in)) to.unknown_read = to.unknown_write = true;
  if (only_hints(in)) return;
  for (unsigned i = 0; i < in.operand_count; i++) {
    const ZydisDecodedOperand& operand = from.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN)
      continue;
    if (operand.mem.type != ZYDIS_MEMOP_TYPE_MEM || to.operand_count == Instruction::kMaxOperands) {
      to.unknown_read |= (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
      to.unknown_write |= (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
      continue;
    }
    if (in.mnemonic == ZYDIS_MNEMONIC_XLAT) continue;
    Operand one = operand_of(from, operand);
    to.is_locked |=
        has(in, ZYDIS_ATTRIB_HAS_LOCK) || (in.mnemonic == ZYDIS_MNEMONIC_XCHG && one.written);
    to.operands[to.operand_count++] = one;
  }
  if (in.mnemonic == ZYDIS_MNEMONIC_ENTER && (in.raw.imm[1].value.u & 31) != 0)
    to.unknown_read = to.unknown_write = true;
}

void set_bit_index(const Decoded& from, Instruction& to) {
  switch (from.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC: break;
    default: return;
  }
  const ZydisDecodedOperand& bit = from.operands[1];
  if (to.operand_count == 1 && bit.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    to.bit_index = static_cast<uint8_t>(ZydisRegisterGetId(bit.reg.value));
  }
}

void set_changed(const Decoded& from, Instruction& to) {
  for (unsigned i = 0; i < from.instruction.operand_count; i++) {
    const ZydisDecodedOperand& operand = from.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER ||
        !(operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
      continue;
    const uint8_t number = register_number(
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value));
    if (number < 16) to.changed |= static_cast<uint16_t>(1u << number);
  }
}

// How far the bits of a bit test above the operand's own size move its address.
uint64_t bit_distance(const Instruction& instruction, const Registers& registers) {
  uint64_t value = registers.general[instruction.bit_index];
  switch (instruction.operands[0].size) {
    case 2: return static_cast<uint64_t>((static_cast<int16_t>(value) >> 4) * int64_t{2});
    case 4: return static_cast<uint64_t>((static_cast<int32_t>(value) >> 5) * int64_t{4});
    default: return static_cast<uint64_t>((static_cast<int64_t>(value) >> 6) * int64_t{8});
  }
}

// Widens the access of one element to that of all repetitions. False: there is none.
bool apply_repeat(const Instruction& instruction, const Registers& registers, Extent extent,
                  Access& access) {
  uint64_t count = registers.general[kRcx];
  if (instruction.operands[0].address32) count &= 0xffffffff;
  if (count == 0) return false;
  if (extent == Extent::kOneStep) return true;
  if (instruction.repeat == Repeat::kConditional && count > 1) access.exact = false;
  if (registers.rflags & kDirectionFlag) access.address -= (count - 1) * access.size;
  access.size *= count;
  return true;
}

}  // namespace

bool decode_bytes(const void* code, size_t available, uint64_t address, Instruction& instruction) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  Decoded decoded;
  instruction = Instruction{};
  ZyanStatus status =
      ZydisDecoderDecodeFull(&decoder, code, available, &decoded.instruction, decoded.operands);
  if (!ZYAN_SUCCESS(status)) return false;
  instruction.address = address;
  instruction.length = decoded.instruction.length;
  instruction.address_width = decoded.instruction.address_width;
  set_flow(decoded, instruction);
  set_repeat(decoded.instruction, instruction);
  set_operands(decoded, instruction);
  set_bit_index(decoded, instruction);
  set_changed(decoded, instruction);
  return true;
}

bool decode(uint64_t address, Instruction& instruction, size_t available) {
  return decode_bytes(reinterpret_cast<const void*>(address), available, address, instruction);
}

uint64_t effective_address(const Operand& operand, const Registers& registers, uint64_t next_rip,
                           uint64_t fs_base, uint64_t gs_base) {
  uint64_t address = static_cast<uint64_t>(operand.displacement);
  if (operand.base == kRip) {
    address += next_rip;
  } else if (operand.base != kNoRegister) {
    address += registers.general[operand.base];
  }
  if (operand.index != kNoRegister) address += registers.general[operand.index] * operand.scale;
  if (operand.address32) address &= 0xffffffff;
  if (operand.segment == Segment::kFs) address += fs_base;
  if (operand.segment == Segment::kGs) address += gs_base;
  return address;
}

AccessList accesses_of(const Instruction& instruction, const Registers& registers, uint64_t fs_base,
                       uint64_t gs_base, Extent extent) {
  AccessList list;
  list.unknown_read = instruction.unknown_read;
  list.unknown_write = instruction.unknown_write;
  uint64_t next_rip = instruction.address + instruction.length;
  for (unsigned i = 0; i < instruction.operand_count; i++) {
    const Operand& operand = instruction.operands[i];
    Access access;
    access.address = effective_address(operand, registers, next_rip, fs_base, gs_base);
    access.size = operand.size;
    access.read = operand.read;
    access.written = operand.written;
    access.exact = operand.exact;
    if (instruction.bit_index != kNoRegister)
      access.address += bit_distance(instruction, registers);
    if (instruction.repeat != Repeat::kNone &&
        !apply_repeat(instruction, registers, extent, access))
      continue;
    list.accesses[list.count++] = access;
  }
  return list;
}

}  // namespace weir
