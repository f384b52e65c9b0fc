// Layout: the backing's file holds the arena at offset 0, converted segments from
// kSegmentsInBacking on. It is sparse: only touched pages cost memory.
//
// Invariants
// 1. A byte of program memory has one place in the backing, and the tables here (segments)
//    say which. They lie in Shared memory, and change only under the turn or while one task exists.
//    (checked in record_segment)
// 2. The runtime's own image, stacks and tables are never part of the backing. (checked in
//    record_segment)
// 3. After convert_all() no writable private mapping of the program is left outside the backing.
//    (checked in convert_all)
//
// What can go wrong: a library is mapped by dlopen later (syscall/ makes memory segments of its
// data); the stack grows below what was converted (it is converted at its full limit); a patched
// call made a mapping between reading the maps and converting (only one task exists then, and it
// stands here).

#include "memory/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "base/free_ranges.h"
#include "control/executed_pages.h"
#include "memory/checks.h"
#include "memory/file_bytes.h"
#include "memory/reserve.h"
#include "memory/windows.h"
#include "sys/maps.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "sys/touched_pages.h"

extern "C" {
extern char __ehdr_start __attribute__((visibility("hidden")));
extern char _end __attribute__((visibility("hidden")));
}

namespace weir::page {

namespace {

constexpr uint64_t kBrkSize = uint64_t{1} << 30;

bool g_maps_in_place = false;

long map(uint64_t at, uint64_t size, int protection, int flags, int descriptor, uint64_t offset) {
  return sys::raw(SYS_mmap, static_cast<long>(at), static_cast<long>(size), protection, flags,
                  descriptor, static_cast<long>(offset));
}

// The kernel leaves a private mapping of a file out of core files until it has had a copy of a
// page.
void make_dumpable(uint64_t start) {
  auto* byte = reinterpret_cast<volatile uint8_t*>(start);
  *byte = *byte;
  sys::raw(SYS_madvise, static_cast<long>(start), static_cast<long>(kPageSize), MADV_DONTNEED);
}

uint64_t take_segment_space(uint64_t size) {
  MemoryState& s = shared().memory;
  uint64_t offset = s.segment_bump;
  if (offset + size > kBackingSize) return 0;
  s.segment_bump += page_up(size);
  return offset;
}

bool ours(const Range& range) {
  Range image = own_image();
  return range.overlaps(image) || overlaps_runtime(range);
}

uint64_t record_segment(uint64_t start, uint64_t size, int protection) {
  MemoryState& s = shared().memory;
  WEIR_DEBUG_CHECK(!has_region({start, start + size}));  // invariant 1 of backing.cc
  WEIR_CHECK(!ours({start, start + size}));              // invariant 2 of backing.cc
  uint64_t offset = take_segment_space(size);
  if (!offset) return 0;
  uint32_t slot = 0;
  while (slot < s.segment_count && s.segments[slot].live) slot++;
  if (slot == s.segment_count) {
    if (slot == kMaxMemorySegments) return 0;
    s.segment_count++;
  }
  s.segments[slot] = MemorySegment{start, size, offset, static_cast<uint32_t>(protection), 1};
  __atomic_add_fetch(&s.segments_version, 1,
                     __ATOMIC_RELEASE);  // whoever sees it sees the segment
  return offset;
}

// Writes the non-zero pages of [start, start+size) into the backing at `offset`.
void copy_into_backing(uint64_t start, uint64_t size, uint64_t offset) {
  const int backing = shared().memory.backing;
  for (uint64_t at = 0; at < size; at += kPageSize) {
    auto* words = reinterpret_cast<const uint64_t*>(start + at);
    uint64_t any = 0;
    for (size_t i = 0; i < kPageSize / 8 && !any; i++) any = words[i];
    if (!any) continue;
    sys::raw(SYS_pwrite64, backing, static_cast<long>(start + at), kPageSize,
             static_cast<long>(offset + at));
  }
}

// As copy_into_backing, for a range of which most was perhaps never touched: asks the kernel first.
void copy_touched(uint64_t start, uint64_t size, uint64_t offset) {
  sys::each_touched({start, start + size}, [=](Range part) {
    copy_into_backing(part.start, part.size(), offset + (part.start - start));
  });
}

}  // namespace

void copy_into_backing(Range range, uint64_t offset, bool is_anonymous) {
  LimitLifted file_size(RLIMIT_FSIZE), descriptors(RLIMIT_NOFILE);
  if (is_anonymous) copy_touched(range.start, range.size(), offset);
  else copy_into_backing(range.start, range.size(), offset);
}

namespace {

void fail(const char* what, long result) {
  report("cannot %s (error %d): %s", what, int64_t{-result},
         sys::has_most_maps() ? "there are as many mappings as the kernel allows (vm.max_map_count)"
                              : "is a limit set (ulimit -v, ulimit -d)?");
  die(125);
}

// A write behind the limit would end the program by SIGXFSZ.
void check_file_size(const LimitLifted& limit) {
  if (limit.now >= kBackingSize) return;
  report("cannot write to memory that all tasks see: is a file size limit set (ulimit -f)?");
  die(125);
}

// Many small pieces of reserved memory that are accessible, with others between them that are not,
// are one memory segment. Returns where the maps go on.
char* join_reserved(sys::MapLine& line, char* cursor) {
  constexpr uint32_t kMaxBetween = 8;
  const uint64_t start = line.range.start;
  uint64_t limit = line.range.limit;
  sys::MapLine between[kMaxBetween], next;
  uint32_t count = 0;
  for (char* at = cursor; count < kMaxBetween && (at = sys::next_map_line(at, &next));) {
    const bool belongs = next.range.start == limit && !next.shared && !next.name[0] &&
                         next.range.limit - start <= kReserveChunk;
    at[-1] = '\n';  // the line may be read again
    if (!belongs) break;
    limit = next.range.limit;
    if (!next.writable) {
      between[count++] = next;
      continue;
    }
    for (uint32_t i = 0; i < count; i++) {
      const Range& range = between[i].range;
      remember_protection(range.start, range.size(), between[i].readable ? PROT_READ : PROT_NONE);
      protect(range.start, range.size(), PROT_READ);  // its bytes come over
    }
    count = 0;
    line.range.limit = limit;
    cursor = at;
  }
  return cursor;
}

void map_segments() {
  const MemoryState& s = shared().memory;
  for (uint32_t i = 0; i < s.segment_count; i++) {
    const MemorySegment& r = s.segments[i];
    if (r.live && !map_private(r.start, r.size, r.offset, static_cast<int>(r.protection)))
      fail("map a region", -ENOMEM);
  }
}

void convert_line(const sys::MapLine& line, uint64_t stack_limit) {
  int protection = PROT_READ | PROT_WRITE | (line.executable ? PROT_EXEC : 0);
  uint64_t start = line.range.start;
  uint64_t size = line.range.size();
  const bool stack = starts_with(line.name, "[stack]");
  if (stack) {
    size = page_up(stack_limit);
    if (size < line.range.size()) size = line.range.size();
    start = line.range.limit - size;
    shared().program.stack_limit = line.range.limit;
  }
  uint64_t offset = record_segment(start, size, protection);
  if (!offset) {
    report("cannot convert the program's memory: too many segments");
    die(125);
  }
  uint64_t used = line.range.start - start;
  if (line.name[0] == '/') {  // a private file mapping: what was never touched is the file's
    copy_into_backing(line.range.start, line.range.size(), offset + used);
    if (!starts_with(line.name, "/dev/")) remember_file(line.range, source_of(line), line.offset);
  } else {
    copy_touched(line.range.start, line.range.size(), offset + used);
  }
  if (!map_private(start, size, offset, protection)) fail("map a segment of the program", -ENOMEM);
}

// Libraries lie there if mappings go upwards. The first thread would map the view over them.
bool is_shared_view_taken() {
  const long at = map(kSharedView, kBackingSize, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == static_cast<long>(kSharedView)) sys::raw(SYS_munmap, at, kBackingSize);
  return at == -EEXIST;
}

}  // namespace

Range own_image() {
  return Range{page_down(reinterpret_cast<uint64_t>(&__ehdr_start)),
               page_up(reinterpret_cast<uint64_t>(&_end))};
}

bool create_backing() {
  MemoryState& s = shared().memory;
  const long file =
      open_hidden(SYS_memfd_create, reinterpret_cast<long>("weir-store"), MFD_CLOEXEC);
  if (sys::failed(file)) {
    report("cannot create a file in memory (error %d)%s", int64_t{-file}, of_descriptors(file));
    return false;
  }
  s.backing = static_cast<int>(file);
  if (set_file_size(s.backing, kBackingSize) != 0) {
    report("cannot reserve %u GB of sparse memory: is a file size limit set (ulimit -f)?",
           kBackingSize >> 30);
    return false;
  }
  long at = map(kArena, kArenaSize, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, s.backing, 0);
  if (at != static_cast<long>(kArena)) {
    report("cannot reserve %u GB of address space (error %d): is a limit set (ulimit -v)?",
           kArenaSize >> 30, int64_t{-at});
    return false;
  }
  if (is_shared_view_taken()) {
    report("a library lies where Weir's memory does: is vm.legacy_va_layout or setarch -L on?");
    return false;
  }
  s.segment_bump = kSegmentsInBacking;
  s.map_bump = kArena + kHeapSize;
  // The program's brk: a range of the backing right after the kernel's own, so that sbrk goes on
  // where it was.
  uint64_t now = static_cast<uint64_t>(sys::raw(SYS_brk, 0));
  uint64_t start = page_up(now);
  uint64_t offset = record_segment(start, kBrkSize, PROT_READ | PROT_WRITE);
  at = map(start, kBrkSize, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, s.backing, offset);
  if (at == static_cast<long>(start)) {
    s.brk_start = s.brk_now = start;
    s.brk_limit = start + kBrkSize;
    protect(start, kBrkSize, PROT_NONE);  // until it is asked for
    (void)remember_protection(start, kBrkSize, PROT_NONE);
  } else {
    s.segments[s.segment_count - 1].live = 0;
  }
  dump_only_used();
  return true;
}

bool map_private(uint64_t start, uint64_t size, uint64_t offset, int protection) {
  const int sharing = g_maps_in_place ? MAP_SHARED : MAP_PRIVATE;
  long at = map(start, size, protection, sharing | MAP_NORESERVE | MAP_FIXED,
                shared().memory.backing, offset);
  if (at != static_cast<long>(start)) return false;
  if ((protection & PROT_WRITE) && !g_maps_in_place) make_dumpable(start);
  return true;
}

void map_in_place_everywhere() { g_maps_in_place = true; }

void map_in_place() {
  g_maps_in_place = true;
  map_segments();
  if (!map_private(kArena, kArenaSize, 0, PROT_READ | PROT_WRITE)) fail("map the arena", -ENOMEM);
  reapply_protections();
}

void map_shared_view() {
  long at = map(kSharedView, kBackingSize, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_NORESERVE | MAP_FIXED, shared().memory.backing, 0);
  if (at != static_cast<long>(kSharedView)) fail("map the store a second time", at);
  sys::raw(SYS_madvise, at, static_cast<long>(kBackingSize), MADV_DONTDUMP);
}

uint64_t stack_size(uint64_t limit) {
  constexpr uint64_t kMost = uint64_t{1} << 30, kInPlaceOfMore = uint64_t{64} << 20;
  return limit > kMost ? kInPlaceOfMore : limit;
}

void convert_all() {
  LimitLifted file_size(RLIMIT_FSIZE), descriptors(RLIMIT_NOFILE);
  check_file_size(file_size);
  map_segments();  // that exist already: the program's brk, and in a forked child all that its
                   // parent had
  rlimit limit{};
  sys::raw(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<long>(&limit));
  const uint64_t stack_limit = stack_size(limit.rlim_cur);
  char* maps;
  long length = sys::read_maps(&maps);
  if (length < 0) fail("read the memory map", length);
  sys::MapLine line;
  for (char* cursor = maps; (cursor = sys::next_map_line(cursor, &line));) {
    if (line.shared || !line.writable || starts_with(line.name, "[v")) continue;
    // The kernel shows the runtime's own data and what the loader has mapped beside it as one.
    const Range whole = line.range, own = own_image();
    if (whole.overlaps(own) && line.name[0] == '/') continue;
    const Range parts[2] = {{whole.start, whole.overlaps(own) ? own.start : whole.limit},
                            {own.limit, whole.overlaps(own) ? whole.limit : 0}};
    for (const Range& part : parts) {
      if (part.empty() || part.start >= part.limit || ours(part) || backing_bytes_at(part.start))
        continue;
      line.range = part;
      if (in_reserve(part.start) && !line.name[0]) cursor = join_reserved(line, cursor);
      convert_line(line, stack_limit);
    }
  }
  if (!map_private(kArena, kArenaSize, 0, PROT_READ | PROT_WRITE)) fail("map the arena", -ENOMEM);
  dump_only_used();
  reapply_protections();
  WEIR_DEBUG_CHECK(are_all_converted());  // invariant 3 of backing.cc
}

uint64_t add_memory_segment(uint64_t start, uint64_t size, int protection) {
  return record_segment(start, page_up(size), protection);
}

uint64_t adopt(Range range, int protection) {
  LimitLifted file_size(RLIMIT_FSIZE);
  const uint64_t offset = record_segment(range.start, range.size(), protection);
  if (!offset) return 0;
  copy_touched(range.start, range.size(), offset);
  return map_private(range.start, range.size(), offset, protection) ? offset : 0;
}

void remove_memory_segment(uint64_t start, uint64_t size) {
  MemoryState& s = shared().memory;
  Range gone{start, start + page_up(size)};
  const uint32_t count = s.segment_count;
  for (uint32_t i = 0; i < count; i++) {
    MemorySegment& r = s.segments[i];
    if (!r.live) continue;
    Range here{r.start, r.start + r.size};
    if (!here.overlaps(gone)) continue;
    MemorySegment old = r;
    r.live = 0;
    auto keep = [&](uint64_t from, uint64_t to) {
      if (from >= to) return;
      uint32_t slot = 0;
      while (slot < s.segment_count && s.segments[slot].live) slot++;
      WEIR_CHECK(slot < kMaxMemorySegments);
      if (slot == s.segment_count) s.segment_count++;
      s.segments[slot] = {from, to - from, old.offset + (from - old.start), old.protection, 1};
    };
    keep(here.start, gone.start < here.limit ? gone.start : here.limit);
    keep(gone.limit > here.start ? gone.limit : here.start, here.limit);
    __atomic_add_fetch(&s.segments_version, 1, __ATOMIC_RELEASE);
  }
}

bool g_remembers_segments = false;

bool in_arena(uint64_t address) { return address - kArena < kArenaSize; }

namespace {

// What was found last is found again most often. Each is one word, so that a signal's handler meets
// no half of it.
uint32_t g_last;
// Pages in no segment: constants, text. With the version of the segments of which that is known.
constexpr uint32_t kNowhere = 64, kVersionBits = 28;
uint64_t g_nowhere[kNowhere];

const MemorySegment* find_segment(uint64_t address) {
  const MemoryState& s = shared().memory;
  for (uint32_t i = 0; i < s.segment_count; i++) {
    if (s.segments[i].live && address - s.segments[i].start < s.segments[i].size)
      return &s.segments[i];
  }
  return nullptr;
}

const MemorySegment* segment_at(uint64_t address) {
  if (!g_remembers_segments) return find_segment(address);
  const MemoryState& s = shared().memory;
  const MemorySegment& last = s.segments[__atomic_load_n(&g_last, __ATOMIC_RELAXED)];
  if (last.live && address - last.start < last.size) return &last;
  const uint64_t page = address / kPageSize;
  const uint64_t version = __atomic_load_n(&s.segments_version, __ATOMIC_ACQUIRE);
  const uint64_t nowhere = page << kVersionBits | ((version + 1) & ((1u << kVersionBits) - 1));
  uint64_t& known = g_nowhere[page % kNowhere];
  if (__atomic_load_n(&known, __ATOMIC_RELAXED) == nowhere) return nullptr;
  const MemorySegment* segment = find_segment(address);
  if (segment)
    __atomic_store_n(&g_last, static_cast<uint32_t>(segment - s.segments), __ATOMIC_RELAXED);
  else if (page >> (64 - kVersionBits) == 0) __atomic_store_n(&known, nowhere, __ATOMIC_RELAXED);
  return segment;
}

}  // namespace

uint64_t shared_view_of(uint64_t address) {
  if (shared().memory.backing < 0) return address;  // tasks are threads
  if (in_arena(address)) return address - kArena + kSharedView;
  if (windows::contains(address)) return windows::shared_view_of(address);
  const MemorySegment* segment = segment_at(address);
  return segment ? kSharedView + segment->offset + (address - segment->start) : address;
}

uint64_t backing_bytes_at(uint64_t address) {
  if (in_arena(address)) return kArena + kArenaSize - address;
  if (windows::contains(address)) return windows::extent(address);
  const MemorySegment* segment = segment_at(address);
  return segment ? segment->start + segment->size - address : 0;
}

int first_protection(uint64_t address) {
  const MemorySegment* segment = in_arena(address) ? nullptr : segment_at(address);
  return segment ? static_cast<int>(segment->protection) : PROT_READ | PROT_WRITE;
}

void zero_pages(uint64_t start, uint64_t size) {
  executed::note_change({start, start + page_up(size)});
  uint64_t offset = shared_view_of(start) - kSharedView;
  sys::raw(SYS_fallocate, shared().memory.backing, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
           static_cast<long>(offset), static_cast<long>(page_up(size)));
}

namespace {

FreeRanges free_extents(MemoryState& s) {
  return {s.free_extents, s.free_count, sizeof s.free_extents / sizeof s.free_extents[0],
          s.map_bump};
}

}  // namespace

uint64_t allocate_extent(uint64_t size) {
  MemoryState& s = shared().memory;
  size = page_up(size);
  SpinGuard guard(s.lock);
  uint32_t best = ~0u;
  for (uint32_t i = 0; i < s.free_count; i++) {
    if (s.free_extents[i].size() < size) continue;
    if (best == ~0u || s.free_extents[i].size() < s.free_extents[best].size() ||
        (s.free_extents[i].size() == s.free_extents[best].size() &&
         s.free_extents[i].start < s.free_extents[best].start)) {
      best = i;
    }
  }
  if (best != ~0u) return free_extents(s).take(best, size);
  if (s.map_bump + size > kArena + kArenaSize) return 0;
  uint64_t start = s.map_bump;
  s.map_bump += size;
  return start;
}

void free_extent(uint64_t start, uint64_t size) {
  MemoryState& s = shared().memory;
  SpinGuard guard(s.lock);
  free_extents(s).give(Range{start, start + page_up(size)});
}

void take_extent(uint64_t start, uint64_t size) {
  MemoryState& s = shared().memory;
  SpinGuard guard(s.lock);
  free_extents(s).claim(Range{start, start + page_up(size)});
}

bool is_all_free(uint64_t start, uint64_t size) {
  const MemoryState& s = shared().memory;
  const Range range{start, start + page_up(size)};
  if (range.start < kArena + kHeapSize || range.limit > kArena + kArenaSize) return false;
  auto common = [&](const Range& other) {
    const Range both{other.start > range.start ? other.start : range.start,
                     other.limit < range.limit ? other.limit : range.limit};
    return both.empty() ? 0 : both.size();
  };
  uint64_t free = common(Range{s.map_bump, kArena + kArenaSize});
  for (uint32_t i = 0; i < s.free_count; i++)
    free += common(s.free_extents[i]);  // no two of them overlap
  return free == range.size();
}

bool is_free_extent(uint64_t start, uint64_t size) {
  const MemoryState& s = shared().memory;
  const Range range{start, start + page_up(size)};
  if (start >= kArena + kHeapSize && start < kArena + kArenaSize && range.limit > s.map_bump)
    return true;
  for (uint32_t i = 0; i < s.free_count; i++) {
    if (s.free_extents[i].overlaps(range)) return true;
  }
  return false;
}

}  // namespace weir::page
