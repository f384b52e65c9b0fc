// Known are nop and pause, moves into registers, comparisons, and, xor, and direct jumps.
// All else may change what this does not see, and ends the search. Status flags are computed by the
// processor itself, so those that the manuals leave undefined are what they would be.

#include "code/emulate/waiting_loop_x86_64.h"

#include "code/decode/decoder.h"
#include "code/decode/flags.h"
#include "code/decode/shape.h"

namespace weir {

namespace {

constexpr unsigned kMaxSteps = 96;
constexpr uint64_t kOverflowFlag = 1u << 11;

enum class Compute : uint8_t { kCompare, kAnd, kXor };

template <typename T>
uint64_t status_of(Compute how, T a, T b) {
  uint64_t flags;
  uint8_t overflow;
  switch (how) {
    case Compute::kCompare:
      asm("cmp %3, %2\n\tlahf\n\tseto %1" : "=&a"(flags), "=&q"(overflow) : "q"(a), "q"(b) : "cc");
      break;
    case Compute::kAnd:
      asm("test %3, %2\n\tlahf\n\tseto %1" : "=&a"(flags), "=&q"(overflow) : "q"(a), "q"(b) : "cc");
      break;
    case Compute::kXor:
      asm("xor %3, %2\n\tlahf\n\tseto %1"
          : "=&a"(flags), "=&q"(overflow), "+&q"(a)
          : "q"(b)
          : "cc");
      break;
  }
  return (flags >> 8 & 0xd5) | (overflow ? kOverflowFlag : 0);
}

uint64_t status_of(Compute how, uint64_t a, uint64_t b, unsigned size) {
  switch (size) {
    case 1: return status_of(how, static_cast<uint8_t>(a), static_cast<uint8_t>(b));
    case 2: return status_of(how, static_cast<uint16_t>(a), static_cast<uint16_t>(b));
    case 4: return status_of(how, static_cast<uint32_t>(a), static_cast<uint32_t>(b));
    default: return status_of(how, a, b);
  }
}

uint64_t cut(uint64_t value, unsigned size) {
  return size == 8 ? value : value & ((uint64_t{1} << size * 8) - 1);
}

class Walk {
 public:
  Walk(const Registers& from, uint64_t fs_base, LoadMemory load, WaitingLoop& found)
      : state(from), fs_base_(fs_base), load_(load), found_(found) {}

  // False: the instruction is none of the known ones.
  bool step() {
    code_ = reinterpret_cast<const uint8_t*>(state.rip);
    if (!read_shape(code_, kMaxInstructionSize, shape_) || shape_.is_vector || shape_.has_lock ||
        shape_.has_67)
      return false;
    const uint64_t next = state.rip + shape_.length;
    const Flow flow = flow_of(shape_);
    if (flow == Flow::kJump || flow == Flow::kConditional) {
      const bool goes = flow == Flow::kJump || condition_holds(shape_.opcode & 15, state.rflags);
      state.rip = goes ? next + static_cast<uint64_t>(branch_displacement(shape_, code_)) : next;
      return true;
    }
    if (flow != Flow::kNext) return false;
    const bool is_done = shape_.map == OpcodeMap::kOneByte ? one_byte()
                         : shape_.map == OpcodeMap::k0F    ? two_bytes()
                                                           : false;
    state.rip = next;
    return is_done;
  }

  Registers state;

 private:
  unsigned width() const { return shape_.rex & 8 ? 8 : shape_.has_66 ? 2 : 4; }
  // 1 where the lowest bit of the opcode says so.
  unsigned width_by_opcode() const { return shape_.opcode & 1 ? width() : 1; }

  // The register in the reg field, or the one that rm names.
  bool number(bool in_rm, unsigned size, unsigned& found) const {
    found = in_rm ? shape_.rm() | (shape_.rex & 1u) << 3 : shape_.reg() | (shape_.rex & 4u) << 1;
    return size != 1 || shape_.rex || found < 4;  // not ah, ch, dh and bh
  }
  bool get(bool in_rm, unsigned size, uint64_t& value) {
    if (in_rm && shape_.has_memory_operand()) return look(size, value);
    unsigned at;
    if (!number(in_rm, size, at)) return false;
    value = cut(state.general[at], size);
    return true;
  }
  bool set(bool in_rm, unsigned size, uint64_t value) {
    unsigned at;
    if ((in_rm && shape_.has_memory_operand()) || !number(in_rm, size, at)) return false;
    put(at, size, value);
    return true;
  }
  void put(unsigned at, unsigned size, uint64_t value) {
    uint64_t& target = state.general[at];
    if (size >= 4) target = cut(value, size);  // 4: the upper half becomes zero
    else target = (target & ~cut(~uint64_t{0}, size)) | cut(value, size);
  }
  bool address(uint64_t& at) const {
    Instruction instruction;
    if (!decode(state.rip, instruction) || instruction.operand_count != 1) return false;
    const Operand& operand = instruction.operands[0];
    if (operand.segment == Segment::kGs || operand.address32) return false;
    at = effective_address(operand, state, state.rip + shape_.length, fs_base_, 0);
    return true;
  }
  bool look(unsigned size, uint64_t& value) {
    uint64_t at;
    if (!address(at) || !load_(at, size, &value)) return false;
    for (size_t i = 0; i < found_.read_count; i++) {
      if (found_.read[i].address == at && found_.read[i].size == size) return true;
    }
    if (found_.read_count == WaitingLoop::kMaxReads) return false;
    found_.read[found_.read_count++] = {at, size, value};
    return true;
  }
  uint64_t immediate() const {
    const uint8_t* at = code_ + shape_.immediate_at;
    int64_t value = 0;
    for (unsigned i = 0; i < shape_.immediate_size; i++)
      value |= static_cast<int64_t>(at[i]) << 8 * i;
    const unsigned unused = 64 - 8 * shape_.immediate_size;
    return static_cast<uint64_t>(value << unused >> unused);
  }
  void set_status(Compute how, uint64_t a, uint64_t b, unsigned size) {
    state.rflags = (state.rflags & ~kStatusFlags) | status_of(how, a, b, size);
  }

