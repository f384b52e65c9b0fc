// A hash table of pages, with the places of their changed bytes in a pool that only grows. When
// either is full, all pages are closed, and each is looked at again when it is executed next.
//
// Invariants
// 1. A page is executable in this process only if it is in the table, and nobody has changed it in
//    the backing since it was looked at, or the process has yet to come by catch_up(). (not
//    checkable: the kernel alone knows the page's protection)
// 2. A page of the table is not writable. (not checkable: as before)

#include "memory/code/executed.h"

#include <sys/mman.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "control/control.h"
#include "memory/backing.h"
#include "memory/code/made_byte.h"
#include "memory/code/mapped_twice.h"
#include "sys/memory.h"
#include "sys/report.h"

namespace weir::page::executed {
namespace {

struct Entry {
  uint64_t page;  // 0: free
  uint32_t first;
  uint16_t count;
  Bytes bytes;
  uint8_t unused;
  uint32_t stash;  // of Bytes::kShared with changed bytes: where its memory is meanwhile
};
constexpr uint32_t kSlots = 1 << 14, kMost = kSlots / 4 * 3, kPool = 1 << 18;

Entry g_entries[kSlots];
uint32_t g_count = 0;
uint32_t g_own = 0;  // entries of Bytes::kOwn
uint16_t g_pool[kPool];
uint32_t g_pool_used = 0;
uint64_t g_seen = 0;  // CodeChanges::sequence

uint32_t slot_of(uint64_t page) {
  return static_cast<uint32_t>(mix(page / kPageSize) >> 32) % kSlots;
}

Entry* find(uint64_t page) {
  if (g_count == 0) return nullptr;
  for (uint32_t slot = slot_of(page); g_entries[slot].page; slot = (slot + 1) % kSlots) {
    if (g_entries[slot].page == page) return &g_entries[slot];
  }
  return nullptr;
}

void remove(Entry* entry) {
  g_count--;
  g_own -= entry->bytes == Bytes::kOwn;
  auto hole = static_cast<uint32_t>(entry - g_entries);
  for (uint32_t slot = (hole + 1) % kSlots; g_entries[slot].page; slot = (slot + 1) % kSlots) {
    const uint32_t home = slot_of(g_entries[slot].page);
    if ((slot - home) % kSlots < (slot - hole) % kSlots) continue;
    g_entries[hole] = g_entries[slot];
    hole = slot;
  }
  g_entries[hole].page = 0;
  if (g_count == 0) g_pool_used = 0;
}

// Where memory that processes share is mapped while a copy of it lies in its place. 0: there is no
// room.
constexpr uint32_t kStash = 4096;
uint64_t g_stash = 0;
uint16_t g_free_stash[kStash];
uint32_t g_free_count = 0;

uint64_t address_of(uint32_t stash) { return g_stash + uint64_t{stash - 1} * kPageSize; }

void give_stash(uint32_t stash) { g_free_stash[g_free_count++] = static_cast<uint16_t>(stash); }

uint32_t take_stash() {
  if (!g_stash) {
    const long at = sys::map_anonymous(kStash * kPageSize, PROT_NONE);
    if (sys::failed(at)) return 0;
    g_stash = static_cast<uint64_t>(at);
    while (g_free_count < kStash)
      g_free_stash[g_free_count] = static_cast<uint16_t>(kStash - g_free_count), g_free_count++;
  }
  return g_free_count ? g_free_stash[--g_free_count] : 0;
}

bool put_aside(uint64_t page, uint32_t stash) {
  const auto start = static_cast<long>(page), size = static_cast<long>(kPageSize),
             aside = static_cast<long>(address_of(stash));
  // Of no size: the same memory is mapped once more.
  if (sys::raw(SYS_mremap, start, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, aside) != aside)
    return false;
  if (sys::raw(SYS_mmap, start, size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != start)
    return false;
  copy_bytes(reinterpret_cast<void*>(page), reinterpret_cast<const void*>(aside), kPageSize);
  return true;
}

void close_entry(Entry* found) {
  const Entry entry = *found;
  remove(found);
  const int asked = code_protection(entry.page);
  int closed = asked ? unexecuted(asked) : PROT_READ | PROT_WRITE;
  if (entry.bytes == Bytes::kShared) closed = twice::closed(asked);
  if (entry.stash) {
    sys::raw(SYS_mremap, static_cast<long>(address_of(entry.stash)), static_cast<long>(kPageSize),
             static_cast<long>(kPageSize), MREMAP_MAYMOVE | MREMAP_FIXED,
             static_cast<long>(entry.page));
    give_stash(entry.stash);
  } else if (entry.count && entry.bytes != Bytes::kBackings) {
    sys::protect(entry.page, kPageSize, PROT_READ | PROT_WRITE);
    for (uint32_t i = 0; i < entry.count; i++) {
      auto* byte = reinterpret_cast<uint8_t*>(entry.page + g_pool[entry.first + i]);
      *byte = program_byte(*byte);
    }
  } else if (entry.count) {
    sys::raw(SYS_madvise, static_cast<long>(entry.page), static_cast<long>(kPageSize),
             MADV_DONTNEED);
  }
  sys::protect(entry.page, kPageSize, closed);
}

// Whatever goes, other entries may move into slots that were looked at.
template <typename Which>
void close_which(Which which) {
  for (uint32_t slot = 0; slot < kSlots && g_count;) {
    Entry& entry = g_entries[slot];
    if (entry.page && which(entry)) close_entry(&entry);
    else slot++;
  }
}

}  // namespace

bool open(uint64_t page, const uint16_t* positions, uint32_t count, Bytes bytes, int protection) {
  if (Entry* known = find(page)) close_entry(known);
  if (g_count == kMost || g_pool_used + count > kPool) close_all();
  uint32_t stash = 0;
  if (count) {
    if (bytes == Bytes::kShared) {
      stash = take_stash();
      if (!stash) {  // that many pages are open
        close_all();
        stash = take_stash();
      }
      if (!stash) return false;
      if (!put_aside(page, stash)) {
        give_stash(stash);
        return false;
      }
    } else if (sys::protect(page, kPageSize, PROT_READ | PROT_WRITE) != 0) {
      return false;
    }
    for (uint32_t i = 0; i < count; i++) {
      auto* byte = reinterpret_cast<uint8_t*>(page + positions[i]);
      *byte = faulting_byte(*byte);
      g_pool[g_pool_used + i] = positions[i];
    }
  }
  uint32_t slot = slot_of(page);
  while (g_entries[slot].page) slot = (slot + 1) % kSlots;
  g_entries[slot] = {page, g_pool_used, static_cast<uint16_t>(count), bytes, 0, stash};
  g_count++;
  g_own += bytes == Bytes::kOwn;
  g_pool_used += count;
  return sys::protect(page, kPageSize, protection & ~PROT_WRITE) == 0;
}

bool is_changed_copy(uint64_t page) {
  const Entry* entry = find(page);
  return entry && entry->count && entry->bytes == Bytes::kBackings;
}

void restore(uint64_t page, uint32_t offset, uint8_t* bytes, uint32_t size) {
  const Entry* entry = find(page);
  if (!entry) return;
  for (uint32_t i = 0; i < entry->count; i++) {
    const uint32_t at = g_pool[entry->first + i];
    if (at >= offset && at - offset < size) bytes[at - offset] = program_byte(bytes[at - offset]);
  }
}

void close(Range range) {
  if (!g_count) return;
  const uint64_t start = page_down(range.start), limit = page_up(range.limit);
  if ((limit - start) / kPageSize > kSlots) {
    close_which([&](const Entry& entry) { return entry.page >= start && entry.page < limit; });
    return;
  }
  for (uint64_t page = start; page < limit; page += kPageSize)
    if (Entry* entry = find(page)) close_entry(entry);
}

void close_own() {
  if (g_own) close_which([](const Entry& entry) { return entry.bytes == Bytes::kOwn; });
}

void close_all() {
  close_which([](const Entry&) { return true; });
  g_seen = __atomic_load_n(&shared().memory.code_changes.sequence, __ATOMIC_ACQUIRE);
}

void note_change(Range range) {
  MemoryState& s = shared().memory;
  if (!s.code_count || !is_noted(s.code_ranges, s.code_count, range)) return;
  CodeChanges& changes = s.code_changes;
  changes.range[changes.sequence % CodeChanges::kMax] = range;
  __atomic_store_n(&changes.sequence, changes.sequence + 1, __ATOMIC_RELEASE);
}

void catch_up() {
  const CodeChanges& changes = shared().memory.code_changes;
  const uint64_t sequence = __atomic_load_n(&changes.sequence, __ATOMIC_ACQUIRE);
  if (g_seen == sequence) return;
  if (sequence - g_seen > CodeChanges::kMax) {
    close_all();
    return;
  }
  for (; g_seen != sequence; g_seen++) close(changes.range[g_seen % CodeChanges::kMax]);
}

}  // namespace weir::page::executed
