// `if (is_last) sum += shared;` may become: load `shared`, add it, and move the old sum back by a
// conditional move. Source and binary then differ: the source reads only sometimes.
//
// From the load on the registers that hold the value, or what was computed of it, are followed
// along each way that control may go. The value is used if it is stored, compared and branched on,
// an address, an argument, or returned. It is thrown away if no register holds it any more, or by a
// conditional move, which keeps only one of two values. Who counts both ends has a load in vain.
// That a register of results or arguments holds the value may be chance: that counts as a use only
// behind a conditional move. A way that becomes too long counts as neither.

#include "code/decode/unused_load.h"

#include <Zydis/Zydis.h>

namespace weir {
namespace {

constexpr uint32_t kReturned = 1u << 0 | 1u << 2;                                 // rax, rdx
constexpr uint32_t kArguments = 1u << 1 | 1u << 2 | 1u << 6 | 1u << 7 | 3u << 8;  // rcx, ..., r9
constexpr uint32_t kKept = 1u << 3 | 1u << 5 | 0xfu << 12;  // rbx, rbp, r12 to r15

struct State {
  size_t offset;
  uint32_t registers;  // that hold the value, a bit for each
  bool flags;          // they were computed of it
  bool operator==(const State&) const = default;
};

struct Decoded {
  ZydisDecodedInstruction in;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

bool decode_at(const uint8_t* text, size_t size, size_t offset, Decoded& decoded) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return offset < size &&
         ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, text + offset, size - offset, &decoded.in,
                                             decoded.operands));
}

uint32_t bit_of(ZydisRegister reg) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64) return 0;
  return 1u << ZydisRegisterGetId(whole);
}

struct Effects {
  uint32_t read = 0, written = 0, whole = 0;  // whole: nothing of the old value is left
  uint32_t addresses = 0;
  bool loads = false, stores = false, has_others = false;  // others: vector registers and the like
  bool reads_flags = false, writes_flags = false;
};

Effects effects_of(const Decoded& decoded) {
  Effects effects;
  for (uint8_t i = 0; i < decoded.in.operand_count; i++) {
    const ZydisDecodedOperand& one = decoded.operands[i];
    if (one.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      const uint32_t address = bit_of(one.mem.base) | bit_of(one.mem.index);
      if (one.mem.type == ZYDIS_MEMOP_TYPE_AGEN) effects.read |= address;  // lea
      else effects.addresses |= address;
      const bool is_there = one.mem.type == ZYDIS_MEMOP_TYPE_MEM;
      effects.loads |= is_there && one.actions & ZYDIS_OPERAND_ACTION_MASK_READ;
      effects.stores |= is_there && one.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    } else if (one.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const uint32_t bit = bit_of(one.reg.value);
      const bool is_written = one.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
      if (!bit) {
        const ZydisRegisterClass kind = ZydisRegisterGetClass(one.reg.value);
        effects.has_others |= kind != ZYDIS_REGCLASS_FLAGS && kind != ZYDIS_REGCLASS_IP;
        continue;
      }
      if (one.actions & ZYDIS_OPERAND_ACTION_MASK_READ) effects.read |= bit;
      if (is_written) effects.written |= bit;
      if (is_written && one.size >= 32 && one.actions & ZYDIS_OPERAND_ACTION_WRITE)
        effects.whole |= bit;
    }
  }
  if (const ZydisAccessedFlags* flags = decoded.in.cpu_flags) {
    effects.reads_flags = flags->tested;
    effects.writes_flags = flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
  }
  return effects;
}

// xor %eax,%eax and its like.
bool is_zero(const Decoded& decoded) {
  return (decoded.in.mnemonic == ZYDIS_MNEMONIC_XOR || decoded.in.mnemonic == ZYDIS_MNEMONIC_SUB) &&
         decoded.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         decoded.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         decoded.operands[0].reg.value == decoded.operands[1].reg.value;
}

class Ways {
 public:
  Ways(const uint8_t* text, size_t size) : text_(text), size_(size) {}

