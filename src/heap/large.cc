// Runs of whole segments: objects of more than 32 MiB, and what is left of them when they are
// freed.
//
// A run begins with its Segment header; the object starts a page later, or where its alignment
// wants it, which may be in a later segment: the map's entries say which segment begins a run. Only
// what was touched is memory, so rounding up to segments costs addresses, not memory. A freed run's
// pages are released at once and the addresses stay with the heap, in a list ordered by address in
// which neighbours join.
//
// Invariant: a free run is zero from `touched` on, its header's fields excepted. (not checkable:
// the program may write to an object that it has freed)
#include <string.h>

#include "heap/layout.h"
#include "sys/report.h"

namespace weir::heap {
namespace {

constexpr size_t kHeaderUsed = offsetof(Segment, reserved);

void mark_run(uint32_t self, uint64_t start, size_t segments) {
  uint32_t* entry = &owner_entry(start);
  entry[0] = (self + 1) | kRunFirst;
  for (size_t i = 1; i < segments; ++i) entry[i] = (self + 1) | kRunRest;
}

uint64_t end_of(Segment* run) {
  return reinterpret_cast<uint64_t>(run) + (run->segments << kSegmentBits);
}

void write_header(uint32_t self, Segment* run, size_t segments, uint64_t touched) {
  run->magic = kSegmentMagic;
  run->owner = self;
  run->state = kFreeRun;
  run->segments = segments;
  run->data = 0;
  run->touched = touched;
  run->next = nullptr;
}

uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// The free run with the fewest segments that suffices, the lowest of them; taken out of the list.
Segment* take_free_run(Heap& heap, size_t segments) {
  Segment** best = nullptr;
  for (Segment** link = &heap.free_runs; *link != nullptr; link = &(*link)->next) {
    if ((*link)->segments < segments) continue;
    if (best == nullptr || (*link)->segments < (*best)->segments) best = link;
  }
  if (best == nullptr) return nullptr;
  Segment* run = *best;
  *best = run->next;
  return run;
}

// Appends `next` to `run`: they are neighbours.
void join(Segment* run, Segment* next) {
  uint64_t before = run->segments << kSegmentBits;
  if (next->touched > kPageSize) run->touched = before + next->touched;
  run->segments += next->segments;
  run->next = next->next;
  owner_entry(reinterpret_cast<uint64_t>(next)) = (run->owner + 1) | kRunRest;
  memset(next, 0, kHeaderUsed);
}

}  // namespace

Segment* run_of(uint64_t address) {
  uint32_t* entry = &owner_entry(address);
  uint64_t start = address & ~(kSegmentSize - 1);
  for (; *entry & kRunRest; --entry) start -= kSegmentSize;
  return reinterpret_cast<Segment*>(start);
}

Segment* take_run(uint32_t self, size_t segments) {
  Heap& heap = heap_at(self);
  if (Segment* run = take_free_run(heap, segments)) {
    if (run->segments > segments) {
      uint64_t kept = segments << kSegmentBits;
      uint64_t touched = run->touched > kept ? run->touched - kept : 0;
      size_t rest = run->segments - segments;
      auto* tail = reinterpret_cast<Segment*>(reinterpret_cast<uint64_t>(run) + kept);
      run->segments = segments;
      if (run->touched > kept) run->touched = kept;
      give_run(self, tail, rest, larger(touched, kPageSize));
    }
    return run;
  }
  WEIR_CHECK(heap_at(self).busy == 0);  // invariant 2 of heap.cc
  uint64_t start = 0;
  bool got = g_place.grow != nullptr ? g_place.grow(self, segments, &start)
                                     : heap_take_segments(segments, &start);
  if (!got) return nullptr;
  mark_run(self, start, segments);
  auto* run = reinterpret_cast<Segment*>(start);
  write_header(self, run, segments, kPageSize);
  heap.footprint += segments;
  return run;
}

void give_run(uint32_t self, Segment* run, size_t segments, uint64_t touched) {
  Heap& heap = heap_at(self);
  auto start = reinterpret_cast<uint64_t>(run);
  touched = page_up(touched);
  if (touched > kPageSize && g_place.release != nullptr &&
      g_place.release(Range{start + kPageSize, start + touched})) {
    touched = kPageSize;
  }
  mark_run(self, start, segments);
  write_header(self, run, segments, touched);
  Segment* previous = nullptr;
  Segment* next = heap.free_runs;
  while (next != nullptr && next < run) previous = next, next = next->next;
  run->next = next;
  if (previous != nullptr) previous->next = run;
  else heap.free_runs = run;
  if (next != nullptr && end_of(run) == reinterpret_cast<uint64_t>(next)) join(run, next);
  if (previous != nullptr && end_of(previous) == start) join(previous, run);
}

LargeObject take_large(uint32_t self, size_t alignment, size_t size) {
  uint64_t least = larger(alignment, kPageSize);
  // A run is aligned to a segment: up to that, the offset is known before the run is.
  uint64_t bytes = page_up(size) + (least <= kSegmentSize ? least : least + kSegmentSize);
  size_t segments = (bytes + kSegmentSize - 1) >> kSegmentBits;
  Segment* run = take_run(self, segments);
  if (run == nullptr) return {};
  auto start = reinterpret_cast<uint64_t>(run);
  uint64_t address = (start + kPageSize + least - 1) & ~(least - 1);
  LargeObject object;
  object.address = address;
  run->data = address - start;
  object.touched = run->touched > run->data ? run->touched - run->data : 0;
  run->state = kLarge;
  run->touched = larger(run->touched, run->data + page_up(size));
  return object;
}

void give_large(uint32_t self, Segment* run) { give_run(self, run, run->segments, run->touched); }

}  // namespace weir::heap
