// Windows: pages of program memory that show pages of the backing, any number of them the same
// page. So each small object has a virtual page of its own, with rights of its own, and shares
// physical memory with others (PUSh, section 3.4). Each object lies at its own place in the page.
//
// Before there are tasks all windows are mapped. Afterwards each process maps what it may touch
// (memory/demand.h maps and drops), and a task that touches another window gets SIGSEGV. One window
// is one mapping of the kernel, and a process may have 65530 of them. A process that has
// kMaxMapped begins anew.
//
// Blocks are rounded up to a size class. A freed block waits until others of its class have been
// freed, so that a task that still uses it is found.
#pragma once

#include <stdint.h>

#include "control/control.h"
#include "sys/spinlock.h"

namespace weir::page::windows {

inline constexpr uint32_t kMax = kWindowsSize / kPageSize;
inline constexpr uint64_t kMaxSmall = 2048;  // larger ones have pages of their own
inline constexpr uint32_t kMaxMapped = 30000;
inline constexpr uint32_t kClasses = 14;
inline constexpr uint32_t kMaxRuns = 1024;

// Shared: in control memory; a forked child gets a copy. Layout: what is used is at its beginning.
struct Table {
  struct Entry {
    uint32_t backing_page;  // + 1; 0: no window
    uint32_t next;          // of a free list, index + 1
    uint16_t place;         // of the block in its page
    uint16_t size_class;
  };
  struct Class {
    uint32_t page, left;  // of the backing, where the next new block lies; blocks that still fit
    uint32_t first, last, free;
  };
  struct Run {
    uint32_t start, count;
  };
  SpinLock lock;
  uint32_t used;      // windows taken so far
  uint32_t separate;  // of these, such as are a mapping of their own
  uint32_t run_count;
  uint64_t chunk, chunk_limit;  // pages of the backing that are to be used
  Class classes[kClasses];
  Run runs[kMaxRuns];  // windows that are free again
  Entry entries[kMax];
};
static_assert(sizeof(Table) <= kWindowTableSize);

inline Table& table() { return *reinterpret_cast<Table*>(kWindowTable); }
inline bool contains(uint64_t address) { return address - kWindows < kWindowsSize; }
inline uint32_t index_of(uint64_t address) {
  return static_cast<uint32_t>((address - kWindows) / kPageSize);
}
uint64_t table_used();  // bytes

// Returns the address in the shared view. If the address is in no window, shared_view_of() returns
// it as it is, and extent() returns 0.
uint64_t shared_view_of(uint64_t address);
uint64_t extent(uint64_t address);  // contiguous in windows and in the backing
inline bool shows(uint64_t address) { return table().entries[index_of(address)].backing_page; }

// Returns a block of at most kMaxSmall bytes, the only one in its window, or 0 if there is no
// room.
uint64_t allocate(uint64_t size);
void free(uint64_t address);
uint64_t size_of(uint64_t address);  // as allocated, rounded up
uint64_t rounded(uint64_t size);     // REQUIRES: at most kMaxSmall
// `count` consecutive windows, which show nothing yet, or 0 if there is no room.
uint64_t take_run(uint32_t count);
void free_run(uint64_t start,
              uint32_t count);  // they go on showing what they show, until they are taken again
// `count` windows show consecutive pages of the backing, that at the address of the arena and those
// after it.
void show(uint64_t window, uint64_t arena, uint32_t count);

// In this process. Pages that are mapped already get these rights.
void map(uint64_t start, uint64_t size, bool to_write);
void unmap(uint64_t start, uint64_t size);
void map_all();
void unmap_all();

}  // namespace weir::page::windows
