// The processor executes it itself: with the registers that the signal's frame has, and with its
// operand at (%rdi) instead of where the program has it. Prefixes, register operands and immediates
// stay as they are, so nothing needs to be known of what it computes: only that it uses no general
// register and no other memory.
//
// Invariants
// 1. The frame's state is in the processor's own format (XSAVE, not compacted); of its components
//    only those of x87, vectors and masks are loaded. (not checkable: XRSTOR itself refuses another
//    format)
// 2. Nothing that the runtime is compiled to uses them, so what is left in them matters to nobody:
//    the frame is what the program gets. (not checkable: the compiler decides; layering.registers
//    looks at its objects)
// 3. It cannot fault: memory is there, exceptions of arithmetic are masked, and what wants aligned
//    memory has it; else it is not done here. (not checkable: a fault there ends the program
//    anyway)

#include "code/emulate/emulate_vector_x86_64.h"

#include <sys/mman.h>

#include "base/bytes.h"
#include "base/types.h"
#include "code/decode/registers.h"
#include "control/control.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

namespace {

constexpr uint64_t kComponents = 0xe7;  // x87, SSE, AVX, masks, and the rest of AVX-512
constexpr uint32_t kMasks = 0x1f80;     // of MXCSR
constexpr uint8_t kDirect = 7;          // modrm: (%rdi)

bool is_segment(uint8_t byte) {
  return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 ||
         byte == 0x65;
}

// Its registers are vectors (or masks), and it says itself which.
bool is_known(const Shape& s) {
  const uint8_t op = s.opcode;
  switch (s.map) {
    case OpcodeMap::k0F:
      if (s.is_vector && op >= 0x90 && op <= 0x93) return true;  // masks
      if (op == 0x2c || op == 0x2d) return false;                // to a general register
      return (op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) ||
             (op >= 0x51 && op <= 0x76) || (op >= 0x7a && op <= 0x7f) || op == 0xc2 || op == 0xc4 ||
             op == 0xc6 || (op >= 0xd0 && op <= 0xfe && op != 0xd7 && op != 0xf7);
    case OpcodeMap::k0F38:
      return op < 0xf0 && !(op >= 0x80 && op <= 0x83) && !(op >= 0x90 && op <= 0x93) &&
             !(op >= 0xa0 && op <= 0xa3) && op != 0x49 && op != 0x4b && op != 0xc6 && op != 0xc7;
    case OpcodeMap::k0F3A: return op < 0xf0 && !(op >= 0x60 && op <= 0x63);
    default: return false;
  }
}

bool wants_aligned(const Shape& s, uint64_t size) {
  if (size < 16) return false;
  if (!s.is_vector) return true;  // all but some moves, which are as well off with a step
  return s.map == OpcodeMap::k0F38 ? s.opcode == 0x2a
                                   : s.opcode == 0x28 || s.opcode == 0x29 || s.opcode == 0x2b ||
                                         s.opcode == 0xe7 || s.opcode == 0x6f || s.opcode == 0x7f;
}

// The same with its operand at (%rdi). 0: it is not encoded as expected.
uint64_t redirect(const Shape& s, const uint8_t* code, uint8_t* to) {
  uint64_t count = 0, at = 0;
  while (at < s.opcode_at && is_segment(code[at])) at++;
  if (s.is_vector) {
    const uint8_t first = code[at];
    if (first != 0xc5 && first != 0xc4 && first != 0x62) return 0;
    to[count++] = code[at++];
    if (first != 0xc5)
      to[count++] = code[at++] | 0x60;  // no index, and a low base: the bits are inverted
    while (at <= s.opcode_at) to[count++] = code[at++];
  } else {
    const uint64_t escape = s.map == OpcodeMap::k0F ? s.opcode_at - 1u : s.opcode_at - 2u;
    for (; at < escape; at++) {
      if (is_segment(code[at])) continue;
      to[count++] = s.rex && at == escape - 1 ? code[at] & ~3 : code[at];
    }
    while (at <= s.opcode_at) to[count++] = code[at++];
  }
  to[count++] = static_cast<uint8_t>((s.modrm & 0x38) | kDirect);
  for (uint32_t i = 0; i < s.immediate_size; i++) to[count++] = code[s.immediate_at + i];
  return count;
}

// Where it is executed: memory of the process's own.
uint8_t* place() {
  static uint8_t* known = nullptr;
  if (known) return known;
  const long at =
      sys::raw(SYS_mmap, static_cast<long>(kRedirected), static_cast<long>(kPageSize),
               PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (sys::failed(at)) return nullptr;
  known = reinterpret_cast<uint8_t*>(at);
  return known;
}

}  // namespace

bool emulate_vector(ucontext_t& context, const Shape& shape, const uint8_t* code, uint8_t* memory,
                    uint64_t size) {
  auto* state = reinterpret_cast<uint8_t*>(context.uc_mcontext.fpregs);
  if (!state || reinterpret_cast<uint64_t>(state) % 64 || !shape.has_memory_operand() ||
      !is_known(shape))
    return false;
  uint32_t magic, mxcsr;
  uint64_t components;
  copy_bytes(&magic, state + sys::kStateSoftware, sizeof magic);
  copy_bytes(&components, state + sys::kStateSoftware + 8, sizeof components);
  copy_bytes(&mxcsr, state + 24, sizeof mxcsr);
  if (magic != sys::kStateMagic || (mxcsr & kMasks) != kMasks) return false;
  if (wants_aligned(shape, size) && reinterpret_cast<uint64_t>(memory) % size) return false;
  uint8_t* const to = place();
  if (!to) return false;
  const uint64_t length = redirect(shape, code, to);
  if (!length) return false;
  constexpr uint8_t kReturn = 0xc3;
  to[length] = kReturn;
  const uint32_t low = static_cast<uint32_t>(components & kComponents);
  uint64_t flags;
  asm volatile(
      "xrstor64 (%[state])\n"
      "lea -128(%%rsp),%%rsp\n"  // the red zone
      "call *%[to]\n"
      "pushfq\n"
      "pop %[flags]\n"
      "lea 128(%%rsp),%%rsp\n"
      "mov %[low],%%eax\n"
      "xor %%edx,%%edx\n"
      "xsave64 (%[state])\n"
      : [flags] "=&r"(flags)
      : [state] "r"(state), [to] "r"(to), [low] "r"(low), "D"(memory), "a"(low), "d"(0)
      : "memory", "cc");
  greg_t& rflags = context.uc_mcontext.gregs[REG_EFL];
  const bool compares =
      shape.map == OpcodeMap::k0F && (shape.opcode == 0x2e || shape.opcode == 0x2f);
  const bool tests = shape.map == OpcodeMap::k0F38 &&
                     (shape.opcode == 0x17 || shape.opcode == 0x0e || shape.opcode == 0x0f);
  if (compares || tests)
    rflags = static_cast<greg_t>((static_cast<uint64_t>(rflags) & ~kStatusFlags) |
                                 (flags & kStatusFlags));
  return true;
}

}  // namespace weir::trap