  bool may_load_in_vain(size_t offset) {
    Decoded load;
    if (!decode_at(text_, size_, offset, load)) return false;
    const Effects effects = effects_of(load);
    if (!effects.loads || effects.stores || effects.has_others || load.in.meta.branch_type)
      return false;
    const bool is_conditional = load.in.meta.category == ZYDIS_CATEGORY_CMOV;
    const bool only_compares = !effects.written && effects.writes_flags;
    if (!effects.written && !only_compares) return false;
    is_chosen_ = is_conditional;  // it loads either way
    add({offset + load.in.length, effects.written & ~stack_pointer(),
         effects.writes_flags && !is_conditional});
    for (uint32_t next = 0; next < count_; next++) follow(states_[next]);
    return (is_used_ && (is_dropped_ || is_chosen_)) || (is_passed_ && is_chosen_);
  }

 private:
  static constexpr uint32_t stack_pointer() { return 1u << 4; }

  // A way that begins there, unless it is one of those that there are.
  void add(const State& state) {
    for (uint32_t i = 0; i < count_; i++)
      if (states_[i] == state) return;
    if (count_ < kMost) states_[count_++] = state;
  }

  void follow(State state) {
    for (int i = 0; i < kLongest; i++) {
      if (!state.registers && !state.flags) {
        is_dropped_ = true;
        return;
      }
      Decoded decoded;
      if (!decode_at(text_, size_, state.offset, decoded)) return;
      const Effects effects = effects_of(decoded);
      state.offset += decoded.in.length;
      if (decoded.in.meta.category == ZYDIS_CATEGORY_RET) {
        is_passed_ |= (state.registers & kReturned) != 0;
        is_dropped_ |= (state.registers & kReturned) == 0;
        return;
      }
      if (decoded.in.meta.category == ZYDIS_CATEGORY_CALL) {
        if ((state.registers & effects.read) != 0) return use();
        if ((state.registers & kArguments) != 0) {
          is_passed_ = true;
          return;
        }
        state.registers &= kKept;
        state.flags = false;
        continue;
      }
      if (decoded.in.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) {
        const ZydisDecodedOperand& target = decoded.operands[0];
        const bool is_direct =
            target.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && target.imm.is_relative;
        if ((effects.reads_flags && state.flags) || !is_direct) return use();
        State there = state;
        there.offset += static_cast<size_t>(target.imm.value.s);
        if (decoded.in.meta.category == ZYDIS_CATEGORY_COND_BR) add(there);
        else state = there;
        continue;
      }
      if (!step(decoded, effects, state)) return;
    }
  }

  // False: it has been used.
  bool step(const Decoded& decoded, const Effects& effects, State& state) {
    if (is_zero(decoded)) {
      state.registers &= ~effects.written;
      state.flags = false;
      return true;
    }
    if (effects.reads_flags && state.flags) return use(), false;
    if (effects.addresses & state.registers) return use(), false;
    if (decoded.in.meta.category == ZYDIS_CATEGORY_CMOV) {
      const uint32_t both = effects.read | effects.written, held = both & state.registers;
      is_chosen_ |= held && (held != both || effects.loads);
      if (held) state.registers |= effects.written;
      return true;
    }
    const bool reads = effects.read & state.registers;
    if (reads && (effects.stores || effects.has_others)) return use(), false;
    if (reads) state.registers |= effects.written & ~stack_pointer();
    else state.registers &= ~effects.whole;
    if (effects.writes_flags) state.flags = reads;
    return true;
  }

  void use() { is_used_ = true; }

  static constexpr int kLongest = 32;
  static constexpr uint32_t kMost = 32;
  const uint8_t* text_;
  size_t size_;
  State states_[kMost];
  uint32_t count_ = 0;
  bool is_used_ = false, is_passed_ = false;     // passed: it may be a result or an argument
  bool is_dropped_ = false, is_chosen_ = false;  // chosen: by a conditional move, or not
};

}  // namespace

bool may_load_in_vain(const uint8_t* text, size_t size, size_t offset) {
  return Ways(text, size).may_load_in_vain(offset);
}

}  // namespace weir