  // The operands that opcodes xx000 to xx011 name; only what ends in a register.
  bool compute(Compute how, bool keeps) {
    const unsigned size = width_by_opcode();
    const bool to_rm = !(shape_.opcode & 2);
    uint64_t a, b;
    if (!get(to_rm, size, a) || !get(!to_rm, size, b)) return false;
    return finish(how, keeps, to_rm, a, b, size);
  }
  bool finish(Compute how, bool keeps, bool in_rm, uint64_t a, uint64_t b, unsigned size) {
    set_status(how, a, b, size);
    return !keeps || set(in_rm, size, how == Compute::kAnd ? a & b : a ^ b);
  }
  bool compute_with_number(Compute how, bool keeps) {
    const unsigned size = width_by_opcode();
    uint64_t a;
    return get(true, size, a) && finish(how, keeps, true, a, cut(immediate(), size), size);
  }
  bool with_rax(Compute how, bool keeps) {
    const unsigned size = width_by_opcode();
    const uint64_t a = cut(state.general[kRax], size), b = cut(immediate(), size);
    set_status(how, a, b, size);
    if (keeps) put(kRax, size, a & b);
    return true;
  }

  bool one_byte() {
    uint64_t value;
    if (shape_.has_repeat && shape_.opcode != 0x90) return false;
    switch (shape_.opcode) {
      case 0x90: return !(shape_.rex & 1);  // nop, pause
      case 0x20:
      case 0x21:
      case 0x22:
      case 0x23: return compute(Compute::kAnd, true);
      case 0x24:
      case 0x25: return with_rax(Compute::kAnd, true);
      case 0x30:
      case 0x31:
      case 0x32:
      case 0x33: return compute(Compute::kXor, true);
      case 0x38:
      case 0x39:
      case 0x3a:
      case 0x3b: return compute(Compute::kCompare, false);
      case 0x3c:
      case 0x3d: return with_rax(Compute::kCompare, false);
      case 0x63: return width() == 8 && get(true, 4, value) && set(false, 8, extended(value, 4));
      case 0x80:
      case 0x81:
      case 0x83:
        if (shape_.reg() == 4) return compute_with_number(Compute::kAnd, true);
        return shape_.reg() == 7 && compute_with_number(Compute::kCompare, false);
      case 0x84:
      case 0x85: {
        const unsigned size = width_by_opcode();
        uint64_t other;
        if (!get(true, size, value) || !get(false, size, other)) return false;
        set_status(Compute::kAnd, value, other, size);
        return true;
      }
      case 0x88:
      case 0x89: {
        const unsigned size = width_by_opcode();
        return get(false, size, value) && set(true, size, value);
      }
      case 0x8a:
      case 0x8b: {
        const unsigned size = width_by_opcode();
        return get(true, size, value) && set(false, size, value);
      }
      case 0xa8:
      case 0xa9: return with_rax(Compute::kAnd, false);
      case 0xf6:
      case 0xf7: return shape_.reg() <= 1 && compute_with_number(Compute::kAnd, false);
      default: return false;
    }
  }

  static uint64_t extended(uint64_t value, unsigned size) {
    const unsigned unused = 64 - 8 * size;
    return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
  }

  bool two_bytes() {
    uint64_t value;
    switch (shape_.opcode) {
      case 0x1e:  // endbr64
      case 0x1f: return true;
      case 0xae: return !shape_.has_repeat && shape_.mod() == 3 && shape_.reg() == 5;  // lfence
      case 0xb6:
      case 0xb7:
      case 0xbe:
      case 0xbf: {
        if (shape_.has_repeat) return false;
        const unsigned size = shape_.opcode & 1 ? 2 : 1;
        if (!get(true, size, value)) return false;
        // A destination of one byte does not exist, so its number needs no REX.
        unsigned at;
        if (!number(false, 8, at)) return false;
        put(at, width(), shape_.opcode & 8 ? extended(value, size) : value);
        return true;
      }
      default: return false;
    }
  }

  uint64_t fs_base_;
  LoadMemory load_;
  WaitingLoop& found_;
  const uint8_t* code_ = nullptr;
  Shape shape_;
};

}  // namespace

bool is_smaller(const Registers& a, const Registers& b) {
  if (a.rip != b.rip) return a.rip < b.rip;
  for (unsigned i = 0; i < 16; i++) {
    if (a.general[i] != b.general[i]) return a.general[i] < b.general[i];
  }
  return a.rflags < b.rflags;
}

bool find_waiting_loop(const Registers& from, uint64_t fs_base, LoadMemory load,
                       WaitingLoop& found) {
  found.smallest = from;
  found.read_count = 0;
  Walk walk(from, fs_base, load, found);
  for (unsigned i = 0; i < kMaxSteps; i++) {
    if (!walk.step()) return false;
    if (walk.state == from) return true;
    if (is_smaller(walk.state, found.smallest)) found.smallest = walk.state;
  }
  return false;
}

}  // namespace weir
