// Known are nop and pause, moves, comparisons, and, xor, addition, subtraction and shifts, direct
// jumps and calls, and what a function begins and ends with. All else may change what this does not
// see, and ends the walk. Status flags are computed by the processor itself, so those that the
// manuals leave undefined are what they would be.
//
// A value of round k is number + k * slope as long as no number wraps around, all conditions hold
// as in the round that is looked at, and memory stays as it is. The first round in which that ends
// is noted (`change`). What has a slope and cannot be followed is noted as a change at once.

#include "code/emulate/loop_walk_x86_64.h"

#include "code/decode/decoder.h"
#include "code/decode/flags.h"

namespace weir {

namespace {

constexpr uint64_t kOverflowFlag = 1u << 11;

// What `operation` makes of a and b, and the status flags.
#define WEIR_STATUS(operation) \
  asm(operation "\n\tlahf\n\tseto %1" : "=&a"(flags), "=&q"(overflow), "+&q"(a) : "q"(b) : "cc")

template <typename T, typename Compute>
uint64_t status_of(Compute how, T a, T b) {
  uint64_t flags;
  uint8_t overflow;
  switch (how) {
    case Compute::kCompare:
    case Compute::kSubtract:
    case Compute::kDecrement: WEIR_STATUS("sub %3, %2"); break;
    case Compute::kAnd: WEIR_STATUS("and %3, %2"); break;
    case Compute::kXor: WEIR_STATUS("xor %3, %2"); break;
    default: WEIR_STATUS("add %3, %2"); break;
  }
  return (flags >> 8 & 0xd5) | (overflow ? kOverflowFlag : 0);
}

#undef WEIR_STATUS

template <typename Compute>
uint64_t status_of(Compute how, uint64_t a, uint64_t b, unsigned size) {
  switch (size) {
    case 1: return status_of(how, static_cast<uint8_t>(a), static_cast<uint8_t>(b));
    case 2: return status_of(how, static_cast<uint16_t>(a), static_cast<uint16_t>(b));
    case 4: return status_of(how, static_cast<uint32_t>(a), static_cast<uint32_t>(b));
    default: return status_of(how, a, b);
  }
}

uint64_t largest(unsigned size) { return size == 8 ? ~uint64_t{0} : (uint64_t{1} << size * 8) - 1; }

uint64_t cut(uint64_t value, unsigned size) { return value & largest(size); }

uint64_t extended(uint64_t value, unsigned size) {
  const unsigned unused = 64 - 8 * size;
  return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
}

uint64_t size_of(int64_t slope) {
  return slope < 0 ? -static_cast<uint64_t>(slope) : static_cast<uint64_t>(slope);
}

}  // namespace

bool LoopWalk::step() {
  code_ = reinterpret_cast<const uint8_t*>(state.rip);
  jumped_back_ = false;
  if (!read_shape(code_, kMaxInstructionSize, shape_) || shape_.is_vector || shape_.has_lock ||
      shape_.has_67)
    return false;
  steps_++;
  const uint64_t next = state.rip + shape_.length;
  const Flow flow = flow_of(shape_);
  if (flow == Flow::kJump || flow == Flow::kConditional) {
    bool goes = true;
    if (flow == Flow::kConditional && !condition(shape_.opcode & 15, goes)) return false;
    const uint64_t to = next + static_cast<uint64_t>(branch_displacement(shape_, code_));
    jumped_back_ = goes && to <= state.rip;
    state.rip = goes ? to : next;
    return true;
  }
  if (flow == Flow::kCall) {
    state.rip = next + static_cast<uint64_t>(branch_displacement(shape_, code_));
    return push({next, 0});
  }
  if (flow == Flow::kReturn) {
    Value to;
    uint64_t code;
    if (shape_.opcode != 0xc3 || !pop(to)) return false;
    state.rip = without_slope(to).number;
    return load_(state.rip, sizeof code, &code);
  }
  if (flow != Flow::kNext) return false;
  const bool is_done = shape_.map == OpcodeMap::kOneByte ? one_byte()
                       : shape_.map == OpcodeMap::k0F    ? two_bytes()
                                                         : false;
  state.rip = next;
  return is_done;
}

void LoopWalk::begin_round(const int64_t (&slopes)[kValues]) {
  for (unsigned i = 0; i < kValues; i++) slope_[i] = slopes[i];
  is_tracking_ = true;
  steps_ = 0;
  compared_ = {};
  change_ = {};
}

void LoopWalk::end_round() {
  for (int64_t& slope : slope_) slope = 0;
  is_tracking_ = false;
  steps_ = 0;
}

bool LoopWalk::keeps_slopes(const int64_t (&slopes)[kValues]) const {
  for (unsigned i = 0; i < kValues; i++) {
    if (slope_[i] != slopes[i]) return false;
  }
  return true;
}

void LoopWalk::note_change(uint64_t round, bool leaves) {
  if (is_tracking_ && round < change_.round) change_ = {round, steps_, leaves};
}

void LoopWalk::stays_within(Value value, uint64_t most) {
  if (!value.slope) return;
  const uint64_t by = size_of(value.slope);
  if (value.number > most) note_change(0, false);
  else if (value.slope < 0) note_change(value.number / by + 1, false);
  else note_change((most - value.number) / by + 1, false);
}

LoopWalk::Value LoopWalk::without_slope(Value value) {
  if (value.slope) note_change(0, false);
  return {value.number, 0};
}

// The register in the reg field, or the one that rm names.
bool LoopWalk::number(bool in_rm, unsigned size, unsigned& found) const {
  found = in_rm ? shape_.rm() | (shape_.rex & 1u) << 3 : shape_.reg() | (shape_.rex & 4u) << 1;
  return size != 1 || shape_.rex || found < 4;  // not ah, ch, dh and bh
}

LoopWalk::Value LoopWalk::in_register(unsigned at, unsigned size) {
  const Value whole{state.general[at], slope_[at]};
  stays_within(whole, largest(size));
  return {cut(whole.number, size), whole.slope};
}

bool LoopWalk::get(bool in_rm, unsigned size, Value& value) {
  if (in_rm && shape_.has_memory_operand()) {
    uint64_t address;
    return address_of_operand(address) && load(address, size, value);
  }
  unsigned at;
  if (!number(in_rm, size, at)) return false;
  value = in_register(at, size);
  return true;
}

bool LoopWalk::set(bool in_rm, unsigned size, Value value) {
  if (in_rm && shape_.has_memory_operand()) {
    uint64_t address;
    return address_of_operand(address) && store(address, size, value);
  }
  unsigned at;
  if (!number(in_rm, size, at)) return false;
  put(at, size, value);
  return true;
}

void LoopWalk::put(unsigned at, unsigned size, Value value) {
  uint64_t& target = state.general[at];
  if (size >= 4) {
    target = cut(value.number, size);  // 4: the upper half becomes zero
    slope_[at] = value.slope;
    stays_within({target, value.slope}, largest(size));
  } else {
    const Value rest = without_slope({target, slope_[at]});
    target = (rest.number & ~largest(size)) | cut(without_slope(value).number, size);
    slope_[at] = 0;
  }
}

uint64_t LoopWalk::immediate() const {
  const uint8_t* at = code_ + shape_.immediate_at;
  uint64_t value = 0;
  for (unsigned i = 0; i < shape_.immediate_size; i++) value |= uint64_t{at[i]} << 8 * i;
  return shape_.immediate_size ? extended(value, shape_.immediate_size) : 0;
}

// A condition on the flags, and when it will be another one.
bool LoopWalk::condition(uint8_t code, bool& holds) {
  constexpr unsigned kOverflow = 0, kEqual = 2, kSign = 4, kParity = 5;  // halves of codes
  holds = condition_holds(code, state.rflags);
  if (!is_tracking_) return true;
  const auto& [is_known, is_result, a, b, size] = compared_;
  if (!is_known) {  // of the round before
    for (const int64_t slope : slope_)
      if (slope) note_change(0, false);
    return true;
  }
  if (!a.slope && !b.slope) return true;
  const unsigned kind = code >> 1;
  if ((a.slope && b.slope) || kind == kOverflow || kind == kParity ||
      (is_result && kind != kEqual && kind != kSign)) {
    note_change(0, false);
    return true;
  }
  // It can change only where one passes the other, or half of its range from that.
  const Value& moving = a.slope ? a : b;
  const uint64_t other = a.slope ? b.number : a.number, half = (largest(size) >> 1) + 1,
                 by = size_of(moving.slope);
  uint64_t first = ~uint64_t{0};
  const uint64_t borders[] = {other, half, other ^ half};
  for (const uint64_t border : borders) {
    const uint64_t distance = moving.slope > 0 ? border - moving.number : moving.number - border;
    const bool is_ahead = moving.slope > 0 ? border >= moving.number : moving.number >= border;
    if (!is_ahead) continue;
    const uint64_t before = distance / by;
    for (uint64_t round = before; round - before < 3 && round < first; round++) {
      const uint64_t step = round * static_cast<uint64_t>(moving.slope);
      const uint64_t flags = status_of(Compute::kCompare, a.slope ? a.number + step : a.number,
                                       b.slope ? b.number + step : b.number, size);
      if (condition_holds(code, flags) != holds) first = round;
    }
  }
  if (first != ~uint64_t{0}) note_change(first, true);
  return true;
}

// The result; the flags are set, and noted.
LoopWalk::Value LoopWalk::carry_out(Compute how, Value a, Value b, unsigned size) {
  Value result{0, 0};
  switch (how) {
    case Compute::kAnd:
      if (a.number == b.number && a.slope == b.slope) {
        result = a;
      } else {
        result = {without_slope(a).number & without_slope(b).number, 0};
      }
      break;
    case Compute::kXor:
      if (a.number != b.number || a.slope != b.slope)
        result = {without_slope(a).number ^ without_slope(b).number, 0};
      break;
    case Compute::kAdd:
    case Compute::kIncrement: result = {cut(a.number + b.number, size), a.slope + b.slope}; break;
    default: result = {cut(a.number - b.number, size), a.slope - b.slope};
  }
  const bool keeps_carry = how == Compute::kIncrement || how == Compute::kDecrement;
  const uint64_t written = keeps_carry ? kStatusFlags & ~kCarryFlag : kStatusFlags;
  state.rflags = (state.rflags & ~written) | (status_of(how, a.number, b.number, size) & written);
  if (how == Compute::kCompare || how == Compute::kSubtract) {
    compared_ = {true, false, a, b, size};
  } else {
    const bool may_overflow = how != Compute::kAnd && how != Compute::kXor;
    compared_ = {true, may_overflow, result, {0, 0}, size};
  }
  return result;
}

bool LoopWalk::finish(Compute how, bool keeps, bool in_rm, Value a, Value b, unsigned size) {
  const Value result = carry_out(how, a, b, size);
  return !keeps || set(in_rm, size, result);
}

// The operands that opcodes xx000 to xx011 name; only what ends in a register.
bool LoopWalk::compute(Compute how, bool keeps) {
  const unsigned size = width_by_opcode();
  const bool to_rm = !(shape_.opcode & 2);
  Value a, b;
  return get(to_rm, size, a) && get(!to_rm, size, b) && finish(how, keeps, to_rm, a, b, size);
}

bool LoopWalk::compute_with(Compute how, bool keeps, uint64_t number) {
  const unsigned size = width_by_opcode();
  Value a;
  return get(true, size, a) && finish(how, keeps, true, a, {cut(number, size), 0}, size);
}

bool LoopWalk::with_rax(Compute how, bool keeps) {
  const unsigned size = width_by_opcode();
  const Value a = in_register(kRax, size);
  const Value result = carry_out(how, a, {cut(immediate(), size), 0}, size);
  if (keeps) put(kRax, size, result);
  return true;
}

// lea: an address that is not accessed.
bool LoopWalk::load_address() {
  constexpr unsigned kSib = 4, kNoBase = 5, kNoIndex = 4;
  if (width() < 4 || !shape_.has_memory_operand()) return false;
  const uint8_t* at = code_ + shape_.displacement_at;
  uint64_t distance = 0;
  for (unsigned i = 0; i < shape_.displacement_size; i++) distance |= uint64_t{at[i]} << 8 * i;
  if (shape_.displacement_size) distance = extended(distance, shape_.displacement_size);
  Value value{distance, 0};
  const auto add = [&](unsigned number, unsigned scale) {
    value.number += state.general[number] * scale;
    value.slope += slope_[number] * static_cast<int64_t>(scale);
  };
  const unsigned high_base = (shape_.rex & 1u) << 3, high_index = (shape_.rex & 2u) << 2;
  if (shape_.rm() == kSib) {
    const uint8_t sib = at[-1];
    const unsigned base = sib & 7, index = (sib >> 3 & 7) | high_index;
    if (base != kNoBase || shape_.mod() != 0) add(base | high_base, 1);
    if (index != kNoIndex) add(index, 1u << (sib >> 6));
  } else if (shape_.is_rip_relative()) {
    value.number += state.rip + shape_.length;
  } else {
    add(shape_.rm() | high_base, 1);
  }
  return set(false, width(), {cut(value.number, width()), value.slope});
}

// To the left by a constant: what doubles.
bool LoopWalk::shift() {
  const unsigned size = width();
  const unsigned by = shape_.opcode == 0xd1 ? 1 : static_cast<unsigned>(immediate()) & 31;
  Value value;
  if (shape_.reg() != 4 || by == 0 || size < 4 || !get(true, size, value)) return false;
  uint64_t number = without_slope(value).number;
  uint64_t flags = state.rflags & kStatusFlags;
  if (size == 4) {
    auto low = static_cast<uint32_t>(number);
    asm("shl %%cl, %0\n\tpushfq\n\tpop %1" : "+r"(low), "=r"(flags) : "c"(by) : "cc", "memory");
    number = low;
  } else {
    asm("shl %%cl, %0\n\tpushfq\n\tpop %1" : "+r"(number), "=r"(flags) : "c"(by) : "cc", "memory");
  }
  state.rflags = (state.rflags & ~kStatusFlags) | (flags & kStatusFlags);
  compared_ = {true, true, {number, 0}, {0, 0}, size};
  return set(true, size, {number, 0});
}

bool LoopWalk::one_byte() {
  Value value;
  if (shape_.has_repeat && shape_.opcode != 0x90) return false;
  switch (shape_.opcode) {
    case 0x90: return !(shape_.rex & 1);  // nop, pause
    case 0x00:
    case 0x01:
    case 0x02:
    case 0x03: return compute(Compute::kAdd, true);
    case 0x04:
    case 0x05: return with_rax(Compute::kAdd, true);
    case 0x20:
    case 0x21:
    case 0x22:
    case 0x23: return compute(Compute::kAnd, true);
    case 0x24:
    case 0x25: return with_rax(Compute::kAnd, true);
    case 0x28:
    case 0x29:
    case 0x2a:
    case 0x2b: return compute(Compute::kSubtract, true);
    case 0x2c:
    case 0x2d: return with_rax(Compute::kSubtract, true);
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
    case 0x50 ... 0x57: return push(in_register((shape_.opcode & 7) | (shape_.rex & 1u) << 3, 8));
    case 0x58 ... 0x5f: {
      if (!pop(value)) return false;
      put((shape_.opcode & 7) | (shape_.rex & 1u) << 3, 8, value);
      return true;
    }
    case 0x63: {
      if (width() != 8 || !get(true, 4, value)) return false;
      stays_within(value, largest(4) >> 1);
      return set(false, 8, {extended(value.number, 4), value.slope});
    }
    case 0x80:
    case 0x81:
    case 0x83:
      switch (shape_.reg()) {
        case 0: return compute_with(Compute::kAdd, true, immediate());
        case 4: return compute_with(Compute::kAnd, true, immediate());
        case 5: return compute_with(Compute::kSubtract, true, immediate());
        case 7: return compute_with(Compute::kCompare, false, immediate());
        default: return false;
      }
    case 0x84:
    case 0x85: {
      const unsigned size = width_by_opcode();
      Value other;
      return get(true, size, value) && get(false, size, other) &&
             finish(Compute::kAnd, false, true, value, other, size);
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
    case 0x8d: return load_address();
    case 0x98: {  // cdqe, cwde
      const unsigned from = width() / 2;
      value = in_register(kRax, from);
      stays_within(value, largest(from) >> 1);
      put(kRax, width(), {cut(extended(value.number, from), width()), value.slope});
      return true;
    }
    case 0xa8:
    case 0xa9: return with_rax(Compute::kAnd, false);
    case 0xb8 ... 0xbf:
      put((shape_.opcode & 7) | (shape_.rex & 1u) << 3, width(), {immediate(), 0});
      return true;
    case 0xc1:
    case 0xd1: return shift();
    case 0xc6: return shape_.reg() == 0 && set(true, 1, {cut(immediate(), 1), 0});
    case 0xc9: {  // leave
      put(kRsp, 8, without_slope(in_register(kRbp, 8)));
      if (!pop(value)) return false;
      put(kRbp, 8, value);
      return true;
    }
    case 0xc7: return shape_.reg() == 0 && set(true, width(), {immediate(), 0});
    case 0xf6:
    case 0xf7: return shape_.reg() <= 1 && compute_with(Compute::kAnd, false, immediate());
    case 0xfe:
    case 0xff:
      return shape_.reg() <= 1 &&
             compute_with(shape_.reg() ? Compute::kDecrement : Compute::kIncrement, true, 1);
    default: return false;
  }
}

bool LoopWalk::two_bytes() {
  Value value;
  switch (shape_.opcode) {
    case 0x1e:  // endbr64
    case 0x1f: return true;
    case 0x40 ... 0x4f: {
      const unsigned size = width();
      bool holds;
      Value before;
      if (shape_.has_repeat || !get(true, size, value) || !get(false, size, before) ||
          !condition(shape_.opcode & 15, holds))
        return false;
      return set(false, size, holds ? value : before);
    }
    case 0x90 ... 0x9f: {
      bool holds;
      return condition(shape_.opcode & 15, holds) && set(true, 1, {holds, 0});
    }
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
      const uint64_t read = without_slope(value).number;
      put(at, width(), {shape_.opcode & 8 ? extended(read, size) : read, 0});
      return true;
    }
    default: return false;
  }
}

}  // namespace weir
