// Which registers are moved.
//
// Every general register whose value is a pointer to the region goes to the window of its level:
// the one that the access used, and those that a loop compares it with or will use next. What is in
// memory besides registered pointers (a spilled register) cannot be known.
//
// An address may be formed so that no register lies in the region itself: a pointer to a place
// before it and a large displacement, or an index that is a pointer, scaled by one. Then that
// register is moved by as much as the address must move. Gathers may keep whole pointers in a
// vector register, whose elements are moved in the signal's frame.

#include "region/registers_x86_64.h"

#include <cpuid.h>
#include <string.h>

#include "code/decode/gather.h"
#include "region/state.h"

namespace weir::region {

namespace {

// By register number (rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15).
constexpr int kGreg[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                           REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

greg_t& general(ucontext_t& context, unsigned number) {
  return context.uc_mcontext.gregs[kGreg[number]];
}

// Instructions decoded, by their address: used where the code still has the same bytes. Whoever
// finds an entry busy (another thread, or the frame that a signal has interrupted) decodes for
// itself.
struct Remembered {
  bool is_busy;
  uint8_t code[15];
  Instruction instruction;
};
constexpr uint64_t kRemembered = 256;
Remembered g_remembered[kRemembered];

uint64_t segment_base(Segment segment) {
  uint64_t base = 0;
  if (segment == Segment::kFs) base = this_thread();
  if (segment == Segment::kGs)
    sys::raw(SYS_arch_prctl, 0x1004 /* ARCH_GET_GS */, reinterpret_cast<long>(&base));
  return base;
}

Registers registers_of(const ucontext_t& context) {
  return registers_of_gregs(context.uc_mcontext.gregs);
}

AccessList accesses(const ucontext_t& context, const Instruction& instruction) {
  uint64_t fs = 0, gs = 0;
  for (unsigned i = 0; i < instruction.operand_count; i++) {
    if (instruction.operands[i].segment == Segment::kFs) fs = segment_base(Segment::kFs);
    if (instruction.operands[i].segment == Segment::kGs) gs = segment_base(Segment::kGs);
  }
  return accesses_of(instruction, registers_of(context), fs, gs, Extent::kOneStep);
}

bool is_there(const ucontext_t& context, const Instruction& instruction, int operand,
              uint64_t address) {
  const AccessList list = accesses(context, instruction);
  return static_cast<size_t>(operand) < list.count && list.accesses[operand].address == address;
}

bool is_pointer_to(const Region& region, int set, uint64_t value, Place* place) {
  *place = place_of(value);
  return place->inside && place->set == set && region.refers(place->offset);
}

// Where the frame keeps vector registers. `part`: 0 the low 16 bytes, 1 the next 16, 2 the upper
// 32; from register 16 on: 3, all 64.
char* vector_part(ucontext_t& context, unsigned number, unsigned part) {
  auto* frame = reinterpret_cast<char*>(context.uc_mcontext.fpregs);
  if (!frame) return nullptr;
  if (part == 0) return frame + 160 + number * 16;
  constexpr uint32_t kExtendedMagic = 0x46505853;
  uint32_t magic;
  memcpy(&magic, frame + 464, sizeof magic);
  if (magic != kExtendedMagic) return nullptr;
  uint64_t present;
  memcpy(&present, frame + 512, sizeof present);
  const unsigned component = part == 1 ? 2 : part == 2 ? 6 : 7;
  unsigned size, offset, ecx, edx;
  if (!(present >> component & 1) || !__get_cpuid_count(0xd, component, &size, &offset, &ecx, &edx))
    return nullptr;
  const unsigned each = part == 1 ? 16 : part == 2 ? 32 : 64;
  return frame + offset + (part == 3 ? number - 16 : number) * each;
}

char* vector_lane(ucontext_t& context, unsigned number, unsigned byte) {
  if (number >= 16) {
    char* whole = vector_part(context, number, 3);
    return whole ? whole + byte : nullptr;
  }
  const unsigned part = byte < 16 ? 0 : byte < 32 ? 1 : 2;
  char* from = vector_part(context, number, part);
  return from ? from + (part == 2 ? byte - 32 : byte % 16) : nullptr;
}

bool move_gather(ucontext_t& context, const Instruction& instruction, const Region& region, int set,
                 unsigned window) {
  Gather gather;
  if (!decode_gather(reinterpret_cast<const void*>(instruction.address), instruction.length,
                     gather))
    return false;
  bool moved = false;
  Place place;
  for (unsigned lane = 0; gather.index_size == 8 && gather.scale == 1 && lane < gather.lanes;
       lane++) {
    char* at = vector_lane(context, gather.vector, lane * 8);
    uint64_t value;
    if (!at) continue;
    memcpy(&value, at, sizeof value);
    if (!is_pointer_to(region, set, value, &place) || place.window == window) continue;
    value = address_in(set, window, place.offset);
    memcpy(at, &value, sizeof value);
    moved = true;
  }
  if (moved || gather.base == kNoRegister) return moved;
  // A base that stands outside of the region it is used for.
  place = place_of(static_cast<uint64_t>(general(context, gather.base)));
  if (!place.inside || place.set != set || place.window == window) return false;
  general(context, gather.base) = static_cast<greg_t>(address_in(set, window, place.offset));
  return true;
}

}  // namespace

bool instruction_at(const ucontext_t& context, Instruction& instruction) {
  const auto address = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  Remembered& entry = g_remembered[(address ^ address >> 8) % kRemembered];
  const bool is_mine = !__atomic_exchange_n(&entry.is_busy, true, __ATOMIC_ACQUIRE);
  bool is_known =
      is_mine && entry.instruction.address == address && entry.instruction.length &&
      !memcmp(entry.code, reinterpret_cast<const void*>(address), entry.instruction.length);
  if (is_known) {
    instruction = entry.instruction;
  } else {
    // It has been executed as far as its access, so all of it can be read; what lies behind it,
    // perhaps not.
    const size_t available = kPage - address % kPage;
    is_known = decode(address, instruction, available < 15 ? available : 15) ||
               (available < 15 && decode(address, instruction));
    if (is_mine && is_known) {
      entry.instruction = instruction;
      memcpy(entry.code, reinterpret_cast<const void*>(address), instruction.length);
    }
  }
  if (is_mine) __atomic_store_n(&entry.is_busy, false, __ATOMIC_RELEASE);
  return is_known;
}

Touched touched_at(const ucontext_t& context, const Instruction& instruction, uint64_t fault) {
  const AccessList list = accesses(context, instruction);
  for (size_t i = 0; i < list.count; i++) {
    const Access& access = list.accesses[i];
    if (fault - access.address >= access.size) continue;
    if (is_write(context) && !access.written) continue;  // another operand of the same bytes
    return {access.address, access.size,
            (access.read ? PROT_READ : 0) | (access.written ? PROT_WRITE : 0), access.exact,
            static_cast<int>(i)};
  }
  Gather gather;
  uint64_t size = 1;
  if (decode_gather(reinterpret_cast<const void*>(instruction.address), instruction.length, gather))
    size = gather.element_size;
  return {fault, size, is_write(context) ? PROT_WRITE : PROT_READ, false, -1};
}

bool move_registers(ucontext_t& context, const Instruction& instruction, const Touched& touched,
                    const Region& region, int set, unsigned window) {
  bool moved = false;
  Place place;
  for (unsigned number = 0; number < 16; number++) {
    greg_t& value = general(context, number);
    if (!is_pointer_to(region, set, static_cast<uint64_t>(value), &place) || place.window == window)
      continue;
    value = static_cast<greg_t>(address_in(set, window, place.offset));
    moved = true;
  }
  if (touched.operand < 0) {
    if (move_gather(context, instruction, region, set, window) || moved) return true;
    constexpr uint8_t kXlat = 0xd7;
    if (instruction.operand_count ||
        reinterpret_cast<const uint8_t*>(instruction.address)[instruction.length - 1] != kXlat)
      return false;
    general(context, kRbx) += static_cast<greg_t>(
        address_in(set, window, place_of(touched.address).offset) - touched.address);
    return true;
  }
  const Place from = place_of(touched.address);
  const uint64_t to = address_in(set, window, from.offset);
  if (is_there(context, instruction, touched.operand, to)) return true;
  const Operand& operand = instruction.operands[touched.operand];
  const uint64_t distance = to - touched.address;
  const uint8_t unscaled = operand.scale == 1 ? operand.index : uint8_t{kNoRegister};
  const uint8_t candidates[] = {operand.base, unscaled};
  for (const uint8_t number : candidates) {
    if (number >= 16) continue;
    greg_t& value = general(context, number);
    // Far outside of all windows it is no pointer; a little outside it may be one, with a large
    // displacement.
    constexpr uint64_t kFarthest = uint64_t{1} << 36;  // an index of 32 bits, times eight
    const auto from_base = static_cast<uint64_t>(value) - (g_state->base - kFarthest);
    if (from_base >= all_windows() + 2 * kFarthest) continue;
    const greg_t before = value;
    value = static_cast<greg_t>(static_cast<uint64_t>(value) + distance);
    if (is_there(context, instruction, touched.operand, to)) return true;
    value = before;
  }
  return false;
}

__attribute__((naked)) void call_on(void* /*top*/, void (* /*function*/)(void*),
                                    void* /*argument*/) {
  asm("pushq %rbp\n"
      ".cfi_def_cfa_offset 16\n"
      ".cfi_offset %rbp, -16\n"
      "movq %rsp, %rbp\n"
      ".cfi_def_cfa_register %rbp\n"
      "movq %rdi, %rsp\n"
      "movq %rdx, %rdi\n"
      "callq *%rsi\n"
      "leave\n"
      ".cfi_def_cfa %rsp, 8\n"
      "ret\n");
}

}  // namespace weir::region
