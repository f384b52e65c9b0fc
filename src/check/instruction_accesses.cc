#include "check/instruction_accesses.h"

#include <signal.h>

#include "base/bytes.h"
#include "check/findings/findings.h"
#include "code/decode/flags.h"
#include "code/decode/shape.h"
#include "code/sites/site_table.h"
#include "memory/backing.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::trap {

namespace {

using view::checked::kUnknownWrite;

// Per process. An entry is nothing but zeros until it is used, so that a start writes no page of
// the table.
struct Known {
  constexpr Known() : rip(0), code{} {}
  uint64_t rip;
  uint8_t code[kMaxInstructionSize];
  union {
    Instruction instruction;  // if rip is not 0
  };
};
constinit Known g_known[1024];

// Another library may be there by now, or code that the program has changed.
bool is_still_there(const Known& known) {
  const auto* code = reinterpret_cast<const uint8_t*>(known.rip);
  for (unsigned i = 0; i < known.instruction.length; i++)
    if (code[i] != known.code[i]) return false;
  return true;
}

const Instruction* decoded(uint64_t rip) {
  Known& known = g_known[(rip ^ rip >> 10) % 1024];
  if (known.rip == rip && is_still_there(known)) return &known.instruction;
  known.rip = 0;
  if (!decode(rip, known.instruction)) return nullptr;
  known.rip = rip;
  copy_bytes(known.code, reinterpret_cast<const void*>(rip), known.instruction.length);
  return &known.instruction;
}

// What compilers make of atomic loads and stores is what they make of others: one move of a machine
// word. Whatever cannot be one is none.
bool may_be_atomic(const Instruction& instruction, const Access& access) {
  const uint64_t size = access.size;
  if (instruction.repeat != Repeat::kNone || instruction.is_string || instruction.is_branch ||
      (access.read && access.written))
    return false;
  return (size == 1 || size == 2 || size == 4 || size == 8) && access.address % size == 0;
}

uint32_t kind_of(const Instruction& instruction, const Access& access) {
  uint32_t kind = (access.read ? findings::kRead : 0u) | (access.written ? findings::kWrite : 0u);
  if (instruction.is_locked) kind |= findings::kAtomic;
  else if (may_be_atomic(instruction, access))
    kind |= findings::kMayBeAtomic |
            (instruction.computes && access.read ? uint32_t{findings::kComputes} : 0u);
  return kind;
}

// A conditional move reads its operand though the condition does not hold, and throws it away: the
// source has no such access.
bool is_idle_move(uint64_t rip, uint64_t flags) {
  constexpr uint8_t kTwoBytes = 0x0f, kMoves = 0x40, kOperandSize = 0x66;
  const auto* code = reinterpret_cast<const uint8_t*>(rip);
  while (*code == kOperandSize || (*code & 0xf0) == 0x40) code++;  // a REX prefix
  return code[0] == kTwoBytes && (code[1] & 0xf0) == kMoves &&
         !condition_holds(code[1] & 15, flags);
}

// A store of a whole word that leaves it as it is: destructors store the pointer to an object's
// virtual functions anew.
bool is_unchanged(uint64_t rip, const Registers& registers, const Access& access) {
  constexpr uint8_t kStore = 0x89, kStoreImmediate = 0xc7;
  if (!access.written || access.read || access.size != 8 || access.address % 8 ||
      page::backing_bytes_at(access.address) < 8)
    return false;
  Shape shape;
  const auto* code = reinterpret_cast<const uint8_t*>(rip);
  if (!read_shape(code, kMaxInstructionSize, shape) || shape.is_vector ||
      shape.map != OpcodeMap::kOneByte || !(shape.rex & 8))
    return false;
  uint64_t value = 0;
  if (shape.opcode == kStore) {
    value = registers.general[shape.reg() | (shape.rex & 4) << 1];
  } else if (shape.opcode == kStoreImmediate) {
    int32_t immediate = 0;
    copy_bytes(&immediate, code + shape.immediate_at, sizeof immediate);
    value = static_cast<uint64_t>(int64_t{immediate});
  } else {
    return false;
  }
  return value && value == __atomic_load_n(reinterpret_cast<const uint64_t*>(
                                               page::shared_view_of(access.address)),
                                           __ATOMIC_RELAXED);
}

}  // namespace

