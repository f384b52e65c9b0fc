// Each is executed by the very instruction, so results and flags are the processor's own; registers
// are handed over whole, and it does the merging or zero-extension too.
#include "code/sites/processor_x86_64.h"

#include <cpuid.h>

#include "code/decode/registers.h"
#include "sys/cpuid_x86_64.h"

namespace weir {
namespace {

// Steps over the red zone: the compiler may keep locals of a leaf function there.
#define WEIR_RANDOM(instruction)                                                             \
  asm volatile(instruction                                                                   \
               "\n\tlea -128(%%rsp),%%rsp\n\tpushfq\n\tpop %[flags]\n\tlea 128(%%rsp),%%rsp" \
               : [v] "+r"(value), [flags] "=r"(flags)                                        \
               :                                                                             \
               : "cc")

#define WEIR_RANDOM_OF(width)            \
  if (op.is_seed) {                      \
    WEIR_RANDOM("rdseed %" width "[v]"); \
  } else {                               \
    WEIR_RANDOM("rdrand %" width "[v]"); \
  }

}  // namespace

void execute_cpuid(Frame& frame) {
  const sys::Cpuid told =
      sys::cpuid(static_cast<uint32_t>(frame.rax), static_cast<uint32_t>(frame.rcx));
  frame.rax = told.a;
  frame.rbx = told.b;
  frame.rcx = told.c;
  frame.rdx = told.d;
}

void hide_processor(uint32_t leaf, Frame& frame) {
  constexpr uint32_t kFirst = 1, kTopology = 0xb, kTopologyToo = 0x1f, kTopologyOfAmd = 0x8000'001e;
  switch (leaf) {
    case kFirst: frame.rbx &= 0x00ff'ffff; break;
    case kTopology:
    case kTopologyToo: frame.rdx = 0; break;
    case kTopologyOfAmd:
      frame.rax = 0;
      frame.rbx &= ~uint64_t{0xff};
      frame.rcx &= ~uint64_t{0xff};
      break;
    default: break;
  }
}

bool decode_random(const Shape& shape, RandomOp& op) {
  constexpr unsigned kRdrand = 6, kRdseed = 7;
  if (shape.is_vector || shape.map != OpcodeMap::k0F || shape.opcode != 0xc7 || shape.mod() != 3 ||
      shape.has_repeat || shape.has_lock || (shape.reg() != kRdrand && shape.reg() != kRdseed)) {
    return false;
  }
  op.target = static_cast<uint8_t>(shape.rm() | (shape.rex & 1) << 3);
  op.size = shape.rex & 8 ? 8 : shape.has_66 ? 2 : 4;
  op.is_seed = shape.reg() == kRdseed;
  return true;
}

bool is_known(const RandomOp& op) {
  const uint32_t leaf = op.is_seed ? 7 : 1;
  if (sys::cpuid(0).a < leaf) return false;
  const sys::Cpuid told = sys::cpuid(leaf);
  return op.is_seed ? told.b & bit_RDSEED : told.c & bit_RDRND;
}

void execute_random(const RandomOp& op, Frame& frame) {
  uint64_t& value = general_register(frame, op.target);
  uint64_t flags = 0;
  switch (op.size) {
    case 2: WEIR_RANDOM_OF("w"); break;
    case 4: WEIR_RANDOM_OF("k"); break;
    default: WEIR_RANDOM_OF("q"); break;
  }
  frame.rflags = (frame.rflags & ~kStatusFlags) | (flags & kStatusFlags);
}

void give_random(const RandomOp& op, Frame& frame, uint64_t number) {
  constexpr uint64_t kCarry = 1;
  uint64_t& value = general_register(frame, op.target);
  switch (op.size) {
    case 2: value = (value & ~uint64_t{0xffff}) | (number & 0xffff); break;
    case 4: value = number & 0xffffffff; break;
    default: value = number; break;
  }
  frame.rflags = (frame.rflags & ~kStatusFlags) | kCarry;
}

}  // namespace weir
