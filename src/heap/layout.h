// The heap's data structures in program memory. All zeros is the valid initial state of each.
// Implemented in exchange.cc, heap.cc, large.cc and span.cc.
#pragma once

#include "base/types.h"
#include "heap/heap.h"
#include "heap/size_class.h"

namespace weir::heap {

inline constexpr uint32_t kSegmentPages = kSegmentSize / kPageSize;
inline constexpr size_t kMediumMax = 32 << 20;  // larger objects get segments of their own

// The first words of a free object.
struct Node {
  uint64_t next;
  uint64_t key;  // kFreeKey while free; in the first node of an exchanged list: the next list
};
inline constexpr uint64_t kFreeKey = 0x8d3f27a1c6b05e49;

// A run of pages within a segment; its descriptor is the one of its first page (of a free run: also
// of its last, `pages`).
struct Span {
  union {
    uint64_t free_objects;  // small: list of Node
    struct {
      uint32_t pages;  // medium, free
      uint32_t dirty;  // free: the pages from here on are known to be zero
    };
  };
  Span* next;  // small: spans of the class that have free objects; free: spans of the bin
  Span* previous;
  uint32_t free_count;  // small
  uint32_t listed;      // small: is in its class's list
};
static_assert(sizeof(Span) == 32);

// What a page belongs to. Only first and last page of a free or medium span have a meaning; the
// rest is kNothing.
enum PageKind : uint16_t {
  kNothing = 0,
  kSmallFirst = 1,
  kSmallLast = kClasses,
  kMedium = 254,
  kMediumRest = 255
};
// small: the kind is class + 1, and the upper byte is the distance in pages to the span's first
// page.

// The start of a segment, or of a run of segments that holds one large object or is free.
struct Segment {
  uint64_t magic;
  uint32_t owner;
  uint32_t state;
  uint64_t segments;  // large, free run: how many
  uint64_t data;      // large: offset of the object
  uint64_t touched;  // large, free run: bytes from the start that may not be zero (kPageSize is the
                     // least)
  Segment* next;     // free run: in order of address
  uint64_t reserved[506];
  uint16_t kind[kSegmentPages];  // from here on: only in segments of spans
  Span spans[kSegmentPages];
};
static_assert(offsetof(Segment, kind) == kPageSize);
inline constexpr uint64_t kSegmentMagic = 0x746e656d67657357;
enum SegmentState : uint32_t { kSpans = 1, kLarge, kFreeRun };

inline constexpr uint32_t kFirstPage = sizeof(Segment) / kPageSize;
static_assert(sizeof(Segment) % kPageSize == 0);

// Values of HeapShared::owner: 0 nobody's, else heap + 1 and what the segment is.
inline constexpr uint32_t kOwnerMask = 0xffff;
inline constexpr uint32_t kRunFirst = 1u << 16;  // large object or free run: first segment
inline constexpr uint32_t kRunRest = 1u << 17;

inline constexpr uint32_t kExactBins = 32;
inline constexpr uint32_t kBins = kExactBins + 4 * 9 + 1;

struct SmallClass {
  uint64_t head;  // free objects, last freed first
  uint64_t bump;  // never used objects [bump, bump_limit)
  uint64_t bump_limit;
  int32_t room;   // frees until some objects go back to their spans
  uint32_t zero;  // [bump, bump_limit) is known to be zero
};

// Layout: what the common paths write lies in the first page.
struct alignas(kPageSize) Heap {
  SmallClass small[kClasses];
  uint64_t busy;      // self is inside a part that an exchange may not interrupt
  uint64_t incoming;  // Shared: lists of objects given back; written and read through the shared
                      // view only
  uint64_t pending;   // lists taken over, not yet sorted into spans
  uint64_t draining;  // rest of the list being sorted
  uint64_t outgoing_any;
  uint64_t outgoing_set[kMaxHeaps / 64];  // owners for whom outgoing[] has a list
  Span* partial[kClasses];
  uint64_t bin_set[2];
  Span* bins[kBins];
  Segment* free_runs;
  uint64_t dirty_pages;  // free pages not known to be zero
  uint64_t release_at;   // more dirty free pages than this: release the longer runs
  uint64_t window;       // pages that may become dirty until then
  uint64_t empty_segments;
  uint64_t footprint;  // segments
  uint64_t outgoing[kMaxHeaps];
};
static_assert(sizeof(Heap) == 3 * kPageSize && offsetof(Heap, outgoing) < kPageSize);

// Set once, while there is one task.
struct Place {
  uint64_t table;
  uint64_t segments;       // first address
  uint64_t segments_size;  // bytes
  HeapShared* shared;
  bool (*grow)(uint32_t heap, size_t segments, uint64_t* start);
  bool (*release)(Range range);
};
extern Place g_place;

inline Heap& heap_at(uint32_t index) { return reinterpret_cast<Heap*>(g_place.table)[index]; }
inline Segment* segment_of(uint64_t address) {
  return reinterpret_cast<Segment*>(address & ~(kSegmentSize - 1));
}
inline uint32_t page_in_segment(uint64_t address) {
  return (address & (kSegmentSize - 1)) / kPageSize;
}
inline uint32_t& owner_entry(uint64_t address) {
  return g_place.shared->owner[(address - g_place.segments) >> kSegmentBits];
}
inline bool in_segments(uint64_t address) {
  return address - g_place.segments < g_place.segments_size;
}

// Pages (span.cc). Null / 0: memory is exhausted.
struct Pages {
  uint64_t start = 0;
  uint32_t dirty = 0;  // the pages from here on are zero
};
Pages take_pages(uint32_t self, uint32_t pages, uint32_t alignment_pages, uint16_t kind);
void give_pages(uint32_t self, Segment* segment, uint32_t first, uint32_t pages);
bool extend_pages(uint32_t self, Segment* segment, uint32_t first, uint32_t pages, uint32_t wanted);
bool release_free_pages(uint32_t self);

// Runs of segments (large.cc).
struct LargeObject {
  uint64_t address = 0;
  uint64_t touched = 0;  // bytes from `address` on that may not be zero
};
LargeObject take_large(uint32_t self, size_t alignment, size_t size);
void give_large(uint32_t self, Segment* run);
Segment* run_of(
    uint64_t address);  // the run that holds the address, whose entry has kRunFirst or kRunRest
Segment* take_run(uint32_t self, size_t segments);
void give_run(uint32_t self, Segment* run, size_t segments, uint64_t touched);

inline Node* node_at(uint64_t address) { return reinterpret_cast<Node*>(address); }
inline uint64_t address_of(const void* object) { return reinterpret_cast<uint64_t>(object); }

// Objects of other heaps (exchange.cc).
void free_for_owner(uint32_t self, uint64_t address, uint32_t owner);
// Sorts objects that other tasks gave back, at most `budget` of them. Returns false if there were
// none.
bool drain(uint32_t self, size_t budget);
void free_drained(uint32_t self, uint64_t address);  // heap.cc: an object of self that came back

inline bool own_object(uint32_t self, uint64_t address) {
  return (address & 15) == 0 && in_segments(address) &&
         (owner_entry(address) & kOwnerMask) == self + 1;
}

// Says what is wrong on standard error and aborts the program, as malloc of glibc does.
[[noreturn]] void heap_corrupt(const char* what, uint64_t address);

}  // namespace weir::heap
