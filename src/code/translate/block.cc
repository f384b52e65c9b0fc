#include "code/translate/block.h"

#include "code/decode/flags.h"
#include "code/decode/registers.h"
#include "code/translate/seek.h"
#include "code/translate/step.h"
#include "memory/backing.h"

// A path may come through the same instructions several times: a short loop is unrolled, and
// counted once for all rounds that fit.

namespace weir::translate {
namespace {

bool is_one_of(uint8_t opcode, const uint8_t* list, unsigned size) {
  for (unsigned i = 0; i < size; i++) {
    if (list[i] == opcode) return true;
  }
  return false;
}

// The operand relative to rip becomes another one, which needs the bits that are free here. See
// relocate_x86_64.cc.
bool can_change_operand(const Shape& shape, const uint8_t* code) {
  if (shape.has_67) return false;
  if (!shape.is_vector) return (shape.rex & 3) == 0;
  const unsigned at = shape.opcode_at;
  if (at >= 4 && code[at - 4] == 0x62) return (code[at - 3] & 0x60) == 0x60;
  if (at >= 3 && (code[at - 3] == 0xc4 || code[at - 3] == 0x8f))
    return (code[at - 2] & 0x60) == 0x60;
  return code[at - 2] == 0xc5;
}

// A system call that the runtime makes as program code (the heap), while an execution point is
// looked for: natively it would go on where nothing looks. Not one that ends a handler.
bool is_own_call(const Shape& shape, const uint8_t* code) {
  constexpr uint8_t kHalt = 0xf4;
  return shape.opcode == 0x05 && has_own_cache() &&
         page::own_image().contains(reinterpret_cast<uint64_t>(code)) && code[2] != kHalt;
}

// What does the same in the cache as where it stands, when its operand is adapted.
bool can_translate(const Shape& shape, const uint8_t* code, Flow flow) {
  // int3, int, iret, int1, hlt, cli, sti, in, out, far returns, moves to segments
  static const uint8_t kOneByte[] = {0xcc, 0xcd, 0xcf, 0xf1, 0xf4, 0xfa, 0xfb, 0xe4,
                                     0xe5, 0xe6, 0xe7, 0xec, 0xed, 0xee, 0xef, 0x6c,
                                     0x6d, 0x6e, 0x6f, 0xca, 0xcb, 0x8e};
  // syscall, sysret, sysenter, sysexit, ud2, ud1, ud0, pop to segments
  static const uint8_t kTwoByte[] = {0x05, 0x07, 0x34, 0x35, 0x0b, 0xb9, 0xff, 0xa1, 0xa9};
  if (flow == Flow::kStop) return false;
  if (!shape.is_vector && shape.map == OpcodeMap::kOneByte) {
    if (is_one_of(shape.opcode, kOneByte, sizeof kOneByte)) return false;
    if (shape.modrm == 0xf8 && (shape.opcode | 1) == 0xc7) return false;  // xbegin, xabort
    if (shape.opcode == 0x8d && shape.has_16_bits() && shape.is_rip_relative()) return false;
    if ((flow == Flow::kIndirectJump || flow == Flow::kIndirectCall) && (shape.reg() & 1))
      return false;  // far
    if ((flow == Flow::kIndirectJump || flow == Flow::kIndirectCall || flow == Flow::kReturn) &&
        shape.has_16_bits())
      return false;
  }
  if (!shape.is_vector && shape.map == OpcodeMap::k0F &&
      is_one_of(shape.opcode, kTwoByte, sizeof kTwoByte) && !is_own_call(shape, code))
    return false;
  return !shape.is_rip_relative() || can_change_operand(shape, code);
}

// Takes away from `wanted` what the instruction writes. False: it reads some of it.
bool passes(const Shape& shape, const uint8_t* code, uint16_t& wanted) {
  const FlagEffect effect = flag_effect(shape, code);
  if (effect.read & wanted) return false;
  wanted &= static_cast<uint16_t>(~effect.written);
  return true;
}

bool find_flags_dead(const Trace& trace) {
  uint16_t wanted = kStatusFlags;
  for (unsigned i = 0; i < trace.count; i++) {
    const Step& step = trace.steps[i];
    if (step.flow != Flow::kNext && step.flow != Flow::kJump && step.flow != Flow::kCall)
      return false;
    if (!passes(step.shape, step.code(), wanted)) return false;
    if (wanted == 0) return true;
  }
  return false;
}

}  // namespace

void follow(uint64_t start, Trace& trace, bool over_seek_gates, unsigned most) {
  Range code{};
  uint64_t at = start;
  uint64_t returns[kMaxInstructions];  // of calls in the path
  unsigned depth = 0;
  trace.count = trace.weight = 0;
  trace.ends_itself = false;
  while (trace.count < most && trace.weight <= kMaxBlockWeight - max_weight() &&
         !trace.ends_itself) {
    if (!code.contains(at)) code = code_at(at);
    const TranslationExit way_out =
        code.empty() ? TranslationExit{} : translation_exit_in(code, at);
    if (code.empty() ||
        (way_out.is_exit && (!way_out.seek_gate || (trace.count && !over_seek_gates))))
      break;  // a block begins at a gate; and what code_at() answers of a stub is no translation
              // exit
    Step& step = trace.steps[trace.count];
    step.address = at;
    if (!read_shape(step.code(), code.limit - at, step.shape)) break;
    step.flow = flow_of(step.shape);
    if (!can_translate(step.shape, step.code(), step.flow)) break;
    if (is_direct(step.flow))
      step.target =
          step.end() + static_cast<uint64_t>(branch_displacement(step.shape, step.code()));
    step.goes_on = false;
    switch (step.flow) {
      case Flow::kCall: returns[depth++] = step.end(); [[fallthrough]];
      case Flow::kJump: step.next = step.target; break;
      case Flow::kReturn:
        step.goes_on = depth > 0 && step.shape.immediate_size == 0;
        step.next = step.goes_on ? returns[--depth] : 0;
        trace.ends_itself = !step.goes_on;
        break;
      case Flow::kConditional: step.next = step.target <= at ? step.target : step.end(); break;
      case Flow::kNext: step.next = step.end(); break;
      default: step.next = step.end(); trace.ends_itself = true;
    }
    at = step.next;
    step.before = static_cast<uint8_t>(trace.weight);
    trace.weight += weight_of(step.shape, step.code(), step.flow, step.target);
    trace.count++;
  }
  trace.next = at;
  trace.flags_are_dead = find_flags_dead(trace);
}

unsigned steps_within(const Trace& trace, uint64_t budget) {
  unsigned count = 0;
  while (count < trace.count && trace.weight_before(count + 1) <= budget) count++;
  return count;
}

void cut(Trace& trace, unsigned count) {
  if (count == trace.count) return;
  trace.next = trace.steps[count].address;
  trace.weight = trace.steps[count].before;
  trace.count = count;
  trace.ends_itself = false;
  trace.flags_are_dead = find_flags_dead(trace);
}

uint16_t dead_flags_at(uint64_t address) {
  Trace trace;
  follow(address, trace, true);
  uint16_t unknown = kStatusFlags, dead = 0;
  for (unsigned i = 0; i < trace.count && unknown; i++) {
    const Step& step = trace.steps[i];
    const FlagEffect effect = flag_effect(step.shape, step.code());
    unknown &= static_cast<uint16_t>(~effect.read);
    dead |= effect.written & unknown;
    unknown &= static_cast<uint16_t>(~effect.written);
    if (step.flow != Flow::kNext && step.flow != Flow::kJump && step.flow != Flow::kCall) break;
  }
  return dead;
}

bool flags_are_dead_at(uint64_t address) {
  constexpr unsigned kFar = 6;
  const Range code = code_at(address);
  uint16_t wanted = kStatusFlags;
  for (unsigned i = 0; i < kFar && code.contains(address); i++) {
    Shape shape;
    const auto* bytes = reinterpret_cast<const uint8_t*>(address);
    if (!read_shape(bytes, code.limit - address, shape) || flow_of(shape) != Flow::kNext)
      return false;
    if (!passes(shape, bytes, wanted)) return false;
    if (wanted == 0) return true;
    address += shape.length;
  }
  return false;
}

}  // namespace weir::translate
