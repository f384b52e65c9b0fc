// Memory is reached through the backing's shared view, so nothing is mapped, and no second trap is
// needed: a third of what a single step costs.
//
// Whatever is not exactly one of the forms below is left to a single step; so it is with operands
// that lie on two pages.

#include "code/emulate/emulate_x86_64.h"

#include "base/bytes.h"
#include "code/decode/registers.h"
#include "code/decode/shape.h"
#include "code/emulate/emulate_vector_x86_64.h"
#include "memory/backing.h"

namespace weir::trap {

namespace {

constexpr uint64_t kSseState = 2;  // of XSTATE_BV

struct Machine {
  ucontext_t& context;
  Shape shape;
  const uint8_t* code;
  uint8_t* memory;
  unsigned size;  // of the general operand

  greg_t& general(unsigned number) const {
    constexpr uint8_t kIndex[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                    REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15};
    return context.uc_mcontext.gregs[kIndex[number]];
  }
  unsigned number() const { return shape.reg() | (shape.rex & 4) << 1; }
  bool is_high_byte(unsigned width) const { return width == 1 && !shape.rex && number() >= 4; }
  uint64_t load_register(unsigned width) const {
    if (is_high_byte(width)) return static_cast<uint64_t>(general(number() - 4)) >> 8 & 0xff;
    const auto value = static_cast<uint64_t>(general(number()));
    return width == 8 ? value : value & ((uint64_t{1} << width * 8) - 1);
  }
  void store_register(uint64_t value, unsigned width) const {
    greg_t& target = general(is_high_byte(width) ? number() - 4 : number());
    auto before = static_cast<uint64_t>(target);
    switch (width) {
      case 1:
        before = is_high_byte(1) ? (before & ~uint64_t{0xff00}) | value << 8
                                 : (before & ~uint64_t{0xff}) | value;
        break;
      case 2: before = (before & ~uint64_t{0xffff}) | value; break;
      default: before = value; break;  // 4: the upper half becomes zero
    }
    target = static_cast<greg_t>(before);
  }
  // One access, as the processor makes it.
  uint64_t load(unsigned width) const {
    switch (width) {
      case 1: return *reinterpret_cast<volatile uint8_t*>(memory);
      case 2: return *reinterpret_cast<volatile uint16_t*>(memory);
      case 4: return *reinterpret_cast<volatile uint32_t*>(memory);
      default: return *reinterpret_cast<volatile uint64_t*>(memory);
    }
  }
  void store(uint64_t value, unsigned width) const {
    switch (width) {
      case 1: *reinterpret_cast<volatile uint8_t*>(memory) = static_cast<uint8_t>(value); break;
      case 2: *reinterpret_cast<volatile uint16_t*>(memory) = static_cast<uint16_t>(value); break;
      case 4: *reinterpret_cast<volatile uint32_t*>(memory) = static_cast<uint32_t>(value); break;
      default: *reinterpret_cast<volatile uint64_t*>(memory) = value; break;
    }
  }
  int64_t immediate() const {
    const uint8_t* at = code + shape.immediate_at;
    switch (shape.immediate_size) {
      case 1: return *reinterpret_cast<const int8_t*>(at);
      case 2: return *reinterpret_cast<const int16_t*>(at);
      default: return *reinterpret_cast<const int32_t*>(at);
    }
  }
};

uint64_t sign_extend(uint64_t value, unsigned width) {
  const unsigned shift = 64 - width * 8;
  return static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
}

// The processor's own arithmetic, below the red zone. `flags`: before and after.
template <typename T>
T compute(unsigned operation, T left, T right, uint64_t& flags) {
  uint64_t carry = flags & 1, after;
  const auto begin = [&] { return carry; };
  switch (operation) {
    case 0:
      asm volatile("lea -128(%%rsp),%%rsp; add %2,%0; pushfq; pop %1; lea 128(%%rsp),%%rsp"
                   : "+q"(left), "=r"(after)
                   : "q"(right)
                   : "cc");
      break;
    case 1:
      asm volatile("lea -128(%%rsp),%%rsp; or %2,%0; pushfq; pop %1; lea 128(%%rsp),%%rsp"
                   : "+q"(left), "=r"(after)
                   : "q"(right)
                   : "cc");
      break;
    case 2:
      asm volatile(
          "lea -128(%%rsp),%%rsp; bt $0,%3; adc %2,%0; pushfq; pop %1; lea 128(%%rsp),%%rsp"
          : "+q"(left), "=r"(after)
          : "q"(right), "r"(begin())
          : "cc");
      break;
    case 3:
      asm volatile(
          "lea -128(%%rsp),%%rsp; bt $0,%3; sbb %2,%0; pushfq; pop %1; lea 128(%%rsp),%%rsp"
          : "+q"(left), "=r"(after)
          : "q"(right), "r"(begin())
          : "cc");
      break;
    case 4:
      asm volatile("lea -128(%%rsp),%%rsp; and %2,%0; pushfq; pop %1; lea 128(%%rsp),%%rsp"
                   : "+q"(left), "=r"(after)
                   : "q"(right)
                   : "cc");
      break;
    case 6:
      asm volatile("lea -128(%%rsp),%%rsp; xor %2,%0; pushfq; pop %1; lea 128(%%rsp),%%rsp"
                   : "+q"(left), "=r"(after)
                   : "q"(right)
                   : "cc");
      break;
    default:
      asm volatile("lea -128(%%rsp),%%rsp; sub %2,%0; pushfq; pop %1; lea 128(%%rsp),%%rsp"
                   : "+q"(left), "=r"(after)
                   : "q"(right)
                   : "cc");
      break;  // 5, and 7: a comparison
  }
  flags = (flags & ~kStatusFlags) | (after & kStatusFlags);
  return left;
}

uint64_t compute(unsigned operation, uint64_t left, uint64_t right, unsigned width,
                 uint64_t& flags) {
  switch (width) {
    case 1:
      return compute(operation, static_cast<uint8_t>(left), static_cast<uint8_t>(right), flags);
    case 2:
      return compute(operation, static_cast<uint16_t>(left), static_cast<uint16_t>(right), flags);
    case 4:
      return compute(operation, static_cast<uint32_t>(left), static_cast<uint32_t>(right), flags);
    default: return compute(operation, left, right, flags);
  }
}

constexpr unsigned kAdd = 0, kAnd = 4, kSub = 5, kCompare = 7;

bool arithmetic(const Machine& m, unsigned operation, bool to_memory, uint64_t other) {
  greg_t& rflags = m.context.uc_mcontext.gregs[REG_EFL];
  auto flags = static_cast<uint64_t>(rflags);
  const uint64_t there = m.load(m.size);
  const uint64_t result = to_memory ? compute(operation, there, other, m.size, flags)
                                    : compute(operation, other, there, m.size, flags);
  rflags = static_cast<greg_t>(flags);
  if (operation == kCompare) return true;
  if (to_memory) m.store(result, m.size);
  else m.store_register(result, m.size);
  return true;
}

bool one_byte(Machine& m) {
  const uint8_t op = m.shape.opcode;
  const unsigned wide = m.size;
  if (op < 0x40 && (op & 7) < 4) {  // arithmetic between register and memory
    m.size = op & 1 ? wide : 1;
    return arithmetic(m, op >> 3, !(op & 2), m.load_register(m.size));
  }
  switch (op) {
    case 0x88: m.store(m.load_register(1), 1); return true;
    case 0x89: m.store(m.load_register(wide), wide); return true;
    case 0x8a: m.store_register(m.load(1), 1); return true;
    case 0x8b: m.store_register(m.load(wide), wide); return true;
    case 0x63:
      if (!(m.shape.rex & 8)) return false;
      m.store_register(sign_extend(m.load(4), 4), 8);
      return true;
    case 0xc6:
      if (m.shape.reg() != 0) return false;
      m.store(static_cast<uint64_t>(m.immediate()), 1);
      return true;
    case 0xc7:
      if (m.shape.reg() != 0) return false;
      m.store(static_cast<uint64_t>(m.immediate()), wide);
      return true;
    case 0x80:
      m.size = 1;
      return arithmetic(m, m.shape.reg(), true, static_cast<uint64_t>(m.immediate()));
    case 0x81:
    case 0x83: return arithmetic(m, m.shape.reg(), true, static_cast<uint64_t>(m.immediate()));
    case 0x84:
    case 0x85: {
      m.size = op & 1 ? wide : 1;
      greg_t& rflags = m.context.uc_mcontext.gregs[REG_EFL];
      auto flags = static_cast<uint64_t>(rflags);
      compute(kAnd, m.load(m.size), m.load_register(m.size), m.size, flags);
      rflags = static_cast<greg_t>(flags);
      return true;
    }
    case 0xf6:
    case 0xf7: {
      if (m.shape.reg() > 1) return false;
      m.size = op & 1 ? wide : 1;
      greg_t& rflags = m.context.uc_mcontext.gregs[REG_EFL];
      auto flags = static_cast<uint64_t>(rflags);
      compute(kAnd, m.load(m.size), static_cast<uint64_t>(m.immediate()), m.size, flags);
      rflags = static_cast<greg_t>(flags);
      return true;
    }
    case 0xfe:
    case 0xff: {
      if (m.shape.reg() > 1) return false;
      m.size = op & 1 ? wide : 1;
      greg_t& rflags = m.context.uc_mcontext.gregs[REG_EFL];
      const uint64_t carry = static_cast<uint64_t>(rflags) & kCarryFlag;  // inc and dec leave it
      arithmetic(m, m.shape.reg() ? kSub : kAdd, true, 1);
      rflags = static_cast<greg_t>((static_cast<uint64_t>(rflags) & ~kCarryFlag) | carry);
      return true;
    }
    default: return false;
  }
}

// What touches memory by the stack pointer only: `memory` is where it pushes to, or pops from.
bool stack_operation(Machine& m, bool& jumps) {
  const uint8_t op = m.shape.opcode;
  greg_t& rsp = m.context.uc_mcontext.gregs[REG_RSP];
  auto& rip = m.context.uc_mcontext.gregs[REG_RIP];
  const greg_t next = rip + m.shape.length;
  if (m.shape.has_66 || m.shape.has_repeat) return false;
  const auto push = [&](uint64_t value) {
    m.store(value, 8);
    rsp -= 8;
  };
  if (op >= 0x50 && op < 0x58) {
    push(static_cast<uint64_t>(m.general((op & 7) | (m.shape.rex & 1) << 3)));
  } else if (op >= 0x58 && op < 0x60) {
    const uint64_t value = m.load(8);
    rsp += 8;
    m.general((op & 7) | (m.shape.rex & 1) << 3) = static_cast<greg_t>(value);
  } else if (op == 0x68 || op == 0x6a) {
    push(static_cast<uint64_t>(m.immediate()));
  } else if (op == 0xe8) {
    push(static_cast<uint64_t>(next));
    rip = next + branch_displacement(m.shape, m.code);
    jumps = true;
  } else if (op == 0xff && m.shape.reg() == 2 && m.shape.mod() == 3) {
    const greg_t target = m.general(m.shape.rm() | (m.shape.rex & 1) << 3);
    push(static_cast<uint64_t>(next));
    rip = target;
    jumps = true;
  } else if (op == 0xc3) {
    rip = static_cast<greg_t>(m.load(8));
    rsp += 8;
    jumps = true;
  } else if (op == 0xc9) {
    greg_t& rbp = m.context.uc_mcontext.gregs[REG_RBP];
    rsp = rbp + 8;
    rbp = static_cast<greg_t>(m.load(8));
  } else {
    return false;
  }
  return true;
}

bool vector_move(const Machine& m, bool stores, unsigned bytes) {
  auto* state = m.context.uc_mcontext.fpregs;
  const auto* extended =
      reinterpret_cast<const uint64_t*>(reinterpret_cast<const uint8_t*>(state) + 512);
  if (!(extended[0] & kSseState)) return false;
  auto* value = reinterpret_cast<uint64_t*>(&state->_xmm[m.number()]);
  auto* memory = reinterpret_cast<volatile uint64_t*>(m.memory);
  if (bytes == 4) {
    if (stores) {
      m.store(value[0] & 0xffffffff, 4);
    } else {
      value[0] = m.load(4);
      value[1] = 0;
    }
  } else if (stores) {
    memory[0] = value[0];
    if (bytes == 16) memory[1] = value[1];
  } else {
    value[0] = memory[0];
    value[1] = bytes == 16 ? memory[1] : 0;
  }
  return true;
}

bool two_byte(const Machine& m, bool has_f2) {
  const Shape& s = m.shape;
  const bool has_f3 = s.has_repeat && !has_f2;
  switch (s.opcode) {
    case 0xb6: m.store_register(m.load(1), m.size); return true;
    case 0xb7: m.store_register(m.load(2), m.size); return true;
    case 0xbe:
    case 0xbf: {
      const unsigned from = s.opcode == 0xbe ? 1 : 2;
      const uint64_t value = sign_extend(m.load(from), from);
      m.store_register(m.size == 8 ? value : value & ((uint64_t{1} << m.size * 8) - 1), m.size);
      return true;
    }
    case 0x10:
    case 0x11: return vector_move(m, s.opcode == 0x11, has_f3 ? 4 : has_f2 ? 8 : 16);
    case 0x28:
    case 0x29: return !s.has_repeat && vector_move(m, s.opcode == 0x29, 16);
    case 0x6f:
    case 0x7f: return (has_f3 || s.has_66) && vector_move(m, s.opcode == 0x7f, 16);
    case 0xd6: return s.has_66 && !s.has_repeat && vector_move(m, true, 8);
    case 0x7e: return has_f3 && vector_move(m, false, 8);
    default: return false;
  }
}

}  // namespace

bool emulate(ucontext_t& context, uint64_t address, uint64_t size) {
  auto& rip = context.uc_mcontext.gregs[REG_RIP];
  const auto* code = reinterpret_cast<const uint8_t*>(rip);
  Shape shape;
  if (!read_shape(code, kMaxInstructionSize, shape) || shape.has_lock || shape.has_67) return false;
  if (address / kPageSize != (address + size - 1) / kPageSize ||
      page::backing_bytes_at(address) < size)
    return false;
  if (shape.is_vector) {
    if (!emulate_vector(context, shape, code,
                        reinterpret_cast<uint8_t*>(page::shared_view_of(address)), size))
      return false;
    rip += shape.length;
    return true;
  }
  bool has_f2 = false;
  for (unsigned i = 0; i < shape.opcode_at; i++) has_f2 |= code[i] == 0xf2;
  Machine machine{context, shape, code, reinterpret_cast<uint8_t*>(page::shared_view_of(address)),
                  4};
  machine.size = shape.rex & 8 ? 8 : shape.has_66 ? 2 : 4;
  bool done = false, jumps = false;
  if (shape.map == OpcodeMap::kOneByte && shape.opcode == 0xff && shape.reg() == 4 &&
      shape.mod() != 3 && !shape.has_repeat) {  // a jump, as from a table of functions
    rip = static_cast<greg_t>(machine.load(8));
    return true;
  }
  if (!shape.has_memory_operand())
    done = shape.map == OpcodeMap::kOneByte && stack_operation(machine, jumps);
  else if (shape.map == OpcodeMap::kOneByte) done = !shape.has_repeat && one_byte(machine);
  else if (shape.map == OpcodeMap::k0F) done = two_byte(machine, has_f2);
  if (!done) done = emulate_vector(context, shape, code, machine.memory, size);
  if (done && !jumps) rip += shape.length;
  return done;
}

namespace {

// Where the runtime sees those bytes of the program's; null: not all are in the backing, or the
// program may not access them so.
uint8_t* seen_at(greg_t start, uint64_t size, bool writes) {
  const auto address = static_cast<uint64_t>(start);
  if (page::backing_bytes_at(address) < size) return nullptr;
  for (uint64_t at = page_down(address); at < address + size; at += kPageSize) {
    if (!page::may_access(at, writes)) return nullptr;
  }
  return reinterpret_cast<uint8_t*>(page::shared_view_of(address));
}

}  // namespace

bool emulate_repeated(ucontext_t& context) {
  constexpr uint64_t kMost = 4 * kPageSize;
  constexpr uint8_t kMovsByte = 0xa4, kMovs = 0xa5, kStosByte = 0xaa, kStos = 0xab;
  constexpr greg_t kDirection = 1 << 10;
  auto& gregs = context.uc_mcontext.gregs;
  const auto* code = reinterpret_cast<const uint8_t*>(gregs[REG_RIP]);
  Shape shape;
  if (!read_shape(code, kMaxInstructionSize, shape) || shape.has_67 || shape.is_vector ||
      !shape.has_repeat || shape.map != OpcodeMap::kOneByte || (gregs[REG_EFL] & kDirection))
    return false;
  const bool copies = shape.opcode == kMovsByte || shape.opcode == kMovs;
  if (!copies && shape.opcode != kStosByte && shape.opcode != kStos) return false;
  const bool is_byte = shape.opcode == kMovsByte || shape.opcode == kStosByte;
  const uint64_t width = is_byte ? 1 : shape.rex & 8 ? 8 : shape.has_66 ? 2 : 4;
  const auto count = static_cast<uint64_t>(gregs[REG_RCX]);
  if (count == 0 || count > kMost / width) return false;
  const uint64_t size = count * width;
  uint8_t* const to = seen_at(gregs[REG_RDI], size, true);
  const uint8_t* const from = copies ? seen_at(gregs[REG_RSI], size, false) : nullptr;
  if (!to || (copies && !from)) return false;
  const auto value = static_cast<uint64_t>(gregs[REG_RAX]);
  for (uint64_t at = 0; at < size; at += width) {  // element by element: they may overlap
    const void* const element = copies ? static_cast<const void*>(from + at) : &value;
    uint64_t kept = 0;
    copy_bytes(&kept, element, width);
    copy_bytes(to + at, &kept, width);
  }
  gregs[REG_RCX] = 0;
  gregs[REG_RDI] += static_cast<greg_t>(size);
  if (copies) gregs[REG_RSI] += static_cast<greg_t>(size);
  gregs[REG_RIP] += shape.length;
  return true;
}

namespace {

struct RepeatedString {
  uint64_t to, from, count, value, flags;
};
extern "C" long weir_repeat(RepeatedString* state, uint64_t which);  // safe_copy_x86_64.S

struct RepeatedKind {
  uint64_t which;  // as weir_repeat counts them
  uint64_t width;
  uint8_t length;
  bool reads;  // from rsi
};

bool find_repeated(const ucontext_t& context, RepeatedKind& kind) {
  constexpr uint8_t kOpcodes[] = {0xa4, 0xaa, 0xa6, 0xae};  // movs, stos, cmps, scas, of bytes
  constexpr uint8_t kRepne = 0xf2, kFs = 0x64, kGs = 0x65;
  const auto* code = reinterpret_cast<const uint8_t*>(context.uc_mcontext.gregs[REG_RIP]);
  Shape shape;
  if (!read_shape(code, kMaxInstructionSize, shape) || shape.has_67 || shape.is_vector ||
      !shape.has_repeat || shape.map != OpcodeMap::kOneByte)
    return false;
  bool has_f2 = false;
  for (unsigned i = 0; i < shape.opcode_at; i++) {
    if (code[i] == kFs || code[i] == kGs) return false;
    has_f2 |= code[i] == kRepne;
  }
  unsigned row = 0;
  while (row < 4 && kOpcodes[row] != (shape.opcode & ~1u)) row++;
  if (row == 4) return false;
  const bool compares = row >= 2;
  const unsigned column = !(shape.opcode & 1) ? 0 : shape.rex & 8 ? 3 : shape.has_66 ? 1 : 2;
  if (compares) row = 2 * row - 2 + has_f2;
  kind = {
      4 * uint64_t{row} + column, uint64_t{1} << column, shape.length,
      shape.opcode == 0xa4 || shape.opcode == 0xa5 || shape.opcode == 0xa6 || shape.opcode == 0xa7};
  return true;
}

constexpr greg_t kDirectionFlag = 1 << 10;

}  // namespace

bool ranges_of_repeated(const ucontext_t& context, RepeatedRanges& ranges) {
  RepeatedKind kind;
  if (!find_repeated(context, kind)) return false;
  const auto& gregs = context.uc_mcontext.gregs;
  const auto count = static_cast<uint64_t>(gregs[REG_RCX]);
  const auto range = [&](greg_t first) {
    const auto at = static_cast<uint64_t>(first);
    const bool is_down = gregs[REG_EFL] & kDirectionFlag;
    const uint64_t start = is_down && count ? at - (count - 1) * kind.width : at;
    return Range{start, start + count * kind.width};
  };
  ranges = {range(gregs[REG_RDI]), kind.reads ? range(gregs[REG_RSI]) : Range{}};
  return count <= ~uint64_t{0} / 16;
}

bool finish_repeated(ucontext_t& context, uint64_t to_above, uint64_t from_above) {
  constexpr uint64_t kStatusFlags = 0x8d5;
  constexpr uint64_t kKept = kStatusFlags | static_cast<uint64_t>(kDirectionFlag);
  auto& gregs = context.uc_mcontext.gregs;
  RepeatedKind kind;
  if (!find_repeated(context, kind)) return false;
  const auto flags = static_cast<uint64_t>(gregs[REG_EFL]);
  RepeatedString state{static_cast<uint64_t>(gregs[REG_RDI]) + to_above,
                       static_cast<uint64_t>(gregs[REG_RSI]) + from_above,
                       static_cast<uint64_t>(gregs[REG_RCX]), static_cast<uint64_t>(gregs[REG_RAX]),
                       flags & kKept};
  const bool is_over = weir_repeat(&state, kind.which) == 0;
  gregs[REG_RDI] = static_cast<greg_t>(state.to - to_above);
  gregs[REG_RSI] = static_cast<greg_t>(state.from - from_above);
  gregs[REG_RCX] = static_cast<greg_t>(state.count);
  if (!is_over) return false;
  gregs[REG_EFL] = static_cast<greg_t>((flags & ~kStatusFlags) | (state.flags & kStatusFlags));
  gregs[REG_RIP] += kind.length;
  return true;
}

}  // namespace weir::trap
