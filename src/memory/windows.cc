#include "memory/windows.h"

#include <sys/mman.h>

#include "memory/backing.h"
#include "memory/demand.h"
#include "sys/syscall_x86_64.h"

namespace weir::page::windows {

namespace {

constexpr uint16_t kSizes[kClasses] = {16,  32,  48,  64,  96,   128,  192,
                                       256, 384, 512, 768, 1024, 1360, 2048};
constexpr uint32_t kQuarantine = 32;
constexpr uint64_t kChunk = 256 << 10;

// Per process. A window that was mapped once stays so, with no rights: to change these costs a
// third of what a new mapping does.
uint32_t g_mapped;
uint32_t g_shown[kMax];  // what it shows: Entry::backing_page

uint32_t class_of(uint64_t size) {
  uint32_t at = 0;
  while (kSizes[at] < size) at++;
  return at;
}

uint64_t address_of(uint32_t index) { return kWindows + uint64_t{index} * kPageSize; }

// Guarded by: the table's lock. A page of the backing, index + 1; 0: there is none.
uint32_t take_page(Table& t) {
  if (t.chunk == t.chunk_limit) {
    const uint64_t start = allocate_extent(kChunk);
    if (!start) return 0;
    t.chunk = start;
    t.chunk_limit = start + kChunk;
  }
  const uint64_t page = (t.chunk - kArena) / kPageSize;
  t.chunk += kPageSize;
  return static_cast<uint32_t>(page) + 1;
}

bool is_mapped(uint32_t index) {
  return g_shown[index] && g_shown[index] == table().entries[index].backing_page;
}

void map_one(uint32_t index, uint32_t count, int protection) {
  const Table& t = table();
  const uint64_t offset = uint64_t{t.entries[index].backing_page - 1} * kPageSize;
  // Then it is about to be touched.
  const int populate = demand::is_open() && count <= 16 ? MAP_POPULATE : 0;
  const long at =
      sys::raw(SYS_mmap, static_cast<long>(address_of(index)), static_cast<long>(count * kPageSize),
               protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE | populate,
               shared().memory.backing, static_cast<long>(offset));
  if (sys::failed(at)) demand::fail("map a window", address_of(index), at);
  for (uint32_t i = index; i < index + count; i++) {
    g_mapped += !g_shown[i];
    g_shown[i] = t.entries[i].backing_page;
  }
}

// How many windows from this one on show consecutive pages.
uint32_t run_from(const Table& t, uint32_t index, uint32_t most) {
  uint32_t count = 1;
  while (count < most && index + count < t.used &&
         t.entries[index + count].backing_page == t.entries[index].backing_page + count)
    count++;
  return count;
}

}  // namespace

uint64_t table_used() {
  const Table& t = table();
  return reinterpret_cast<uint64_t>(&t.entries[t.used]) - kWindowTable;
}

uint64_t shared_view_of(uint64_t address) {
  const uint32_t page = table().entries[index_of(address)].backing_page;
  return page ? kSharedView + uint64_t{page - 1} * kPageSize + address % kPageSize : address;
}

uint64_t extent(uint64_t address) {
  const Table& t = table();
  const uint32_t index = index_of(address);
  if (!t.entries[index].backing_page) return 0;
  return run_from(t, index, 512) * kPageSize - address % kPageSize;
}

uint64_t allocate(uint64_t size) {
  if (size > kMaxSmall) return 0;
  const uint32_t which = class_of(size);
  Table& t = table();
  const SpinGuard guard(t.lock);
  Table::Class& c = t.classes[which];
  if (c.free > kQuarantine || (c.free && t.used == kMax)) {
    const uint32_t index = c.first - 1;
    c.first = t.entries[index].next;
    if (--c.free == 0) c.last = 0;
    t.entries[index].next = 0;
    return address_of(index) + t.entries[index].place;
  }
  if (t.used == kMax) return 0;
  const bool shares = t.separate < kMaxMapped;  // else a page each: neighbours are one mapping
  if (!shares || !c.left) {
    const uint32_t page = take_page(t);
    if (!page) return 0;
    c.page = page;
    c.left = shares ? static_cast<uint32_t>(kPageSize) / kSizes[which] : 1;
  }
  c.left--;
  const uint32_t index = t.used++;
  t.separate += shares;
  t.entries[index] = {c.page, 0, static_cast<uint16_t>(shares ? c.left * kSizes[which] : 0),
                      static_cast<uint16_t>(which)};
  if (!demand::is_open()) map_one(index, 1, PROT_READ | PROT_WRITE);
  return address_of(index) + t.entries[index].place;
}

void free(uint64_t address) {
  Table& t = table();
  const uint32_t index = index_of(address);
  const SpinGuard guard(t.lock);
  Table::Class& c = t.classes[t.entries[index].size_class];
  if (c.last) t.entries[c.last - 1].next = index + 1;
  else c.first = index + 1;
  c.last = index + 1;
  c.free++;
}

uint64_t rounded(uint64_t size) { return kSizes[class_of(size)]; }

uint64_t size_of(uint64_t address) { return kSizes[table().entries[index_of(address)].size_class]; }

uint64_t take_run(uint32_t count) {
  Table& t = table();
  const SpinGuard guard(t.lock);
  for (uint32_t i = 0; i < t.run_count; i++) {
    Table::Run& run = t.runs[i];
    if (run.count < count) continue;
    const uint64_t start = address_of(run.start);
    run.start += count;
    run.count -= count;
    if (!run.count) run = t.runs[--t.run_count];
    return start;
  }
  if (kMax - t.used < count) return 0;
  const uint64_t start = address_of(t.used);
  t.used += count;
  return start;
}

void free_run(uint64_t start, uint32_t count) {
  Table& t = table();
  const SpinGuard guard(t.lock);
  const uint32_t index = index_of(start);
  if (t.run_count < kMaxRuns) t.runs[t.run_count++] = {index, count};
}

void show(uint64_t window, uint64_t arena, uint32_t count) {
  Table& t = table();
  const uint32_t index = index_of(window);
  const uint32_t page = static_cast<uint32_t>((arena - kArena) / kPageSize) + 1;
  for (uint32_t i = 0; i < count; i++) t.entries[index + i] = {page + i, 0, 0, 0};
  __atomic_fetch_add(&t.separate, 1u, __ATOMIC_RELAXED);
  if (!demand::is_open()) map_one(index, count, PROT_READ | PROT_WRITE);
}

void map(uint64_t start, uint64_t size, bool to_write) {
  if (g_mapped > kMaxMapped) unmap_all();
  const int protection = to_write ? PROT_READ | PROT_WRITE : PROT_READ;
  const Table& t = table();
  const uint32_t limit = index_of(start + size - 1) + 1;
  for (uint32_t index = index_of(start); index < limit;) {
    uint32_t count = run_from(t, index, limit - index);
    if (!t.entries[index].backing_page) {
    } else if (is_mapped(index)) {
      count = 1;
      while (index + count < limit && is_mapped(index + count)) count++;
      protect(address_of(index), count * kPageSize, protection);
    } else {
      map_one(index, count, protection);
    }
    index += count;
  }
}

void unmap(uint64_t start, uint64_t size) {
  const uint32_t limit = index_of(start + size - 1) + 1;
  for (uint32_t index = index_of(start); index < limit;) {
    uint32_t count = 1;
    if (is_mapped(index)) {
      while (index + count < limit && is_mapped(index + count)) count++;
      protect(address_of(index), count * kPageSize, PROT_NONE);
    }
    index += count;
  }
}

void map_all() {
  const Table& t = table();
  for (uint32_t index = 0; index < t.used;) {
    const uint32_t count = t.entries[index].backing_page ? run_from(t, index, kMax) : 1;
    if (t.entries[index].backing_page) map_one(index, count, PROT_READ | PROT_WRITE);
    index += count;
  }
}

void unmap_all() {
  if (!table().used) return;
  sys::raw(SYS_munmap, static_cast<long>(kWindows),
           static_cast<long>(uint64_t{table().used} * kPageSize));
  for (uint32_t i = 0; i < table().used; i++) g_shown[i] = 0;
  g_mapped = 0;
}

}  // namespace weir::page::windows
