// What guarded and marked blocks are kept in. Private to the process: a forked child has a copy.
// Implemented in guard.cc and marked_blocks.cc.
#pragma once

#include "heap/guard/guard.h"
#include "heap/heap.h"

namespace weir::guard {

inline constexpr uint32_t kMaxBlocks = 1u << 17;  // guarded, ever
// Of these in use: each takes two mappings of the kernel's, which allows 65,530 by default.
inline constexpr uint32_t kMaxLive = 8192;
inline constexpr uint32_t kSites = 1u << 12;
// Marked blocks in quarantine, of all heaps and of one. Each heap has its own: a block that leaves
// goes back to its owner at once if the owner frees, as it would without a quarantine.
inline constexpr uint32_t kMaxHeld = 1u << 15, kMaxHeldOfHeap = 1u << 13;
inline constexpr uint64_t kMaxHeldBytes = uint64_t{32} << 20,
                          kMaxHeldBytesOfHeap = uint64_t{4} << 20;
inline constexpr size_t kMaxHeldSize = 1 << 20;  // a larger one is not kept

struct GuardedBlock {  // in order of address
  uint64_t slot;       // its first page
  uint64_t start, size;
  bool is_free;
  CallStack allocated, freed;

  uint64_t limit() const {
    const uint64_t limit = page_up(start + size);
    return limit > slot ? limit : slot + kPageSize;
  }
};

struct HeldBlock {
  uint64_t address;
  uint32_t usable, size;
  uint32_t next;              // the one that was freed after it, or the next free entry; + 1
  uint64_t allocated, freed;  // where | task << 48
};

struct Quarantine {      // of one heap
  uint32_t first, last;  // + 1; 0: it is empty
  uint32_t count;
  uint64_t bytes;
};

struct Site {
  uint64_t key;
  uint64_t units;  // blocks so far, large ones several times
};

struct Tables {
  GuardedBlock guarded[kMaxBlocks];
  HeldBlock held[kMaxHeld];
  Quarantine quarantines[kMaxHeaps];
  Site sites[kSites];
};

struct State {
  Tables* tables = nullptr;
  Range region;
  uint64_t next = 0;  // the next slot
  uint32_t count = 0, live = 0;
  uint32_t entries = 0;     // of `held` that were ever used
  uint32_t free_entry = 0;  // + 1
  uint64_t held_bytes = 0;
  Counts counts;
};
extern State g_state;

// What the patterns of the quarantine say.
Misuse look_at_held();

}  // namespace weir::guard
