#include "code/sites/atomic_op.h"

#include "base/bytes.h"
#include "code/decode/decoder.h"
#include "code/decode/flags.h"
#include "code/decode/shape.h"

// The decoder says that an instruction is locked and which memory it names; which operation it is
// and which register it takes follow from the opcode bytes, which x86-64 lays out regularly: only
// some forty encodings accept a lock prefix.

namespace weir {
namespace {

constexpr uint8_t kRexW = 8, kRexR = 4;

AtomicKind one_byte_kind(const Shape& shape) {
  static constexpr AtomicKind kArithmetic[8] = {
      AtomicKind::kAdd, AtomicKind::kOr,  AtomicKind::kAdc, AtomicKind::kSbb,
      AtomicKind::kAnd, AtomicKind::kSub, AtomicKind::kXor, AtomicKind::kNone};
  switch (shape.opcode) {
    case 0x80:
    case 0x81:
    case 0x83: return kArithmetic[shape.reg()];
    case 0x86:
    case 0x87: return AtomicKind::kXchg;
    case 0xf6:
    case 0xf7:
      return shape.reg() == 2   ? AtomicKind::kNot
             : shape.reg() == 3 ? AtomicKind::kNeg
                                : AtomicKind::kNone;
    case 0xfe:
    case 0xff:
      return shape.reg() == 0   ? AtomicKind::kInc
             : shape.reg() == 1 ? AtomicKind::kDec
                                : AtomicKind::kNone;
    default:
      return shape.opcode < 0x38 && (shape.opcode & 7) < 2 ? kArithmetic[shape.opcode >> 3]
                                                           : AtomicKind::kNone;
  }
}

AtomicKind two_byte_kind(const Shape& shape) {
  switch (shape.opcode) {
    case 0xab: return AtomicKind::kBts;
    case 0xb3: return AtomicKind::kBtr;
    case 0xbb: return AtomicKind::kBtc;
    case 0xba:
      return shape.reg() == 5   ? AtomicKind::kBts
             : shape.reg() == 6 ? AtomicKind::kBtr
             : shape.reg() == 7 ? AtomicKind::kBtc
                                : AtomicKind::kNone;
    case 0xb0:
    case 0xb1: return AtomicKind::kCmpxchg;
    case 0xc0:
    case 0xc1: return AtomicKind::kXadd;
    case 0xc7:
      if (shape.reg() != 1) return AtomicKind::kNone;
      return shape.rex & kRexW ? AtomicKind::kCmpxchg16b : AtomicKind::kCmpxchg8b;
    default: return AtomicKind::kNone;
  }
}

bool takes_register(const Shape& shape) {
  if (shape.map == OpcodeMap::k0F) return shape.opcode != 0xba && shape.opcode != 0xc7;
  return shape.opcode < 0x40 || shape.opcode == 0x86 || shape.opcode == 0x87;
}

// REQUIRES: the opcode is one of those above, whose lowest bit tells bytes from words (bit tests
// have no byte form).
uint8_t operand_size(const Shape& shape, AtomicKind kind) {
  if (kind == AtomicKind::kCmpxchg16b) return 16;
  if (kind == AtomicKind::kCmpxchg8b) return 8;
  bool bytes = (shape.opcode & 1) == 0 && shape.opcode != 0xba;
  if (bytes) return 1;
  if (shape.rex & kRexW) return 8;
  return shape.has_66 ? 2 : 4;
}

uint8_t source_register(const Shape& shape, uint8_t size) {
  auto number = static_cast<uint8_t>(shape.reg() | (shape.rex & kRexR ? 8 : 0));
  if (size == 1 && shape.rex == 0 && number >= 4)
    return static_cast<uint8_t>(AtomicOp::kHighByte | (number - 4));
  return number;
}

int32_t immediate_of(const Shape& shape, const uint8_t* code) {
  const uint8_t* at = code + shape.immediate_at;
  switch (shape.immediate_size) {
    case 1: return static_cast<int8_t>(*at);
    case 2: return static_cast<int16_t>(at[0] | at[1] << 8);
    case 4: {
      int32_t value;
      copy_bytes(&value, at, sizeof(value));
      return value;
    }
    default: return 0;
  }
}

bool is_bit_test(AtomicKind kind) {
  return kind == AtomicKind::kBts || kind == AtomicKind::kBtr || kind == AtomicKind::kBtc;
}

// `op` of the instruction, whose shape this is and which has one operand in memory.
bool describe(const Instruction& instruction, const Shape& shape, const uint8_t* bytes,
              AtomicOp& op) {
  if (instruction.operand_count != 1) return false;
  if (shape.map == OpcodeMap::kOneByte) op.kind = one_byte_kind(shape);
  if (shape.map == OpcodeMap::k0F) op.kind = two_byte_kind(shape);
  if (op.kind == AtomicKind::kNone) return false;
  op.size = operand_size(shape, op.kind);
  op.source = takes_register(shape) ? source_register(shape, op.size) : AtomicOp::kImmediate;
  op.immediate = immediate_of(shape, bytes);

  const Operand& memory = instruction.operands[0];
  if (memory.segment == Segment::kGs || memory.size != op.size) return false;
  op.base = memory.base;
  op.index = memory.index;
  op.scale = memory.scale;
  op.uses_fs = memory.segment == Segment::kFs;
  op.address32 = memory.address32;
  op.displacement = memory.displacement;
  if (op.base == kRip) {
    op.base = kNoRegister;
    op.displacement += static_cast<int64_t>(instruction.address + op.length);
  }
  return true;
}

bool read_instruction(const void* code, size_t available, uint64_t address,
                      Instruction& instruction, Shape& shape, AtomicOp& op) {
  op = AtomicOp{};
  if (!decode_bytes(code, available, address, instruction) ||
      !read_shape(static_cast<const uint8_t*>(code), available, shape))
    return false;
  op.length = shape.length;
  return instruction.length == shape.length;
}

}  // namespace

bool decode_atomic(const void* code, size_t available, uint64_t address, AtomicOp& op) {
  Instruction instruction;
  Shape shape;
  if (!read_instruction(code, available, address, instruction, shape, op)) return false;
  if (instruction.is_fence) {
    op.kind = AtomicKind::kFence;
    return true;
  }
  return instruction.is_locked &&
         describe(instruction, shape, static_cast<const uint8_t*>(code), op);
}

bool decode_change(const void* code, size_t available, uint64_t address, AtomicOp& op) {
  Instruction instruction;
  Shape shape;
  return read_instruction(code, available, address, instruction, shape, op) &&
         !instruction.is_locked &&
         describe(instruction, shape, static_cast<const uint8_t*>(code), op) &&
         op.kind <= AtomicKind::kBtc && instruction.operands[0].read &&
         instruction.operands[0].written;
}

bool is_unread(const AtomicOp& op, const uint8_t* text, size_t size, size_t offset) {
  return op.kind != AtomicKind::kNone && op.kind <= AtomicKind::kBtc &&
         offset + op.length <= size && leaves_flags_unread(text, size, offset + op.length);
}

uint64_t atomic_address(const AtomicOp& op, const Frame& frame, uint64_t fs_base) {
  if (op.kind == AtomicKind::kFence) return 0;
  auto address = static_cast<uint64_t>(op.displacement);
  if (op.base != kNoRegister) address += general_register(frame, op.base);
  if (op.index != kNoRegister) address += general_register(frame, op.index) * op.scale;
  if (is_bit_test(op.kind) && op.source != AtomicOp::kImmediate) {
    uint64_t bit = general_register(frame, op.source);
    int64_t elements = op.size == 2   ? static_cast<int16_t>(bit) >> 4
                       : op.size == 4 ? static_cast<int32_t>(bit) >> 5
                                      : static_cast<int64_t>(bit) >> 6;
    address += static_cast<uint64_t>(elements * op.size);
  }
  if (op.address32) address &= 0xffffffff;
  return op.uses_fs ? address + fs_base : address;
}

bool would_store(const AtomicOp& op, const Frame& frame, const void* target) {
  uint64_t now[2] = {0, 0};
  switch (op.kind) {
    case AtomicKind::kFence: return false;
    case AtomicKind::kCmpxchg: {
      copy_bytes(now, target, op.size);
      uint64_t mask = op.size == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * op.size)) - 1;
      return now[0] == (frame.rax & mask);
    }
    case AtomicKind::kCmpxchg8b:
      copy_bytes(now, target, 8);
      return now[0] == ((frame.rax & 0xffffffff) | frame.rdx << 32);
    case AtomicKind::kCmpxchg16b:
      copy_bytes(now, target, 16);
      return now[0] == frame.rax && now[1] == frame.rdx;
    default: return true;
  }
}

}  // namespace weir
