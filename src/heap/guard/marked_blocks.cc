// Layout of a marked block, `usable` bytes of the heap's:
//
//   | the program's bytes | pattern, 64 bytes at most | ... | Mark |
//
// The mark says how large the program's part is and who asked for it. It is mixed with its own
// address, so that bytes that were copied from another block are no mark. A freed block keeps its
// mark, with another word in it, and is filled with a pattern that is no address: a program that
// follows a pointer out of it faults.
#include "base/hash.h"
#include "heap/guard/state.h"

namespace weir::guard {
namespace {

constexpr uint8_t kBehind = 0xa9, kFill = 0xdb;
constexpr size_t kMaxBehind = 64, kMaxFilled = 1024;  // bytes
constexpr uint64_t kUsed = 0x6d41, kFreed = 0x7e52;
constexpr uint32_t kTagShift = 48;
constexpr uint64_t kLow = (uint64_t{1} << kTagShift) - 1;
constexpr uint64_t kFillWord = uint64_t{0x0101010101010101} * kFill;

struct Mark {
  uint64_t word;  // tag and size, mixed with the mark's address
  uint64_t from;  // where | task << 48
};
static_assert(sizeof(Mark) == kMarkSize);

Mark& mark_of(uint64_t block, size_t usable) {
  return *reinterpret_cast<Mark*>(block + usable - sizeof(Mark));
}
uint64_t coded(const Mark& mark, uint64_t tag, size_t size) {
  return (tag << kTagShift | size) ^ mix(reinterpret_cast<uint64_t>(&mark));
}
uint64_t decoded(const Mark& mark) { return mark.word ^ mix(reinterpret_cast<uint64_t>(&mark)); }

uint64_t packed(uint64_t where, uint32_t task) {
  return (where & kLow) | uint64_t{task} << kTagShift;
}
CallStack unpacked(uint64_t from) {
  CallStack stack;
  stack.task = static_cast<uint32_t>(from >> kTagShift);
  stack.count = from != 0;
  stack.at[0] = from & kLow;
  return stack;
}

size_t behind(size_t usable, size_t size) {
  const size_t room = usable - sizeof(Mark) - size;
  return room < kMaxBehind ? room : kMaxBehind;
}

uint64_t find_other(uint64_t start, uint64_t limit, uint8_t pattern) {
  while (start < limit && *reinterpret_cast<const uint8_t*>(start) == pattern) start++;
  return start;
}

// Whole words first: blocks are aligned to 16 bytes.
uint64_t find_unfilled(uint64_t start, size_t size) {
  const uint64_t limit = start + (size < kMaxFilled ? size : kMaxFilled);
  while (limit - start >= sizeof kFillWord &&
         *reinterpret_cast<const uint64_t*>(start) == kFillWord)
    start += sizeof kFillWord;
  const uint64_t other = find_other(start, limit, kFill);
  return other < limit ? other : 0;
}

Misuse misuse_of(Kind kind, uint64_t address, uint64_t start, size_t size) {
  Misuse misuse;
  misuse.kind = kind;
  misuse.address = address;
  misuse.has_block = true;
  misuse.start = start;
  misuse.size = size;
  return misuse;
}

// Calls visit for each block in a heap's quarantine, the oldest first, until it returns true.
template <typename Visit>
void each_held(uint32_t owner, Visit visit) {
  for (uint32_t at = g_state.tables->quarantines[owner].first; at;) {
    const HeldBlock& held = g_state.tables->held[at - 1];
    if (visit(held)) return;
    at = held.next;
  }
}

// + 1; 0: all are in use.
uint32_t take_entry() {
  if (const uint32_t entry = g_state.free_entry) {
    g_state.free_entry = g_state.tables->held[entry - 1].next;
    return entry;
  }
  return g_state.entries < kMaxHeld ? ++g_state.entries : 0;
}

Misuse look_at(const HeldBlock& held) {
  const uint64_t other = find_unfilled(held.address, held.size);
  if (!other) return {};
  Misuse misuse = misuse_of(Kind::kUseAfterFree, other, held.address, held.size);
  misuse.is_late = true;
  misuse.allocated = unpacked(held.allocated);
  misuse.freed = unpacked(held.freed);
  return misuse;
}

}  // namespace

bool is_fill(uint64_t value) {
  constexpr uint64_t kNear = 1 << 16;
  return value - (kFillWord - kNear) < 2 * kNear;
}

void mark(uint64_t block, size_t usable, size_t size, uint64_t where, uint32_t task) {
  Mark& mark = mark_of(block, usable);
  const size_t room = behind(usable, size);
  for (size_t i = 0; i < room; i++) reinterpret_cast<uint8_t*>(block + size)[i] = kBehind;
  mark.word = coded(mark, kUsed, size);
  mark.from = packed(where, task);
  g_state.counts.marked++;
}

Misuse look(uint64_t address, Range block, size_t usable, uint32_t owner, size_t& size) {
  if (block.empty() || usable < sizeof(Mark)) {
    Misuse misuse;
    misuse.kind = Kind::kInvalidFree;
    misuse.address = address;
    return misuse;
  }
  const Mark& mark = mark_of(block.start, usable);
  const uint64_t word = decoded(mark), tag = word >> kTagShift;
  size = word & kLow;
  const bool fits = size <= usable - sizeof(Mark);
  if (address != block.start) {
    Misuse misuse = misuse_of(Kind::kInvalidFree, address, block.start, size);
    misuse.has_block = tag == kUsed && fits;
    if (misuse.has_block) misuse.allocated = unpacked(mark.from);
    return misuse;
  }
  if (tag == kFreed && fits) {
    Misuse misuse = misuse_of(Kind::kDoubleFree, address, address, size);
    misuse.freed = unpacked(mark.from);
    each_held(owner, [&](const HeldBlock& held) {
      if (held.address != address) return false;
      misuse.allocated = unpacked(held.allocated);
      return true;
    });
    return misuse;
  }
  if (tag != kUsed || !fits) {
    // Nothing that was ever marked has a mark of zeros.
    Misuse misuse = misuse_of(mark.word || mark.from ? Kind::kOverflow : Kind::kInvalidFree,
                              address, address, usable - sizeof(Mark));
    misuse.is_late = misuse.kind == Kind::kOverflow;
    if (misuse.is_late) misuse.address = reinterpret_cast<uint64_t>(&mark);
    misuse.has_block = misuse.is_late;
    return misuse;
  }
  const uint64_t end = address + size, limit = end + behind(usable, size);
  const uint64_t other = find_other(end, limit, kBehind);
  if (other == limit) return {};
  Misuse misuse = misuse_of(Kind::kOverflow, other, address, size);
  misuse.is_late = true;
  misuse.allocated = unpacked(mark.from);
  return misuse;
}

uint32_t keep(uint64_t address, size_t usable, size_t size, uint32_t owner, uint64_t where,
              uint32_t task, uint64_t (&leaving)[kMaxLeaving], Misuse& misuse) {
  Mark& mark = mark_of(address, usable);
  HeldBlock held{address,
                 static_cast<uint32_t>(usable),
                 static_cast<uint32_t>(size),
                 0,
                 mark.from,
                 packed(where, task)};
  mark.word = coded(mark, kFreed, size);
  mark.from = held.freed;
  uint32_t count = 0;
  if (usable <= kMaxHeldSize) {
    __builtin_memset(reinterpret_cast<void*>(address), kFill,
                     size < kMaxFilled ? size : kMaxFilled);
  }
  Quarantine& own = g_state.tables->quarantines[owner];
  HeldBlock* const all = g_state.tables->held;
  const auto is_full = [&] {
    return own.count == kMaxHeldOfHeap || own.bytes + usable > kMaxHeldBytesOfHeap ||
           g_state.held_bytes + usable > kMaxHeldBytes ||
           (!g_state.free_entry && g_state.entries == kMaxHeld);
  };
  while (own.first && count < kMaxLeaving - 1 && is_full()) {
    const uint32_t entry = own.first;
    HeldBlock& oldest = all[entry - 1];
    if (misuse.kind == Kind::kNone) misuse = look_at(oldest);
    leaving[count++] = oldest.address;
    own.first = oldest.next;
    if (!own.first) own.last = 0;
    own.count--;
    own.bytes -= oldest.usable;
    g_state.held_bytes -= oldest.usable;
    oldest.next = g_state.free_entry;
    g_state.free_entry = entry;
  }
  const uint32_t entry = usable <= kMaxHeldSize && !is_full() ? take_entry() : 0;
  if (!entry) {  // it is not kept
    leaving[count++] = address;
    return count;
  }
  all[entry - 1] = held;
  (own.last ? all[own.last - 1].next : own.first) = entry;
  own.last = entry;
  own.count++;
  own.bytes += usable;
  g_state.held_bytes += usable;
  return count;
}

Misuse look_at_held() {
  Misuse misuse;
  for (uint32_t owner = 0; owner < kMaxHeaps && misuse.kind == Kind::kNone; owner++) {
    each_held(owner, [&](const HeldBlock& held) {
      misuse = look_at(held);
      return misuse.kind != Kind::kNone;
    });
  }
  return misuse;
}

}  // namespace weir::guard
