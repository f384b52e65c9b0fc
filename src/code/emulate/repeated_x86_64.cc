// Repeated string instructions, carried out for the program: on the backing, and many elements at
// once.

#include "base/bytes.h"
#include "code/decode/shape.h"
#include "code/emulate/emulate_x86_64.h"
#include "memory/backing.h"

namespace weir::trap {

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

// How far above the program's addresses the runtime sees those bytes, on one page. Memory that is
// not in the backing it sees where the program does. False: the program may not access them so.
bool find_above(uint64_t address, uint64_t size, bool writes, uint64_t& above) {
  above = 0;
  if (!page::backing_bytes_at(address)) return true;
  if (!seen_at(static_cast<greg_t>(address), size, writes)) return false;
  above = page::shared_view_of(address) - address;
  return true;
}

}  // namespace

uint64_t repeated_on_pages(const ucontext_t& context) {
  constexpr uint64_t kFirstThatCompares = 8;
  const auto& gregs = context.uc_mcontext.gregs;
  RepeatedKind kind;
  if (!find_repeated(context, kind) || kind.which >= kFirstThatCompares ||
      (gregs[REG_EFL] & kDirectionFlag))
    return 0;
  const auto room_at = [](greg_t at) { return kPageSize - static_cast<uint64_t>(at) % kPageSize; };
  uint64_t size = room_at(gregs[REG_RDI]);
  if (kind.reads && room_at(gregs[REG_RSI]) < size) size = room_at(gregs[REG_RSI]);
  const uint64_t count = size / kind.width, rest = static_cast<uint64_t>(gregs[REG_RCX]);
  return (count < rest ? count : rest) * kind.width;
}

bool repeat_on_pages(ucontext_t& context, uint64_t size) {
  auto& gregs = context.uc_mcontext.gregs;
  const auto to = static_cast<uint64_t>(gregs[REG_RDI]),
             from = static_cast<uint64_t>(gregs[REG_RSI]);
  RepeatedKind kind;
  uint64_t to_above = 0, from_above = 0;
  if (!find_repeated(context, kind) || !find_above(to, size, true, to_above) ||
      (kind.reads && !find_above(from, size, false, from_above)))
    return false;
  RepeatedString state{to + to_above, from + from_above, size / kind.width,
                       static_cast<uint64_t>(gregs[REG_RAX]), 0};
  weir_repeat(&state, kind.which);
  const uint64_t done = state.to - to_above - to;
  gregs[REG_RDI] += static_cast<greg_t>(done);
  if (kind.reads) gregs[REG_RSI] += static_cast<greg_t>(done);
  gregs[REG_RCX] -= static_cast<greg_t>(done / kind.width);
  if (!gregs[REG_RCX]) gregs[REG_RIP] += kind.length;
  return done != 0;
}

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
