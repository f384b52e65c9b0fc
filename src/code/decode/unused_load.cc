// `if (is_last) sum += shared;` may become: load `shared`, add it, and move the old sum back by a
// conditional move. Source and binary then differ: the source reads only sometimes.
//
// From the load on the registers that hold the value, or what was computed of it, are followed
// along each way that control may go in its function. The value is used if it is stored, compared
// and branched on, or an address. It is thrown away if no register holds it any more, or by a
// choice, which keeps only one of two values: a conditional move, or a mask. Compilers make
// `done && shared` of two comparisons, both always made, and an `and`; loops that vectors do mask
// the elements that the source does not read. A load that is used on one way and thrown away on
// another may be the compiler's.
//
// A register that is spilled to the stack is followed there. That a register of results or
// arguments holds the value may be chance: that counts as a use behind a choice, and as none where
// another way has one. So does a way that becomes too long.

#include "code/decode/unused_load.h"

#include <Zydis/Zydis.h>

#include <initializer_list>

namespace weir {
namespace {

// What may hold the value, a bit for each.
using Held = uint64_t;
constexpr Held bit(unsigned number) { return Held{1} << number; }
constexpr unsigned kFirstVector = 16, kFirstMask = 48, kFirstSlot = 58, kSlots = 6;
constexpr Held kStack87 = bit(56), kFlags = bit(57);  // all of the x87 stack
constexpr Held kMasks = 0xfful << kFirstMask, kAllSlots = 0x3ful << kFirstSlot;
constexpr Held kReturned = bit(0) | bit(2) | 3ul << kFirstVector | kStack87;  // rax, rdx, xmm0, ...
constexpr Held kArguments =
    bit(1) | bit(2) | bit(6) | bit(7) | 3ul << 8 | 0xfful << kFirstVector;  // rcx, ..., r9
constexpr Held kKept = bit(3) | bit(5) | 0xful << 12 | kAllSlots;           // rbx, rbp, r12 to r15
constexpr Held kStackPointer = bit(4);

struct State {
  size_t offset;
  Held held;
  int64_t pushed;  // by how much the stack pointer is below what it was
  bool is_chosen;  // a choice has been made between the value and another one
  bool has_moved;  // the registers of the load's address have changed
  bool operator==(const State&) const = default;
};

// Bytes of the stack, from where its pointer or the frame's was.
struct Slot {
  int64_t at = 0;
  int64_t size = 0;
  bool is_frame = false;
  bool operator==(const Slot&) const = default;
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

Held bit_of(ZydisRegister reg) {
  if (ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_X87) return kStack87;
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  const auto number = static_cast<uint8_t>(ZydisRegisterGetId(whole));
  switch (ZydisRegisterGetClass(whole)) {
    case ZYDIS_REGCLASS_GPR64: return bit(number);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM: return bit(kFirstVector + number);
    case ZYDIS_REGCLASS_MASK: return number ? bit(kFirstMask + number) : 0;  // k0 masks nothing
    default: return 0;
  }
}

struct Effects {
  Held read = 0, written = 0, whole = 0;  // whole: nothing of the old value is left
  Held base = 0, index = 0;               // of an address
  bool loads = false, stores = false;
};

bool is_any(ZydisMnemonic one, std::initializer_list<ZydisMnemonic> all) {
  for (const ZydisMnemonic each : all) {
    if (each == one) return true;
  }
  return false;
}

// Of two values the one or the other, or of bits some.
bool is_choice(ZydisMnemonic mnemonic) {
  return is_any(mnemonic,
                {ZYDIS_MNEMONIC_AND,        ZYDIS_MNEMONIC_OR,         ZYDIS_MNEMONIC_TEST,
                 ZYDIS_MNEMONIC_ANDN,       ZYDIS_MNEMONIC_PAND,       ZYDIS_MNEMONIC_PANDN,
                 ZYDIS_MNEMONIC_POR,        ZYDIS_MNEMONIC_ANDPS,      ZYDIS_MNEMONIC_ANDPD,
                 ZYDIS_MNEMONIC_ANDNPS,     ZYDIS_MNEMONIC_ANDNPD,     ZYDIS_MNEMONIC_ORPS,
                 ZYDIS_MNEMONIC_ORPD,       ZYDIS_MNEMONIC_VPAND,      ZYDIS_MNEMONIC_VPANDN,
                 ZYDIS_MNEMONIC_VPOR,       ZYDIS_MNEMONIC_VANDPS,     ZYDIS_MNEMONIC_VANDPD,
                 ZYDIS_MNEMONIC_VANDNPS,    ZYDIS_MNEMONIC_VANDNPD,    ZYDIS_MNEMONIC_VORPS,
                 ZYDIS_MNEMONIC_VORPD,      ZYDIS_MNEMONIC_VPANDD,     ZYDIS_MNEMONIC_VPANDQ,
                 ZYDIS_MNEMONIC_VPANDND,    ZYDIS_MNEMONIC_VPANDNQ,    ZYDIS_MNEMONIC_VPORD,
                 ZYDIS_MNEMONIC_VPORQ,      ZYDIS_MNEMONIC_PBLENDVB,   ZYDIS_MNEMONIC_BLENDVPS,
                 ZYDIS_MNEMONIC_BLENDVPD,   ZYDIS_MNEMONIC_VPBLENDVB,  ZYDIS_MNEMONIC_VBLENDVPS,
                 ZYDIS_MNEMONIC_VBLENDVPD,  ZYDIS_MNEMONIC_VPTERNLOGD, ZYDIS_MNEMONIC_VPTERNLOGQ,
                 ZYDIS_MNEMONIC_VMASKMOVPS, ZYDIS_MNEMONIC_VMASKMOVPD, ZYDIS_MNEMONIC_VPMASKMOVD,
                 ZYDIS_MNEMONIC_VPMASKMOVQ, ZYDIS_MNEMONIC_VPTEST,     ZYDIS_MNEMONIC_PTEST});
}

bool is_conditional_move(const Decoded& decoded) {
  return decoded.in.meta.category == ZYDIS_CATEGORY_CMOV ||
         decoded.in.meta.category == ZYDIS_CATEGORY_FCMOV;
}

// What an instruction writes that does not depend on the register that it reads: `xor %eax,%eax`.
bool is_constant(const Decoded& decoded) {
  if (!is_any(decoded.in.mnemonic,
              {ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_SBB, ZYDIS_MNEMONIC_PXOR,
               ZYDIS_MNEMONIC_XORPS, ZYDIS_MNEMONIC_XORPD, ZYDIS_MNEMONIC_VPXOR,
               ZYDIS_MNEMONIC_VXORPS, ZYDIS_MNEMONIC_VXORPD, ZYDIS_MNEMONIC_VPXORD,
               ZYDIS_MNEMONIC_VPXORQ, ZYDIS_MNEMONIC_PCMPEQB, ZYDIS_MNEMONIC_PCMPEQW,
               ZYDIS_MNEMONIC_PCMPEQD, ZYDIS_MNEMONIC_VPCMPEQB, ZYDIS_MNEMONIC_VPCMPEQD}))
    return false;
  const uint8_t last = decoded.in.operand_count_visible - 1;
  return last >= 1 && decoded.operands[last].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         decoded.operands[last - 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         decoded.operands[last].reg.value == decoded.operands[last - 1].reg.value;
}

class Ways {
 public:
  Ways(const uint8_t* text, size_t size) : text_(text), size_(size) {}

  bool may_load_in_vain(size_t offset) {
    Decoded load;
    if (!decode_at(text_, size_, offset, load)) return false;
    State state{offset + load.in.length, 0, 0, false, false};
    const Effects effects = effects_of(load, state);
    const bool is_string = load.in.meta.category == ZYDIS_CATEGORY_STRINGOP;
    if (!effects.loads || effects.stores || load.in.meta.branch_type || is_string) return false;
    state.held = effects.written & ~kStackPointer;
    const Held others = effects.read & ~kFlags;
    state.is_chosen = is_conditional_move(load) || (others && is_choice(load.in.mnemonic)) ||
                      (others & kMasks);  // it loads either way
    if (load.in.meta.category == ZYDIS_CATEGORY_CMOV) state.held &= ~kFlags;
    if (!state.held) return false;
    loaded_from_ = effects.base | effects.index;
    for (uint8_t i = 0; i < load.in.operand_count; i++) {
      if (load.operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
      loaded_ = load.operands[i];
      loaded_at_ = offset + load.in.length;
    }
    state.has_moved = effects.written & loaded_from_;
    add(state);
    for (uint32_t next = 0; next < count_; next++) follow(states_[next]);
    return is_in_vain_ || (is_used_ && (is_dropped_ || is_passed_));
  }

 private:
  // A way that begins there, unless it is one of those that there are.
  void add(const State& state) {
    for (uint32_t i = 0; i < count_; i++)
      if (states_[i] == state) return;
    if (count_ < kMost) states_[count_++] = state;
    else pass(state);
  }

  // A place on the stack, or one without a size.
  static Slot place_of(const ZydisDecodedOperand& operand, const State& state) {
    const bool is_frame = operand.mem.base == ZYDIS_REGISTER_RBP;
    if (operand.mem.index != ZYDIS_REGISTER_NONE ||
        (operand.mem.base != ZYDIS_REGISTER_RSP && !is_frame))
      return {};
    if (is_frame && operand.mem.disp.value >= 0) return {};  // no frame's, or an argument
    return {operand.mem.disp.value - (is_frame ? 0 : state.pushed), operand.size / 8, is_frame};
  }

  // Those that lie there, at least in part; `whole`: altogether.
  Held slots_at(const Slot& place, bool whole) const {
    Held found = 0;
    for (uint32_t i = 0; i < slots_ && place.size; i++) {
      const Slot& slot = slot_[i];
      const int64_t slot_limit = slot.at + slot.size, limit = place.at + place.size;
      const bool is_there = whole ? place.at <= slot.at && slot_limit <= limit
                                  : place.at < slot_limit && slot.at < limit;
      if (slot.is_frame == place.is_frame && is_there) found |= bit(kFirstSlot + i);
    }
    return found;
  }

  // 0: there are too many.
  Held slot_for(const Slot& place) {
    for (uint32_t i = 0; i < slots_; i++) {
      if (slot_[i] == place) return bit(kFirstSlot + i);
    }
    if (!place.size || slots_ == kSlots) return 0;
    slot_[slots_] = place;
    return bit(kFirstSlot + slots_++);
  }

  Effects effects_of(const Decoded& decoded, const State& state) {
    Effects effects;
    for (uint8_t i = 0; i < decoded.in.operand_count; i++) {
      const ZydisDecodedOperand& one = decoded.operands[i];
      const bool is_read = one.actions & ZYDIS_OPERAND_ACTION_MASK_READ;
      const bool is_written = one.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
      if (one.type == ZYDIS_OPERAND_TYPE_MEMORY) {
        const Held base = bit_of(one.mem.base), index = bit_of(one.mem.index);
        if (one.mem.type == ZYDIS_MEMOP_TYPE_AGEN) {  // lea
          effects.read |= base | index;
          continue;
        }
        effects.base |= base;
        effects.index |= index;
        if (one.mem.type != ZYDIS_MEMOP_TYPE_MEM) continue;
        effects.loads |= is_read;
        effects.stores |= is_written;
        const Slot place = place_of(one, state);
        if (is_read) effects.read |= slots_at(place, false);
        if (is_written && !is_read) effects.whole |= slots_at(place, true);
      } else if (one.type == ZYDIS_OPERAND_TYPE_REGISTER) {
        const Held there = bit_of(one.reg.value);
        const bool is_replaced = one.size >= 32 || one.encoding == ZYDIS_OPERAND_ENCODING_NONE ||
                                 decoded.in.mnemonic == ZYDIS_MNEMONIC_MOV ||
                                 decoded.in.meta.category == ZYDIS_CATEGORY_SETCC;
        if (is_read) effects.read |= there;
        if (is_written) effects.written |= there;
        if (is_written && !is_read && is_replaced) effects.whole |= there & ~kStack87;
      }
    }
    if (const ZydisAccessedFlags* flags = decoded.in.cpu_flags) {
      if (flags->tested) effects.read |= kFlags;
      if (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) {
        effects.written |= kFlags;
        effects.whole |= kFlags;
      }
    }
    if (is_constant(decoded)) {
      effects.whole |= effects.written;
      effects.read &= kFlags;
    }
    return effects;
  }

  void follow(State state) {
    for (int i = 0; i < kLongest; i++) {
      if (!state.held) {
        is_dropped_ = true;
        return;
      }
      Decoded decoded;
      if (!decode_at(text_, size_, state.offset, decoded)) return end(state, kArguments);
      const Effects effects = effects_of(decoded, state);
      state.offset += decoded.in.length;
      const auto category = decoded.in.meta.category;
      if (category == ZYDIS_CATEGORY_RET) return end(state, kReturned);
      if (category == ZYDIS_CATEGORY_CALL) {
        if ((effects.read | effects.base | effects.index) & state.held) return use(state);
        if (state.held & kArguments) return pass(state);
        state.held &= kKept;
        state.has_moved |= (loaded_from_ & ~kKept) != 0;
        continue;
      }
      if (decoded.in.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) {
        const ZydisDecodedOperand& target = decoded.operands[0];
        const bool is_direct =
            target.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && target.imm.is_relative;
        if (effects.read & state.held || !is_direct) return use(state);
        State there = state;
        there.offset += static_cast<size_t>(target.imm.value.s);
        if (category == ZYDIS_CATEGORY_COND_BR) add(there);
        else state = there;
        continue;
      }
      if (!step(decoded, effects, state)) return;
      state.has_moved |= (effects.written & loaded_from_) != 0;
    }
    pass(state);
  }

  // False: it has been used.
  bool step(const Decoded& decoded, const Effects& effects, State& state) {
    if (is_stack_change(decoded, state)) return true;
    const Held read = effects.read & state.held;
    // An element of a table may be loaded in vain, too; what a pointer points to is not there
    // to be loaded unless the source says so.
    const bool is_of_table = (effects.index & state.held) && effects.loads && !effects.stores;
    if (effects.base & state.held || (effects.index & state.held && !is_of_table))
      return use(state), false;
    if (is_conditional_move(decoded)) {
      const Held both = (effects.read | effects.written) & ~kFlags, held = both & state.held;
      state.is_chosen |=
          !(read & kFlags) && held && (held != both || effects.loads || held & kStack87);
      if (held || (read & kFlags)) state.held |= effects.written;
      return true;
    }
    if (read && effects.stores) {
      if (is_back(decoded, state)) return is_used_ = true, false;
      const Held slot = slot_written(decoded, state);
      if (!slot) return use(state), false;
      state.held = (state.held & ~effects.whole) | slot | (effects.written & kFlags);
      return true;
    }
    const Held others = effects.read & ~(state.held | kFlags);
    state.is_chosen |=
        read & ~kFlags && others && (is_choice(decoded.in.mnemonic) || others & kMasks);
    state.held &= ~effects.whole;
    if (read || is_of_table) state.held |= effects.written & ~kStackPointer;
    if (decoded.in.mnemonic == ZYDIS_MNEMONIC_FSTP && !effects.stores) state.held &= ~kStack87;
    return true;
  }

  Held slot_written(const Decoded& decoded, const State& state) {
    if (decoded.in.mnemonic == ZYDIS_MNEMONIC_PUSH) return 0;
    for (uint8_t i = 0; i < decoded.in.operand_count; i++) {
      const ZydisDecodedOperand& one = decoded.operands[i];
      if (one.type == ZYDIS_OPERAND_TYPE_MEMORY && one.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
        return slot_for(place_of(one, state));
    }
    return 0;
  }

  // push and pop of what is none of the value, and constants added to the stack pointer.
  static bool is_stack_change(const Decoded& decoded, State& state) {
    const ZydisDecodedOperand& first = decoded.operands[0];
    const bool is_register = first.type == ZYDIS_OPERAND_TYPE_REGISTER;
    const ZydisMnemonic mnemonic = decoded.in.mnemonic;
    if (is_register && mnemonic == ZYDIS_MNEMONIC_PUSH) {
      if (bit_of(first.reg.value) & state.held) return false;
      state.pushed += 8;
      return true;
    }
    if (is_register && mnemonic == ZYDIS_MNEMONIC_POP) {
      state.held &= ~bit_of(first.reg.value);
      state.pushed -= 8;
      return true;
    }
    if (!is_register || first.reg.value != ZYDIS_REGISTER_RSP ||
        decoded.operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
      return false;
    if (mnemonic != ZYDIS_MNEMONIC_ADD && mnemonic != ZYDIS_MNEMONIC_SUB) return false;
    const int64_t by = decoded.operands[1].imm.value.s;
    state.pushed += mnemonic == ZYDIS_MNEMONIC_SUB ? by : -by;
    state.held &= ~kFlags;
    return true;
  }

  // It stores to where the value comes from: `bits |= 4` reads and writes, whatever it computes. No
  // compiler stores where the source does not.
  bool is_back(const Decoded& decoded, const State& state) const {
    if (state.has_moved) return false;
    for (uint8_t i = 0; i < decoded.in.operand_count; i++) {
      const ZydisDecodedOperand& one = decoded.operands[i];
      if (one.type != ZYDIS_OPERAND_TYPE_MEMORY || !(one.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        continue;
      const bool is_here = one.mem.base == ZYDIS_REGISTER_RIP;
      const auto from = static_cast<int64_t>(is_here ? loaded_at_ : 0);
      const auto to = static_cast<int64_t>(is_here ? state.offset : 0);
      return one.mem.base == loaded_.mem.base && one.mem.index == loaded_.mem.index &&
             one.mem.scale == loaded_.mem.scale && one.mem.segment == loaded_.mem.segment &&
             from + loaded_.mem.disp.value == to + one.mem.disp.value;
    }
    return false;
  }

  // Control leaves the function.
  void end(const State& state, Held told) {
    if (state.held & told) pass(state);
    else is_dropped_ = true;
  }
  void pass(const State& state) { (state.is_chosen ? is_in_vain_ : is_passed_) = true; }
  void use(const State& state) { (state.is_chosen ? is_in_vain_ : is_used_) = true; }

  static constexpr int kLongest = 256;
  static constexpr uint32_t kMost = 128;
  const uint8_t* text_;
  size_t size_;
  State states_[kMost];
  uint32_t count_ = 0;
  Slot slot_[kSlots];
  uint32_t slots_ = 0;
  ZydisDecodedOperand loaded_{};
  size_t loaded_at_ = 0;  // behind that instruction
  Held loaded_from_ = 0;
  bool is_used_ = false, is_dropped_ = false;
  bool is_passed_ = false;   // it may be a result or an argument
  bool is_in_vain_ = false;  // used after a choice
};

}  // namespace

bool may_load_in_vain(const uint8_t* text, size_t size, size_t offset) {
  return Ways(text, size).may_load_in_vain(offset);
}

}  // namespace weir