void list_accesses(const Task& task, const ucontext_t& context, uint64_t address, Extent extent,
                   InstructionAccesses& accesses) {
  list_accesses_of(decoded(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP])), task,
                   context, address, extent, accesses);
}

namespace {

// What the operands of the instruction that stands in `accesses` mean with these registers.
void list_operands(const Task& task, const Registers& registers, uint64_t address, Extent extent,
                   InstructionAccesses& accesses) {
  accesses.site = {};
  for (unsigned i = 0; i < 16; i++) accesses.site.general[i] = registers.general[i];
  accesses.site.rip = registers.rip;
  AccessList list;
  if (accesses.instruction)
    list = accesses_of(*accesses.instruction, registers, sys::fs_base_untouched(),
                       reinterpret_cast<uint64_t>(&task), extent);
  accesses.count = 0;
  accesses.is_listed = false;
  const bool is_idle =
      accesses.instruction && list.count == 1 && is_idle_move(registers.rip, registers.rflags);
  for (size_t i = 0; i < list.count; i++) {
    const Access& access = list.accesses[i];
    if (!access.size || (!access.exact && access.size > kPageSize)) continue;
    accesses.is_listed |=
        page_down(address) >= page_down(access.address) && address < access.address + access.size;
    const bool is_known =
        access.exact ||
        accesses.instruction->is_locked;  // a compare-and-exchange may leave it as it is
    accesses.access[accesses.count++] = {access.address, access.size,
                                         is_idle          ? 0u
                                         : is_known       ? kind_of(*accesses.instruction, access)
                                         : access.written ? uint32_t{kUnknownWrite}
                                                          : 0u};
    if (is_known && !is_idle && is_unchanged(registers.rip, registers, access))
      accesses.access[accesses.count - 1].kind |= findings::kUnchanged;
  }
}

// An instruction beside one that is intercepted stands in a stub. What it does it does for the
// place that it comes from: that has the lines, the callers, and the library.
uint64_t program_address_of(uint64_t rip) {
  StubPlace place;
  return find_stub_place(rip, place) && place.program_address ? place.program_address : rip;
}

}  // namespace

void list_accesses_of(const Instruction* instruction, const Task& task, const ucontext_t& context,
                      uint64_t address, Extent extent, InstructionAccesses& accesses) {
  constexpr greg_t kWrite = 2;
  const auto& gregs = context.uc_mcontext.gregs;
  Registers registers = registers_of_gregs(gregs);
  registers.rip = static_cast<uint64_t>(gregs[REG_RIP]);
  registers.rflags = static_cast<uint64_t>(gregs[REG_EFL]);
  accesses.instruction = instruction;
  list_operands(task, registers, address, extent, accesses);
  accesses.site.rip = program_address_of(registers.rip);
  // clock_gettime() and its kind are system calls that need no kernel.
  for (uint32_t i = 0; i < accesses.count && view::checked::is_kernels(registers.rip); i++) {
    uint32_t& kind = accesses.access[i].kind;
    kind &= findings::kRead | findings::kWrite | kUnknownWrite;
    if (kind) kind |= findings::kByKernel;
  }
  if (!accesses.is_listed)
    accesses.access[accesses.count++] = {address, 1,
                                         gregs[REG_ERR] & kWrite ? uint32_t{kUnknownWrite} : 0u};
}

void list_accesses_at(const Task& task, const Frame& frame, InstructionAccesses& accesses) {
  Registers registers = registers_of(frame);
  registers.rip = frame.rip;
  registers.rflags = frame.rflags;
  accesses.instruction = decoded(frame.rip);
  list_operands(task, registers, 0, Extent::kWhole, accesses);
}

void hold_signals(ucontext_t& context, uint64_t& mask, bool is_on) {
  if (!is_on) copy_bytes(&mask, &context.uc_sigmask, sizeof mask);
  const uint64_t all = sys::kAllButFaultsAndSteps;
  copy_bytes(&context.uc_sigmask, &all, sizeof all);
}

void let_signals_in(ucontext_t& context, uint64_t mask) {
  copy_bytes(&context.uc_sigmask, &mask, sizeof mask);
}

}  // namespace weir::trap
