#include "code/decode/registers.h"
#include "code/sites/atomic_op.h"

// Each op is executed by the very instruction that the program has, on another address and with the
// program's registers and status flags loaded: so register results, flags (also those that the
// manual leaves undefined) and atomicity are the CPU's own. Registers are handed over whole, 64
// bits wide, and named in the width of the op, so that the CPU also does the merging or
// zero-extension. Only the four high byte registers are moved down before and up after.

namespace weir {
namespace {

// Steps over the red zone: the compiler may keep locals of a leaf function there.
#define WEIR_FLAGS_IN "lea -128(%%rsp),%%rsp\n\tpush %[flags]\n\tpopfq\n\t"
#define WEIR_FLAGS_OUT "\n\tpushfq\n\tpop %[flags]\n\tlea 128(%%rsp),%%rsp"

#define WEIR_UNARY(instruction)                         \
  asm volatile(WEIR_FLAGS_IN instruction WEIR_FLAGS_OUT \
               : [flags] "+r"(flags)                    \
               : [at] "r"(target)                       \
               : "memory", "cc")

#define WEIR_BINARY(instruction)                        \
  asm volatile(WEIR_FLAGS_IN instruction WEIR_FLAGS_OUT \
               : [flags] "+r"(flags), [v] "+r"(value)   \
               : [at] "r"(target)                       \
               : "memory", "cc")

#define WEIR_COMPARE(instruction)                                      \
  asm volatile(WEIR_FLAGS_IN instruction WEIR_FLAGS_OUT                \
               : [flags] "+r"(flags), [v] "+r"(value), "+a"(frame.rax) \
               : [at] "r"(target)                                      \
               : "memory", "cc")

#define WEIR_COMPARE_PAIR(instruction)                                 \
  asm volatile(WEIR_FLAGS_IN instruction WEIR_FLAGS_OUT                \
               : [flags] "+r"(flags), "+a"(frame.rax), "+d"(frame.rdx) \
               : [at] "r"(target), "b"(frame.rbx), "c"(frame.rcx)      \
               : "memory", "cc")

#define WEIR_SIZES(form, mnemonic)                            \
  switch (op.size) {                                          \
    case 1: form("lock " mnemonic "b %b[v],(%[at])"); break;  \
    case 2: form("lock " mnemonic "w %w[v],(%[at])"); break;  \
    case 4: form("lock " mnemonic "l %k[v],(%[at])"); break;  \
    default: form("lock " mnemonic "q %q[v],(%[at])"); break; \
  }

#define WEIR_UNARY_SIZES(mnemonic)                            \
  switch (op.size) {                                          \
    case 1: WEIR_UNARY("lock " mnemonic "b (%[at])"); break;  \
    case 2: WEIR_UNARY("lock " mnemonic "w (%[at])"); break;  \
    case 4: WEIR_UNARY("lock " mnemonic "l (%[at])"); break;  \
    default: WEIR_UNARY("lock " mnemonic "q (%[at])"); break; \
  }

#define WEIR_BIT_SIZES(mnemonic)                                     \
  switch (op.size) {                                                 \
    case 2: WEIR_BINARY("lock " mnemonic "w %w[v],(%[at])"); break;  \
    case 4: WEIR_BINARY("lock " mnemonic "l %k[v],(%[at])"); break;  \
    default: WEIR_BINARY("lock " mnemonic "q %q[v],(%[at])"); break; \
  }

uint64_t load_source(const AtomicOp& op, const Frame& frame) {
  if (op.source == AtomicOp::kImmediate) return static_cast<uint64_t>(int64_t{op.immediate});
  if (op.source & AtomicOp::kHighByte) return general_register(frame, op.source & 3) >> 8 & 0xff;
  return general_register(frame, op.source);
}

void store_source(const AtomicOp& op, Frame& frame, uint64_t value) {
  if (op.source & AtomicOp::kHighByte) {
    uint64_t& whole = general_register(frame, op.source & 3);
    whole = (whole & ~uint64_t{0xff00}) | (value & 0xff) << 8;
  } else {
    general_register(frame, op.source) = value;
  }
}

}  // namespace

void execute_atomic(const AtomicOp& op, Frame& frame, void* target) {
  uint64_t flags = (frame.rflags & kStatusFlags) |
                   0x202;  // never the program's trap, direction or alignment flag
  uint64_t value = load_source(op, frame);
  switch (op.kind) {
    case AtomicKind::kNone: return;
    case AtomicKind::kFence: asm volatile("mfence" ::: "memory"); return;
    case AtomicKind::kAdd: WEIR_SIZES(WEIR_BINARY, "add"); break;
    case AtomicKind::kOr: WEIR_SIZES(WEIR_BINARY, "or"); break;
    case AtomicKind::kAdc: WEIR_SIZES(WEIR_BINARY, "adc"); break;
    case AtomicKind::kSbb: WEIR_SIZES(WEIR_BINARY, "sbb"); break;
    case AtomicKind::kAnd: WEIR_SIZES(WEIR_BINARY, "and"); break;
    case AtomicKind::kSub: WEIR_SIZES(WEIR_BINARY, "sub"); break;
    case AtomicKind::kXor: WEIR_SIZES(WEIR_BINARY, "xor"); break;
    case AtomicKind::kInc: WEIR_UNARY_SIZES("inc"); break;
    case AtomicKind::kDec: WEIR_UNARY_SIZES("dec"); break;
    case AtomicKind::kNeg: WEIR_UNARY_SIZES("neg"); break;
    case AtomicKind::kNot: WEIR_UNARY_SIZES("not"); break;
    case AtomicKind::kBts:
    case AtomicKind::kBtr:
    case AtomicKind::kBtc:
      value &= 8 * op.size - 1u;  // atomic_address() has used the rest
      if (op.kind == AtomicKind::kBts) {
        WEIR_BIT_SIZES("bts");
      } else if (op.kind == AtomicKind::kBtr) {
        WEIR_BIT_SIZES("btr");
      } else {
        WEIR_BIT_SIZES("btc");
      }
      break;
    case AtomicKind::kXadd:
      WEIR_SIZES(WEIR_BINARY, "xadd");
      store_source(op, frame, value);
      break;
    case AtomicKind::kXchg:
      WEIR_SIZES(WEIR_BINARY, "xchg");
      store_source(op, frame, value);
      return;
    case AtomicKind::kCmpxchg: WEIR_SIZES(WEIR_COMPARE, "cmpxchg"); break;
    case AtomicKind::kCmpxchg8b: WEIR_COMPARE_PAIR("lock cmpxchg8b (%[at])"); break;
    case AtomicKind::kCmpxchg16b: WEIR_COMPARE_PAIR("lock cmpxchg16b (%[at])"); break;
  }
  frame.rflags = (frame.rflags & ~kStatusFlags) | (flags & kStatusFlags);
}

}  // namespace weir
