// The deterministic heap: one heap for each task, in program memory, without a lock.
// Implemented in config.cc, exchange.cc, find.cc and heap.cc.
//
// Addresses depend only on the calls that a task makes itself, and on the objects that other tasks
// gave back to it at events. A task writes only its own heap's metadata. An object that is freed by
// a task that does not own it waits in a list of the freeing task until heap_exchange, which the
// runtime calls at that task's events.
//
// Layout of the reserved range:
//   | Heap 0 | Heap 1 | ... | Heap 1023 | (gap) | segment 0 | segment 1 | ...
// Segments are 64 MiB, aligned to their size. The segment map (which heap owns which segment) is in
// the runtime's memory.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"

namespace weir {

inline constexpr uint32_t kMaxHeaps = 1024;
inline constexpr uint64_t kSegmentBits = 26;
inline constexpr uint64_t kSegmentSize = uint64_t{1} << kSegmentBits;
inline constexpr uint32_t kMaxSegments = 1u << 15;  // 2 TiB

// Shared: one for the process, in runtime memory that every task sees at the same address; zeros at
// first. owner[s] is written by the heap that got segment s before any pointer into s can reach
// another task.
struct HeapShared {
  // Heap_take_segments: under the runtime's turn, or while there is one task.
  uint64_t next_segment;
  uint32_t owner[kMaxSegments];
};

struct HeapConfig {
  Range reserve;  // readable, writable, zero until first written; page-aligned
  // Memory that the heaps share. Null: heap.cc's own, for a process whose runtime memory is the
  // library's data.
  HeapShared* shared;
  // `heap` needs `segments` consecutive ones. An event where tasks are active; ends in
  // heap_take_segments. Null: that.
  bool (*grow)(uint32_t heap, size_t segments, uint64_t* start);
  // Releases the pages of `range`, which hold nothing any more. Returns true if they read as zeros
  // from now on, and false if nothing was done. Null: pages are never released.
  bool (*release)(Range range);
};

// Returns where the heap lies. The first allocation of the process calls it once. config.cc has the
// weak default (anonymous memory at a fixed address); the runtime may define its own.
HeapConfig heap_config();

// Returns false if the reserve has no room for a segment; then nothing can be allocated. REQUIRES:
// one task, nothing allocated yet.
bool heap_init(const HeapConfig& config);
bool heap_ready();

// The default of HeapConfig::grow without the event: the next `segments` segments, in order.
bool heap_take_segments(size_t segments, uint64_t* start);

// The heap table and every segment handed out so far, for a runtime that must know what is in use.
Range heap_table_range();
Range heap_segment_range();

// True once threads are tasks, with %gs set; until then everything is heap 0's. The runtime sets
// it.
extern bool g_tasks_active;
// Whose heap is used while there is one task: 0, in a forked child the heap of the task that forked
// (the others' may have been copied in the middle of an operation). Private to the process.
extern uint32_t g_single_heap;

inline uint32_t current_heap_index() {
  if (!g_tasks_active) return g_single_heap;
  uint32_t index;
  asm volatile("movl %%gs:0x38,%0" : "=r"(index));
  return index;
}

// All of these return null if memory is exhausted (errno untouched). `size` may be 0. REQUIRES:
// self < kMaxHeaps.
void* heap_allocate(uint32_t self, size_t size);
void* heap_allocate_zeroed(uint32_t self, size_t size);
void* heap_allocate_aligned(uint32_t self, size_t alignment,
                            size_t size);                     // alignment: a power of two
void* heap_resize(uint32_t self, void* object, size_t size);  // object: heap_owns(object)
void heap_free(uint32_t self, void* object);                  // object: heap_owns(object)
size_t heap_usable_size(const void* object);

// The block, in use or free, that the address lies in: its usable bytes; empty where it lies in
// none. `see`: where the heap's own data are read that it has at an address of the program's.
Range heap_find(uint64_t address, const void* (*see)(uint64_t));

// The address lies in the segment area (the object may still be invalid; that is reported where it
// is used).
bool heap_owns(const void* object);

// Whose heap the object is of. REQUIRES: heap_owns(object), and it was allocated.
uint32_t heap_owner(const void* object);

// Gives the memory of free pages back to the kernel. Returns true if there was some.
bool heap_trim(uint32_t self);

// Bytes of segments owned; for figures only.
uint64_t heap_footprint(uint32_t self);

// Moves what `self` freed for others to their owners, and takes over what others freed for it.
// `shared_view` translates a program address into the runtime's shared view of it (identity where
// memory is direct). REQUIRES: the global turn; everything that self wrote is published and its
// private copies are dropped. Cheap where there is nothing to do; does nothing where it interrupts
// self inside a critical part of the heap.
void heap_exchange(uint32_t self, void* (*shared_view)(uint64_t address));

}  // namespace weir
