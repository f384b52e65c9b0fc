// Layout of the region:
//
//   | no rights | block | no rights | block, 3 pages | no rights | freed | no rights | ...
//
// A slot begins where the one before it ends, one page without rights between them. The pages of a
// freed block are mapped anew without rights: the kernel then joins them with their neighbours, so
// freed blocks take no mapping of their own. Slots are handed out in order and never again, so the
// table of blocks is sorted by address.
//
// The rest of the last page, which the alignment of the block leaves, and some bytes before the
// block have a pattern. It is looked at when the block is freed.
#include "heap/guard/state.h"
#include "sys/memory.h"

namespace weir::guard {
namespace {

constexpr uint8_t kBeside = 0xa7;
constexpr size_t kLeast = 16, kMaxBefore = 64;  // bytes: of alignment; of pattern before a block

void fill(uint64_t start, uint64_t limit) {
  for (uint64_t at = start; at < limit; at++) *reinterpret_cast<uint8_t*>(at) = kBeside;
}

// The first byte that is another now; `limit` if there is none.
uint64_t find_other(uint64_t start, uint64_t limit) {
  while (start < limit && *reinterpret_cast<const uint8_t*>(start) == kBeside) start++;
  return start;
}

uint64_t pattern_start(const GuardedBlock& block) {
  return block.start - block.slot > kMaxBefore ? block.start - kMaxBefore : block.slot;
}

// The last block whose slot begins at the address or below; null: none.
GuardedBlock* block_below(uint64_t address) {
  uint32_t low = 0, high = g_state.count;
  GuardedBlock* const blocks = g_state.tables->guarded;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (blocks[middle].slot <= address) low = middle + 1;
    else high = middle;
  }
  return low ? &blocks[low - 1] : nullptr;
}

Misuse misuse_of(Kind kind, uint64_t address, const GuardedBlock& block) {
  Misuse misuse;
  misuse.kind = kind;
  misuse.address = address;
  misuse.has_block = true;
  misuse.start = block.start;
  misuse.size = block.size;
  misuse.allocated = block.allocated;
  if (block.is_free) misuse.freed = block.freed;
  return misuse;
}

// What the pattern beside a block in use says. A block without bytes has pages without rights.
Misuse look_beside(const GuardedBlock& block) {
  Misuse misuse;
  if (!block.size) return misuse;
  const uint64_t end = block.start + block.size;
  uint64_t other = find_other(end, block.limit());
  if (other < block.limit()) misuse = misuse_of(Kind::kOverflow, other, block);
  other = find_other(pattern_start(block), block.start);
  if (other < block.start) misuse = misuse_of(Kind::kUnderflow, other, block);
  misuse.is_late = true;
  return misuse;
}

uint64_t distance_to(const GuardedBlock& block, uint64_t address) {
  if (address < block.start) return block.start - address;
  const uint64_t end = block.start + block.size;
  return address < end ? 0 : address - end;
}

}  // namespace

uint64_t allocate(size_t size, size_t alignment, const Standing& by, uint32_t task, Read read) {
  if (alignment < kLeast) alignment = kLeast;
  const uint64_t least = size ? size : 1;
  uint64_t rounded;
  if (__builtin_add_overflow(least, alignment - 1, &rounded) || rounded > g_state.region.size())
    return 0;
  rounded &= ~(uint64_t{alignment} - 1);
  const bool starts_slot = alignment > kPageSize;
  const uint64_t slot =
      starts_slot ? (g_state.next + alignment - 1) & ~(uint64_t{alignment} - 1) : g_state.next;
  const uint64_t pages = page_up(starts_slot ? least : rounded);
  if (g_state.count == kMaxBlocks || slot < g_state.next || slot > g_state.region.limit ||
      g_state.region.limit - slot < pages + kPageSize)
    return 0;
  // The kernel may have no mappings left for this process.
  if (size && sys::failed(sys::protect(slot, pages, PROT_READ | PROT_WRITE))) return 0;
  GuardedBlock& block = g_state.tables->guarded[g_state.count++];
  block.slot = slot;
  block.start = starts_slot ? slot : slot + pages - rounded;
  block.size = size;
  block.is_free = false;
  block.allocated.task = task;
  find_calls(by, false, block.allocated, read);
  if (size) {
    fill(pattern_start(block), block.start);
    fill(block.start + size, block.limit());
  }
  g_state.next = slot + pages + kPageSize;
  g_state.live++;
  g_state.counts.guarded++;
  return block.start;
}

Misuse free(uint64_t address, const Standing& by, uint32_t task, Read read) {
  GuardedBlock* const block = block_below(address);
  if (!block) {
    Misuse misuse;
    misuse.kind = Kind::kInvalidFree;
    misuse.address = address;
    return misuse;
  }
  if (address != block->start) return misuse_of(Kind::kInvalidFree, address, *block);
  if (block->is_free) return misuse_of(Kind::kDoubleFree, address, *block);
  const Misuse misuse = look_beside(*block);
  if (misuse.kind != Kind::kNone) return misuse;
  if (block->size) {
    sys::map_anonymous(block->limit() - block->slot, PROT_NONE, block->slot, MAP_FIXED);
  }
  block->is_free = true;
  block->freed.task = task;
  find_calls(by, false, block->freed, read);
  g_state.live--;
  return {};
}

bool find_size(uint64_t address, size_t& size) {
  const GuardedBlock* const block = block_below(address);
  if (!block || block->start != address || block->is_free) return false;
  size = block->size;
  return true;
}

Range find_block(uint64_t address) {
  const GuardedBlock* const block = is_in_region(address) ? block_below(address) : nullptr;
  if (!block) return {};
  const Range found{block->start, block->start + block->size};
  return found.contains(address) ? found : Range{};
}

Misuse judge_access(uint64_t address) {
  // Far behind the last slot nobody has a block: the program's pointer is wild.
  if (!is_in_region(address) || address >= g_state.next + kPageSize) return {};
  const GuardedBlock* const blocks = g_state.tables->guarded;
  const GuardedBlock* nearest = block_below(address);
  const GuardedBlock* const after = nearest ? nearest + 1 : blocks;
  if (after < blocks + g_state.count &&
      (!nearest || distance_to(*after, address) < distance_to(*nearest, address)))
    nearest = after;
  if (!nearest) return {};
  if (nearest->is_free) return misuse_of(Kind::kUseAfterFree, address, *nearest);
  if (address < nearest->start) return misuse_of(Kind::kUnderflow, address, *nearest);
  // Within its own rights only an instruction fetch faults, which is the program's own affair.
  if (distance_to(*nearest, address) == 0 && nearest->size &&
      address < nearest->start + nearest->size)
    return {};
  return misuse_of(Kind::kOverflow, address, *nearest);
}

Misuse look_at_all() {
  if (!g_is_on) return {};
  for (uint32_t i = 0; i < g_state.count; i++) {
    const GuardedBlock& block = g_state.tables->guarded[i];
    if (block.is_free) continue;
    const Misuse misuse = look_beside(block);
    if (misuse.kind != Kind::kNone) return misuse;
  }
  return look_at_held();
}

}  // namespace weir::guard
