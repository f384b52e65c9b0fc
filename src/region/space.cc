// A block's class says its size: (4 + class % 4) << (class / 4) bytes, from 16 bytes on. Small
// blocks are cut from slabs of their class, so that each is aligned as its size allows, and one of
// a page or more consists of whole pages. One byte more is asked for than a region has, so that a
// pointer just behind a region's end never points to another.
//
// The free lists lie outside of the file, since the program's pointers reach the file's bytes.

#include "region/space.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "region/state.h"

namespace weir::region {

namespace {

constexpr unsigned kClasses = 4 * 44;
constexpr uint64_t kSlab = 1u << 16, kLargest = uint64_t{1} << 44;

struct FreeBlock {
  FreeBlock* next;
  uint64_t offset;
};

// Guarded by: registry
struct Space {
  FreeBlock* free[kClasses];
  uint64_t slab[kClasses], slab_end[kClasses];
};
Space* g_space;

constexpr uint64_t size_of(unsigned block) { return uint64_t{4 + block % 4} << (block / 4); }
static_assert(size_of(40) == kPage);

unsigned class_for(uint64_t size) {
  unsigned block = 8;  // 16 bytes
  if (size > 16) block = (63u - static_cast<unsigned>(__builtin_clzl(size))) * 4 - 8;
  while (size_of(block) < size) block++;
  return block;
}

bool fits(unsigned block, uint64_t alignment) {
  const uint64_t size = size_of(block);
  return size % alignment == 0 && (size < kPage || size % kPage == 0);
}

// `is_dumped`: what lies there belongs into a core dump, and lies nowhere else.
uint64_t take_top(uint64_t size, uint64_t alignment, bool is_dumped) {
  State& state = *g_state;
  const uint64_t at = (state.top + alignment - 1) & ~(alignment - 1);
  if (size > (uint64_t{1} << state.shift) - kPage ||
      at > (uint64_t{1} << state.shift) - kPage - size)
    return 0;
  state.top = at + size;
  if (is_dumped)
    sys::raw(SYS_madvise, reinterpret_cast<long>(open_address(at)), static_cast<long>(size),
             MADV_DODUMP);
  return at;
}

// Bytes that another region had.
void clear(uint64_t offset, uint64_t size) {
  if (size >= 16 * kPage && !sys::raw(SYS_madvise, reinterpret_cast<long>(open_address(offset)),
                                      static_cast<long>(size), MADV_REMOVE))
    return;
  memset(open_address(offset), 0, size);
}

}  // namespace

int check_size(uint64_t size) {
  const uint64_t window = uint64_t{1} << g_state->shift;
  if (!size || size >= window) return EINVAL;
  return size > window / 2 ? ENOMEM : 0;
}

uint64_t take_space(uint64_t size, uint64_t alignment, uint8_t* block) {
  State& state = *g_state;
  if (!g_space && !(g_space = state.other.make<Space>())) return 0;
  if (size >= kLargest) return 0;
  unsigned kind = class_for(size + 1);
  while (!fits(kind, alignment)) kind++;
  *block = static_cast<uint8_t>(kind);
  const uint64_t whole = size_of(kind);
  if (FreeBlock* again = g_space->free[kind]) {
    const uint64_t offset = again->offset;
    g_space->free[kind] = again->next;
    state.other.drop(again);
    clear(offset, whole);
    return offset;
  }
  if (whole >= kPage) return take_top(whole, kPage, true);
  if (g_space->slab[kind] + whole > g_space->slab_end[kind] || !g_space->slab[kind]) {
    const uint64_t slab = take_top(kSlab, kPage, true);
    if (!slab) return 0;
    g_space->slab[kind] = slab;
    g_space->slab_end[kind] = slab + kSlab;
  }
  const uint64_t offset = g_space->slab[kind];
  g_space->slab[kind] += whole;
  return offset;
}

void give_space(uint64_t offset, uint8_t block) {
  FreeBlock* freed = g_state->other.make<FreeBlock>();
  if (!freed) return;  // lost
  if (size_of(block) >= 16 * kPage) {
    sys::raw(SYS_madvise, reinterpret_cast<long>(open_address(offset)),
             static_cast<long>(size_of(block)), MADV_REMOVE);
  }
  *freed = {g_space->free[block], offset};
  g_space->free[block] = freed;
}

uint64_t take_pages(uint64_t pages) { return take_top(pages * kPage, kPage, false); }

Range next_populated(uint64_t start, uint64_t limit) {
  if (!is_our_file()) return {start, limit};
  const auto seek = [](uint64_t from, int whence) {
    return sys::raw(SYS_lseek, g_state->file, static_cast<long>(from), whence);
  };
  const long data = seek(start, SEEK_DATA);
  if (data == -ENXIO) return {limit, limit};  // only holes follow
  if (data < 0) return {start, limit};
  const auto from = static_cast<uint64_t>(data);
  if (from >= limit) return {limit, limit};
  const long hole = seek(from, SEEK_HOLE);
  const uint64_t end = hole < 0 ? limit : static_cast<uint64_t>(hole);
  return {from, end < limit ? end : limit};
}

}  // namespace weir::region
