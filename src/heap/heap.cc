// How an object is found, given out and taken back.
//
// The problem. In the isolated View every page that a task writes costs a copy, a diff and
// microseconds, and a lock in the allocator would be an event. So a heap belongs to one task, and
// its common paths write only the heap's first page and the object itself.
//
// Small objects (up to 16 KiB) come, in this order, from
//   1. the class's list of freed objects, last freed first: their pages are the likeliest to be
//      copied already;
//   2. the class's bump range: objects of the newest span that have not been used, which need no
//      list to be written;
//   3. objects that other tasks gave back (drain), then a span's own list of free objects, taken
//      whole;
//   4. a new span of pages.
// A list that grows long hands its older half to the objects' spans. A span whose objects are all
// there becomes free pages for any use. Medium objects are runs of pages (span.cc), large ones runs
// of segments (large.cc).
//
// An object of another heap goes back to it by way of exchange.cc.
//
// Invariants:
//  1. A task writes metadata of its own heap and segments only. (checked in settle)
//  2. HeapConfig::grow and release may be events, in which objects come back. So nothing that an
//     exchange changes is held across them, and Heap::busy is 0. (checked in take_run)
//  3. The key of an object that the program holds was cleared when it was handed out. So a key that
//     says "free" is a double free, unless the program copied it; a walk through the lists decides
//     that. (not checkable: the program may write to an object that it has freed)
#include "heap/heap.h"

#include <stdlib.h>
#include <string.h>

#include "heap/layout.h"
#include "sys/report.h"

