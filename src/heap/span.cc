// Free pages within segments.
//
// A free run of pages is described in the descriptor of its first page, and its length again in
// that of its last. So a run that is freed finds its free neighbours in two loads and joins them.
// Free runs are kept in bins by length: exact up to 32 pages, then four bins for each doubling. An
// allocation cuts the run of the smallest sufficient bin that was freed last.
//
// One number, `dirty`, remembers which pages hold zeros: from there on the run is zero. Fresh
// memory lies at the end of a segment, and used memory joins it from below, so one number loses
// little. Memory that the kernel holds for free pages is given back when the dirty part has grown
// by a window since the last time. The window grows with the sizes that the program frees, so a
// program that takes and frees a large buffer in a loop does not pay for it each time.
//
// A second wholly free segment leaves this level and becomes a run of segments for any use
// (large.cc).
#include <string.h>

#include "heap/layout.h"

namespace weir::heap {
namespace {

constexpr uint64_t kWindowLeast = (8u << 20) / kPageSize;
constexpr uint64_t kWindowMost = (64u << 20) / kPageSize;
constexpr uint32_t kReleaseLeast = 64;  // pages: less is not worth a call
constexpr uint32_t kMaxRunsSeen = 16;   // runs of the request's own bin that are looked at

uint32_t bin_of(uint32_t pages) {
  if (pages <= kExactBins) return pages - 1;
  uint32_t doubling = 31 - static_cast<uint32_t>(__builtin_clz(pages));
  return kExactBins + (doubling - 5) * 4 + ((pages >> (doubling - 2)) & 3);
}
static_assert(kBins <= 128);

// Puts a run into its bin and writes both its ends.
void insert(Heap& heap, Segment* segment, uint32_t first, uint32_t pages, uint32_t dirty) {
  Span* span = &segment->spans[first];
  uint32_t bin = bin_of(pages);
  segment->spans[first + pages - 1].pages = pages;
  span->pages = pages;
  span->dirty = dirty;
  span->previous = nullptr;
  span->next = heap.bins[bin];
  if (span->next != nullptr) span->next->previous = span;
  heap.bins[bin] = span;
  heap.bin_set[bin / 64] |= uint64_t{1} << bin % 64;
  heap.dirty_pages += dirty;
}

void remove(Heap& heap, Span* span) {
  uint32_t bin = bin_of(span->pages);
  if (span->next != nullptr) span->next->previous = span->previous;
  if (span->previous != nullptr) {
    span->previous->next = span->next;
  } else {
    heap.bins[bin] = span->next;
    if (span->next == nullptr) heap.bin_set[bin / 64] &= ~(uint64_t{1} << bin % 64);
  }
  heap.dirty_pages -= span->dirty;
}

// A free run of at least `pages`, still in its bin.
Span* find(Heap& heap, uint32_t pages) {
  uint32_t bin = bin_of(pages);
  Span* span = heap.bins[bin];
  for (uint32_t i = 0; span != nullptr && i < kMaxRunsSeen; ++i, span = span->next) {
    if (span->pages >= pages) return span;
  }
  for (++bin; bin < kBins; bin = (bin | 63) + 1) {
    uint64_t set = heap.bin_set[bin / 64] >> bin % 64;
    if (set != 0) return heap.bins[bin + static_cast<uint32_t>(__builtin_ctzll(set))];
  }
  return nullptr;
}

Segment* segment_of_span(Span* span) { return segment_of(reinterpret_cast<uint64_t>(span)); }

uint32_t after(uint32_t dirty, uint32_t pages) { return dirty > pages ? dirty - pages : 0; }
uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

bool add_segment(uint32_t self) {
  Segment* segment = take_run(self, 1);
  if (segment == nullptr) return false;
  auto start = reinterpret_cast<uint64_t>(segment);
  uint64_t touched = segment->touched;
  if (touched > kPageSize) memset(segment->kind, 0, sizeof segment->kind);
  segment->state = kSpans;
  owner_entry(start) = self + 1;
  auto touched_pages = static_cast<uint32_t>(page_up(touched) / kPageSize);
  Heap& heap = heap_at(self);
  insert(heap, segment, kFirstPage, kSegmentPages - kFirstPage, after(touched_pages, kFirstPage));
  ++heap.empty_segments;
  return true;
}

bool release_span(Heap& heap, Span* span) {
  if (g_place.release == nullptr || span->dirty == 0) return false;
  Segment* segment = segment_of_span(span);
  auto first = static_cast<uint32_t>(span - segment->spans);
  uint64_t start = reinterpret_cast<uint64_t>(segment) + uint64_t{first} * kPageSize;
  if (!g_place.release(Range{start, start + uint64_t{span->dirty} * kPageSize})) return false;
  heap.dirty_pages -= span->dirty;
  span->dirty = 0;
  return true;
}

// Releases the runs that are worth a call, and says when to look again.
void release_long_runs(Heap& heap, uint64_t window) {
  for (uint32_t bin = bin_of(kReleaseLeast); bin < kBins; ++bin) {
    for (Span* span = heap.bins[bin]; span != nullptr; span = span->next) {
      if (span->dirty >= kReleaseLeast) release_span(heap, span);
    }
  }
  heap.release_at = heap.dirty_pages + window;
}

// REQUIRES: the whole segment is one free run, not in a bin.
void retire_segment(uint32_t self, Segment* segment, uint32_t dirty) {
  give_run(self, segment, 1, uint64_t{kFirstPage + dirty} * kPageSize);
}

// Cuts [first, first + pages) out of a free run that was removed from its bin; the rest goes back.
uint32_t cut(Heap& heap, Segment* segment, Span run, uint32_t run_first, uint32_t first,
             uint32_t pages) {
  uint32_t before = first - run_first;
  uint32_t behind = run.pages - before - pages;
  if (run.pages == kSegmentPages - kFirstPage) --heap.empty_segments;
  if (before != 0) insert(heap, segment, run_first, before, smaller(run.dirty, before));
  if (behind != 0) insert(heap, segment, first + pages, behind, after(run.dirty, before + pages));
  return smaller(after(run.dirty, before), pages);
}

void mark(Segment* segment, uint32_t first, uint32_t pages, uint16_t kind) {
  Span& span = segment->spans[first];
  if (kind == kMedium) {
    span.pages = pages;
    segment->kind[first + pages - 1] = kMediumRest;
    segment->kind[first] = kMedium;
    return;
  }
  span = {};
  for (uint32_t i = 0; i < pages; ++i)
    segment->kind[first + i] = static_cast<uint16_t>(kind | i << 8);
}

}  // namespace

Pages take_pages(uint32_t self, uint32_t pages, uint32_t alignment_pages, uint16_t kind) {
  Heap& heap = heap_at(self);
  uint32_t enough = pages + alignment_pages - 1;
  Span* span = find(heap, enough);
  if (span == nullptr && drain(self, ~size_t{0})) span = find(heap, enough);
  if (span == nullptr) {
    if (!add_segment(self)) return {};
    span = find(heap, enough);
  }
  Segment* segment = segment_of_span(span);
  auto run_first = static_cast<uint32_t>(span - segment->spans);
  // Segments are aligned to more than any alignment asked for here: page numbers in it tell the
  // alignment.
  uint32_t first = (run_first + alignment_pages - 1) & ~(alignment_pages - 1);
  remove(heap, span);
  Pages result;
  result.dirty = cut(heap, segment, *span, run_first, first, pages);
  result.start = reinterpret_cast<uint64_t>(segment) + uint64_t{first} * kPageSize;
  mark(segment, first, pages, kind);
  return result;
}

void give_pages(uint32_t self, Segment* segment, uint32_t first, uint32_t pages) {
  Heap& heap = heap_at(self);
  uint32_t dirty = pages;
  uint64_t window = heap.window < kWindowLeast ? kWindowLeast : heap.window;
  if (2 * uint64_t{pages} > window && window < kWindowMost) {
    window = 2 * uint64_t{pages} < kWindowMost ? 2 * uint64_t{pages} : kWindowMost;
    heap.window = window;
  }
  if (first + pages < kSegmentPages && segment->kind[first + pages] == kNothing) {
    Span* next = &segment->spans[first + pages];
    remove(heap, next);
    dirty = next->dirty != 0 ? pages + next->dirty : pages;
    pages += next->pages;
  }
  if (first > kFirstPage && segment->kind[first - 1] == kNothing) {
    uint32_t before = segment->spans[first - 1].pages;
    Span* previous = &segment->spans[first - before];
    remove(heap, previous);
    first -= before;
    pages += before;
    dirty += before;
  }
  if (pages == kSegmentPages - kFirstPage && heap.empty_segments++ != 0) {
    --heap.empty_segments;
    return retire_segment(self, segment, dirty);
  }
  insert(heap, segment, first, pages, dirty);
  if (heap.dirty_pages > window && heap.dirty_pages > heap.release_at && dirty >= kReleaseLeast) {
    release_long_runs(heap, window);
  }
}

bool extend_pages(uint32_t self, Segment* segment, uint32_t first, uint32_t pages,
                  uint32_t wanted) {
  uint32_t next_first = first + pages;
  if (next_first >= kSegmentPages || segment->kind[next_first] != kNothing) return false;
  Span* next = &segment->spans[next_first];
  if (pages + next->pages < wanted) return false;
  Heap& heap = heap_at(self);
  remove(heap, next);
  cut(heap, segment, *next, next_first, next_first, wanted - pages);
  segment->kind[next_first - 1] = kNothing;
  mark(segment, first, wanted, kMedium);
  return true;
}

bool release_free_pages(uint32_t self) {
  Heap& heap = heap_at(self);
  bool any = false;
  for (Span* bin : heap.bins) {
    for (Span* span = bin; span != nullptr; span = span->next) any |= release_span(heap, span);
  }
  return any;
}

}  // namespace weir::heap
