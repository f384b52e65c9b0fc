// Invariants
// 1. g_asked says what the program lets be done with each page that this process tracks: what is
//    not in it is readable and writable. It is per process, because processes repeat each other's
//    mprotect calls at different moments. (not checkable: the mappings no longer say it)
// 2. No page has a protection that g_asked does not allow. (checked in set)
// 3. close_all() leaves no page open, also where a range has holes. (checked in set_around_holes)

#include "memory/closed_pages.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/range_table.h"
#include "control/control.h"
#include "memory/backing.h"
#include "memory/demand.h"
#include "memory/reserve.h"
#include "sys/maps.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::page::closed {

namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

// Per process, and inherited by the processes made from it together with the mappings.
bool g_is_open = false;
constinit ProtectedRange g_asked[kProtectedRanges] = {};  // no page of it is touched at the start
uint32_t g_asked_count = 0;
uint32_t g_changes = 0;  // of protections, since mappings were last counted

void note(Range range, int protection) {
  if (note_protection(g_asked, g_asked_count, kProtectedRanges, range, protection, kReadWrite))
    return;
  report(
      "the program protects memory in more than %u places, which cannot be kept without "
      "userfaultfd",
      uint64_t{kProtectedRanges});
  die(125);
}

// What is asked for at `address`, and where that ends.
int asked_at(uint64_t address, uint64_t limit, uint64_t& end) {
  const uint32_t at = first_above(g_asked, g_asked_count, address);
  end = limit;
  if (at >= g_asked_count) return kReadWrite;
  const ProtectedRange& entry = g_asked[at];
  const bool is_in = entry.range.contains(address);
  const uint64_t bound = is_in ? entry.range.limit : entry.range.start;
  if (bound < limit) end = bound;
  return is_in ? entry.protection : kReadWrite;
}

long change(uint64_t start, uint64_t size, int protection) {
  return sys::raw(SYS_mprotect, static_cast<long>(start), static_cast<long>(size), protection);
}

// Calls act(line, part) for each of the kernel's mappings that overlap the range, with what of it
// lies there.
template <typename Act>
void each_mapping(Range range, Act act) {
  char* cursor;
  if (const long length = sys::read_maps(&cursor); length < 0)
    demand::fail("read the memory map", range.start, length);
  for (sys::MapLine line; (cursor = sys::next_map_line(cursor, &line));) {
    const Range part{line.range.start > range.start ? line.range.start : range.start,
                     line.range.limit < range.limit ? line.range.limit : range.limit};
    if (part.start < part.limit) act(line, part);
  }
}

// Some of the range is not mapped here: the kernel stops at the first hole.
void set_around_holes(uint64_t start, uint64_t size, int protection) {
  each_mapping({start, start + size}, [protection](const sys::MapLine&, Range part) {
    const long result = change(part.start, part.size(), protection);
    if (result != 0)
      demand::fail("change a protection", part.start, result);  // invariant 3 of closed_pages.cc
  });
}

void set(uint64_t start, uint64_t size, int protection) {
  WEIR_DEBUG_CHECK([&] {  // invariant 2 of closed_pages.cc
    uint64_t end;
    return !(protection & ~asked_at(start, start + size, end));
  }());
  const long result = change(start, size, protection);
  if (result == 0) return;
  if (result != -ENOMEM) demand::fail("change a protection", start, result);
  if (sys::has_most_maps()) {
    close_all();  // of thousands of mappings a few become one
    if (change(start, size, protection) == 0) return;
  }
  set_around_holes(start, size, protection);
}

// Before it gets so many that the program's own mmap fails.
void limit_mappings() {
  constexpr uint32_t kOften = 4096;
  if (++g_changes < kOften) return;
  g_changes = 0;
  if (sys::has_many_maps()) close_all();
}

void open_within(uint64_t start, uint64_t size, int allowed) {
  const uint64_t limit = start + size;
  for (uint64_t at = start; at < limit;) {
    uint64_t end;
    const int asked = asked_at(at, limit, end);
    set(at, end - at, asked & allowed);
    at = end;
  }
}

// What is not readable and writable, by the kernel's list.
void note_lines(Range range) {
  each_mapping(range, [](const sys::MapLine& line, Range mapped) {
    const int protection = (line.readable ? PROT_READ : 0) | (line.writable ? PROT_WRITE : 0) |
                           (line.executable ? PROT_EXEC : 0);
    each_part(mapped.start, mapped.size(), [&](uint64_t start, uint64_t size, bool is_backed) {
      if (is_backed) note({start, start + size}, protection);
    });
  });
}

}  // namespace

bool is_open() { return g_is_open; }

void open_tracking() {
  if (!g_is_open) {  // the mappings are still as the program wants them
    g_asked_count = 0;
    note_lines({0, ~uint64_t{0}});
  }
  g_is_open = true;
  close_all();
}

void close_tracking() {
  if (!g_is_open) return;
  open_all();
  g_is_open = false;
}

void track(uint64_t start, uint64_t size) {
  note({start, start + page_up(size)}, first_protection(start));
  drop(start, size);
}

void map(uint64_t start, uint64_t size, bool to_write) {
  limit_mappings();
  open_within(start, page_up(size), to_write ? ~0 : ~PROT_WRITE);
}

void drop(uint64_t start, uint64_t size) { set(start, page_up(size), PROT_NONE); }

void open_all() {
  each_range([](uint64_t start, uint64_t size) { open_within(start, page_up(size), ~0); });
}

void close_all() {
  each_range([](uint64_t start, uint64_t size) {
    if (change(start, page_up(size), PROT_NONE) != 0)
      set_around_holes(start, page_up(size), PROT_NONE);
  });
}

long protect(uint64_t start, uint64_t size, int protection) {
  long result = 0;
  each_part(start, page_up(size), [&](uint64_t at, uint64_t length, bool is_backed) {
    if (result != 0) return;
    result = change(at, length, is_backed ? PROT_NONE : protection);
    if (result == 0 && is_backed) note({at, at + length}, protection);
  });
  return result;
}

void note_mapped(uint64_t start, uint64_t size) {
  if (g_is_open) note_lines({start, start + page_up(size)});
}

void open_as_asked(uint64_t start, uint64_t size) {
  if (!g_is_open) return;
  each_part(start, page_up(size), [](uint64_t at, uint64_t length, bool is_backed) {
    if (is_backed) open_within(at, length, ~0);
  });
}

bool is_fault(uint64_t address, uint64_t error) {
  constexpr uint64_t kWrite = 2, kFetch = 16;
  if (!g_is_open || !backing_bytes_at(address)) return false;
  uint64_t end;
  const int asked = asked_at(address, address + 1, end);
  if (error & kFetch) return asked & PROT_EXEC;
  return asked & (error & kWrite ? PROT_WRITE : PROT_READ | PROT_WRITE | PROT_EXEC);
}

}  // namespace weir::page::closed