namespace weir {

constinit bool g_tasks_active = false;
constinit uint32_t g_single_heap = 0;

namespace heap {

constinit Place g_place = {};

namespace {

constexpr uint32_t kWalkMax = 1u << 16;
constexpr size_t kDrainStep = 256;

inline bool unlikely(bool value) { return __builtin_expect(value, 0); }

constinit HeapShared g_own_shared = {};

Span* small_span(Segment* segment, uint32_t page) {
  return &segment->spans[page - (segment->kind[page] >> 8)];
}

void list_span(Heap& heap, uint32_t index, Span* span) {
  span->next = heap.partial[index];
  span->previous = nullptr;
  if (span->next != nullptr) span->next->previous = span;
  heap.partial[index] = span;
  span->listed = 1;
}

void unlist_span(Heap& heap, uint32_t index, Span* span) {
  if (span->next != nullptr) span->next->previous = span->previous;
  if (span->previous != nullptr) span->previous->next = span->next;
  else heap.partial[index] = span->next;
  span->listed = 0;
}

// Puts a free object back into its span.
void settle(uint32_t self, Heap& heap, uint32_t index, uint64_t address) {
  WEIR_DEBUG_CHECK(own_object(self, address));  // invariant 1 of heap.cc
  Segment* segment = segment_of(address);
  uint32_t page = page_in_segment(address);
  if (unlikely((segment->kind[page] & 0xff) != index + 1))
    heap_corrupt("malloc(): corrupted free list", address);
  Span* span = small_span(segment, page);
  node_at(address)->next = span->free_objects;
  span->free_objects = address;
  const SizeClass& of = kTable.of[index];
  if (++span->free_count == of.capacity) {
    if (span->listed) unlist_span(heap, index, span);
    uint32_t first = static_cast<uint32_t>(span - segment->spans);
    memset(&segment->kind[first], 0, of.pages * sizeof segment->kind[0]);
    give_pages(self, segment, first, of.pages);
  } else if (!span->listed) {
    list_span(heap, index, span);
  }
}

// The class's list grew by all that it may: its older part goes back to the spans.
[[gnu::noinline]] void shorten(uint32_t self, Heap& heap, uint32_t index) {
  SmallClass& small = heap.small[index];
  const SizeClass& of = kTable.of[index];
  int32_t half = of.cache / 2;
  Node* last = node_at(small.head);
  for (int32_t i = 1; i < half && last->next != 0; ++i) last = node_at(last->next);
  uint64_t rest = last->next;
  uint64_t tail = rest;
  // What goes back is cut out first, so that the lists are whole at every step. It may be more than
  // came in since the last time: a span's list that was taken whole shrinks again, and no old
  // object stays at the end for ever.
  int32_t count = 0;
  while (tail != 0 && count < of.cache) {
    if (unlikely(!own_object(self, tail))) heap_corrupt("free(): corrupted free list", tail);
    tail = node_at(tail)->next;
    ++count;
  }
  last->next = tail;
  small.room = half;
  for (; count > 0; --count) {
    uint64_t next = node_at(rest)->next;
    settle(self, heap, index, rest);
    rest = next;
  }
}

inline void* pop(SmallClass& small, Node* node) {
  uint64_t next = node->next;
  if (unlikely((next & 15) != 0 || (next != 0 && !in_segments(next)))) {
    heap_corrupt("malloc(): corrupted free list", address_of(node));
  }
  small.head = next;
  ++small.room;
  node->key = 0;
  return node;
}

inline void* take_bump(SmallClass& small, uint32_t size) {
  uint64_t address = small.bump;
  small.bump = address + size;
  if (!small.zero) node_at(address)->key = 0;
  return reinterpret_cast<void*>(address);
}

bool take_span_list(Heap& heap, uint32_t index) {
  Span* span = heap.partial[index];
  if (span == nullptr) return false;
  unlist_span(heap, index, span);
  SmallClass& small = heap.small[index];
  small.head = span->free_objects;
  small.room = kTable.of[index].cache;
  span->free_objects = 0;
  span->free_count = 0;
  return true;
}

bool open_span(uint32_t self, Heap& heap, uint32_t index) {
  const SizeClass& of = kTable.of[index];
  Pages pages = take_pages(self, of.pages, 1, static_cast<uint16_t>(kSmallFirst + index));
  if (pages.start == 0) return false;
  SmallClass& small = heap.small[index];
  small.bump = pages.start;
  small.bump_limit = pages.start + uint64_t{of.capacity} * of.size;
  small.zero = pages.dirty == 0;
  return true;
}

// REQUIRES: the class has neither free objects nor a bump range. True: now it has.
[[gnu::noinline]] bool refill(uint32_t self, Heap& heap, uint32_t index) {
  SmallClass& small = heap.small[index];
  if (drain(self, kDrainStep) && small.head != 0) return true;
  if (take_span_list(heap, index)) return true;
  if (drain(self, ~size_t{0}) && (small.head != 0 || take_span_list(heap, index))) return true;
  return open_span(self, heap, index);
}

// `*fresh`: the object is known to hold zeros.
inline void* take_small(uint32_t self, uint32_t index, bool* fresh) {
  Heap& heap = heap_at(self);
  SmallClass& small = heap.small[index];
  for (;;) {
    if (small.head != 0) {
      *fresh = false;
      return pop(small, node_at(small.head));
    }
    if (small.bump != small.bump_limit) {
      *fresh = small.zero;
      return take_bump(small, kTable.of[index].size);
    }
    if (unlikely(!refill(self, heap, index))) return nullptr;
  }
}

// More than kSmallMax bytes. `*dirty`: bytes from the start that may not be zero.
[[gnu::noinline]] void* take_big(uint32_t self, size_t alignment, size_t size, size_t* dirty) {
  if (size > PTRDIFF_MAX - 2 * kSegmentSize || alignment > kSegmentSize << 8) return nullptr;
  drain(self, kDrainStep);
  if (size > kMediumMax || alignment > kMediumMax / 2) {
    LargeObject object = take_large(self, alignment, size);
    *dirty = object.touched;
    return reinterpret_cast<void*>(object.address);
  }
  auto pages = static_cast<uint32_t>(page_up(size) / kPageSize);
  auto alignment_pages = static_cast<uint32_t>(page_up(alignment) / kPageSize);
  Pages got = take_pages(self, pages, alignment_pages, kMedium);
  *dirty = uint64_t{got.dirty} * kPageSize;
  return reinterpret_cast<void*>(got.start);
}

// Is the object really in a list of free ones? Its key says so.
[[gnu::noinline]] void check_double_free(Heap& heap, uint32_t index, uint64_t address, Span* span) {
  const uint64_t lists[] = {heap.small[index].head, span->free_objects};
  for (uint64_t at : lists) {
    for (uint32_t i = 0; at != 0 && i < kWalkMax; ++i) {
      if (at == address) heap_corrupt("free(): double free detected", address);
      if (!in_segments(at)) break;
      at = node_at(at)->next;
    }
  }
}

inline void free_small(uint32_t self, Heap& heap, uint32_t index, uint64_t address) {
  SmallClass& small = heap.small[index];
  Node* node = node_at(address);
  node->next = small.head;
  node->key = kFreeKey;
  small.head = address;
  if (unlikely(--small.room < 0)) shorten(self, heap, index);
}

[[gnu::noinline]] void free_run(uint32_t self, uint64_t address) {
  Segment* run = run_of(address);
  if (run->state != kLarge) heap_corrupt("free(): double free detected", address);
  if (reinterpret_cast<uint64_t>(run) + run->data != address)
    heap_corrupt("free(): invalid pointer", address);
  give_large(self, run);
}

// REQUIRES: the segment is self's.
inline void free_own(uint32_t self, uint64_t address, uint32_t entry, bool drained) {
  if (unlikely(entry & (kRunFirst | kRunRest))) return free_run(self, address);
  Segment* segment = segment_of(address);
  uint32_t page = page_in_segment(address);
  uint32_t kind = segment->kind[page];
  uint32_t index = (kind & 0xff) - 1;
  if (index < kClasses) {
    uint32_t first = page - (kind >> 8);
    uint64_t offset = (address & (kSegmentSize - 1)) - uint64_t{first} * kPageSize;
    if (unlikely(!object_begins_at(kTable.of[index], offset)))
      heap_corrupt("free(): invalid pointer", address);
    Heap& heap = heap_at(self);
    if (unlikely(node_at(address)->key == kFreeKey))
      check_double_free(heap, index, address, &segment->spans[first]);
    return free_small(self, heap, index, address);
  }
  if (kind != kMedium || (address & (kPageSize - 1)) != 0) {
    heap_corrupt(drained ? "free(): double free or invalid pointer" : "free(): invalid pointer",
                 address);
  }
  uint32_t pages = segment->spans[page].pages;
  segment->kind[page] = kNothing;
  segment->kind[page + pages - 1] = kNothing;
  give_pages(self, segment, page, pages);
}

// Small objects, word by word: usable sizes are multiples of 16, and the general string
// instructions start slowly.
void zero_words(void* object, size_t size) {
  auto* at = static_cast<volatile uint64_t*>(object);
  for (size_t i = 0; i < (size + 7) / 8; ++i) at[i] = 0;
}

void copy_words(void* to, const void* from, size_t size) {
  auto* out = static_cast<volatile uint64_t*>(to);
  auto* in = static_cast<const uint64_t*>(from);
  for (size_t i = 0; i < (size + 7) / 8; ++i) out[i] = in[i];
}

constexpr size_t kWordsMax = 512;  // bytes; above, the string instructions win

// Small enough to stay where it is although less would do.
bool worth_keeping(size_t size, size_t usable) {
  return size <= usable && size >= usable - usable / 2;
}

bool resize_in_place(uint32_t self, uint64_t address, uint32_t entry, size_t size, size_t usable) {
  if (entry & (kRunFirst | kRunRest)) {
    if (size <= kMediumMax / 2) return false;
    if ((entry & kOwnerMask) != self + 1) return size <= usable;
    Segment* run = run_of(address);
    if (size > usable) {
      if (size > (run->segments << kSegmentBits) - run->data) return false;
      run->touched = run->data + page_up(size);
      return true;
    }
    if (worth_keeping(size, usable)) return true;
    uint64_t start = reinterpret_cast<uint64_t>(run);
    uint64_t touched = page_up(run->data + size);
    if (g_place.release == nullptr ||
        !g_place.release(Range{start + touched, start + run->touched}))
      return true;
    run->touched = touched;
    return true;
  }
  Segment* segment = segment_of(address);
  uint32_t page = page_in_segment(address);
  if (segment->kind[page] != kMedium) {
    return worth_keeping(size, usable) ||
           (size <= kSmallMax && kTable.of[class_of(size)].size == usable);
  }
  if (size <= kSmallMax || size > kMediumMax) return false;
  if (entry != self + 1) return size <= usable;
  Span& span = segment->spans[page];
  auto wanted = static_cast<uint32_t>(page_up(size) / kPageSize);
  uint32_t had = span.pages;
  if (wanted > had) return extend_pages(self, segment, page, had, wanted);
  if (wanted < had) {
    segment->kind[page + had - 1] = kNothing;
    if (wanted > 1) segment->kind[page + wanted - 1] = kMediumRest;
    span.pages = wanted;
    give_pages(self, segment, page + wanted, had - wanted);
  }
  return true;
}

}  // namespace

void heap_corrupt(const char* what, uint64_t address) {
  report("%s: 0x%x", what, address);
  abort();
}

void free_drained(uint32_t self, uint64_t address) {
  free_own(self, address, owner_entry(address), true);
}

}  // namespace heap

using namespace heap;

bool heap_init(const HeapConfig& config) {
  Place place = {};
  place.table = page_up(config.reserve.start);
  uint64_t table_limit = place.table + kMaxHeaps * sizeof(Heap);
  place.segments = (table_limit + kSegmentSize - 1) & ~(kSegmentSize - 1);
  if (config.reserve.limit >= place.segments + kSegmentSize) {
    place.segments_size = (config.reserve.limit - place.segments) & ~(kSegmentSize - 1);
  }
  if (place.segments_size > kMaxSegments * kSegmentSize)
    place.segments_size = kMaxSegments * kSegmentSize;
  place.shared = config.shared != nullptr ? config.shared : &g_own_shared;
  place.grow = config.grow;
  place.release = config.release;
  g_place = place;
  return place.segments_size != 0;
}

bool heap_ready() { return g_place.table != 0; }

bool heap_take_segments(size_t segments, uint64_t* start) {
  HeapShared& shared = *g_place.shared;
  uint64_t limit = g_place.segments_size >> kSegmentBits;
  if (segments > limit || shared.next_segment > limit - segments) return false;
  *start = g_place.segments + (shared.next_segment << kSegmentBits);
  shared.next_segment += segments;
  return true;
}

Range heap_table_range() {
  if (!heap_ready()) return {};  // a program with an allocator of its own
  return {g_place.table, g_place.table + kMaxHeaps * sizeof(Heap)};
}

Range heap_segment_range() {
  if (!heap_ready()) return {};
  return {g_place.segments, g_place.segments + (g_place.shared->next_segment << kSegmentBits)};
}

bool heap_owns(const void* object) { return in_segments(address_of(object)); }

uint32_t heap_owner(const void* object) {
  return (owner_entry(address_of(object)) & kOwnerMask) - 1;
}

void* heap_allocate(uint32_t self, size_t size) {
  if (__builtin_expect(size <= kSmallMax, 1)) {
    bool fresh;
    return take_small(self, class_of(size), &fresh);
  }
  size_t dirty;
  return take_big(self, 1, size, &dirty);
}

void* heap_allocate_zeroed(uint32_t self, size_t size) {
  if (size <= kSmallMax) {
    bool fresh = false;
    uint32_t index = class_of(size);
    void* object = take_small(self, index, &fresh);
    if (object == nullptr || fresh) return object;
    if (size <= kWordsMax) zero_words(object, size);
    else memset(object, 0, size);
    return object;
  }
  size_t dirty = 0;
  void* object = take_big(self, 1, size, &dirty);
  if (object != nullptr && dirty != 0) memset(object, 0, dirty < size ? dirty : size);
  return object;
}

void* heap_allocate_aligned(uint32_t self, size_t alignment, size_t size) {
  if (size <= kSmallMax && alignment <= kPageSize) {
    // Objects lie at multiples of their size from a page boundary: a size that is a multiple of the
    // alignment does.
    size_t rounded = size == 0 ? alignment : (size + alignment - 1) & ~(alignment - 1);
    for (uint32_t index = rounded <= kSmallMax ? class_of(rounded) : kClasses; index < kClasses;
         ++index) {
      if ((kTable.of[index].size & (alignment - 1)) != 0) continue;
      bool fresh;
      return take_small(self, index, &fresh);
    }
  }
  size_t dirty;
  return take_big(self, alignment, size == 0 ? 1 : size, &dirty);
}

void heap_free(uint32_t self, void* object) {
  uint64_t address = address_of(object);
  uint32_t entry = owner_entry(address);
  if (__builtin_expect((entry & kOwnerMask) == self + 1, 1))
    return free_own(self, address, entry, false);
  if (entry == 0) heap_corrupt("free(): invalid pointer", address);
  free_for_owner(self, address, (entry & kOwnerMask) - 1);
}

size_t heap_usable_size(const void* object) {
  uint64_t address = address_of(object);
  uint32_t entry = owner_entry(address);
  if (entry & (kRunFirst | kRunRest)) {
    Segment* run = run_of(address);
    if (run->state == kLarge && reinterpret_cast<uint64_t>(run) + run->data == address)
      return run->touched - run->data;
  } else if (entry != 0) {
    Segment* segment = segment_of(address);
    uint32_t page = page_in_segment(address);
    uint32_t index = uint32_t{segment->kind[page]} % 256 - 1;
    if (index < kClasses) return kTable.of[index].size;
    if (segment->kind[page] == kMedium) return uint64_t{segment->spans[page].pages} * kPageSize;
  }
  heap_corrupt("malloc: invalid pointer", address);
}

void* heap_resize(uint32_t self, void* object, size_t size) {
  size_t usable = heap_usable_size(object);
  uint64_t address = address_of(object);
  if (resize_in_place(self, address, owner_entry(address), size, usable)) return object;
  void* moved = heap_allocate(self, size);
  if (moved == nullptr) return nullptr;
  size_t copied = size < usable ? size : usable;
  if (copied <= kWordsMax) copy_words(moved, object, copied);
  else memcpy(moved, object, copied);
  heap_free(self, object);
  return moved;
}

bool heap_trim(uint32_t self) {
  drain(self, ~size_t{0});
  return release_free_pages(self);
}

uint64_t heap_footprint(uint32_t self) { return heap_at(self).footprint << kSegmentBits; }

}  // namespace weir
