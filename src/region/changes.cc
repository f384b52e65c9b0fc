// What has changed since a checkpoint.
//
// A checkpoint copies nothing. The region is watched, which closes it for writing in every set. Its
// first write traps, the twin is copied, and the region is open as before. So a region that is not
// written costs one change of level, and no comparison. The thread that traps pushes the region on
// a list of written ones, without a lock.
//
// A large region may be mostly untouched, and to read such a page would make it real memory. So of
// a large one only those stretches are copied that the kernel has given memory to, and only they
// are compared. All else is zeros on both sides, except where the program has taken memory away
// since the checkpoint (MADV_REMOVE). So a bit for each page of the twin says what was copied.

#include <errno.h>
#include <string.h>

#include "region/diff.h"
#include "region/registry.h"
#include "region/signals_blocked.h"
#include "region/space.h"

namespace weir::region {

namespace {

void push_modified(Region& region) {
  Region* first = __atomic_load_n(&g_state->modified, __ATOMIC_RELAXED);
  do {
    region.next_modified = first;
  } while (!__atomic_compare_exchange_n(&g_state->modified, &first, &region, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

// From this size on it has Region::twin_pages, and its twin is a mapping of its own (pool.cc).
constexpr uint64_t kLarge = (uint64_t{1} << 18) + 1;

uint64_t bytes_of_twin_pages(const Region& region) {
  return (page_up(region.size) / kPage + 63) / 64 * sizeof(uint64_t);
}

// False: no memory. REQUIRES: registry.
bool take_twin(Region& region) {
  Pool& memory = g_state->other;
  if (region.twin) return true;
  if (region.size >= kLarge && !region.twin_pages &&
      !(region.twin_pages = static_cast<uint64_t*>(memory.take(bytes_of_twin_pages(region)))))
    return false;
  region.twin = static_cast<char*>(memory.take(region.size));
  return region.twin != nullptr;
}

// The first page of the twin in [page, limit) that was copied, or `limit`.
uint64_t next_twin_page(const Region& region, uint64_t page, uint64_t limit) {
  while (page < limit) {
    if (const uint64_t bits = region.twin_pages[page / 64] >> (page % 64)) {
      page += static_cast<unsigned>(__builtin_ctzl(bits));
      return page < limit ? page : limit;
    }
    page = (page / 64 + 1) * 64;
  }
  return limit;
}

// In offsets of the region: the next stretch from `from` on that has memory.
Range next_data(const Region& region, uint64_t from) {
  const Range found = next_populated(region.start + from, region.start + region.size);
  return {found.start - region.start, found.limit - region.start};
}

// What [from, limit) has of the first page of the twin there that was copied.
Range next_copied(const Region& region, uint64_t from, uint64_t limit) {
  const uint64_t end = page_up(limit) / kPage, page = next_twin_page(region, from / kPage, end);
  if (page == end) return {limit, limit};
  const uint64_t at = page * kPage;
  return {at > from ? at : from, at + kPage < limit ? at + kPage : limit};
}

void copy_twin(Region& region) {
  if (!region.twin_pages) {
    memcpy(region.twin, open_address(region.start), region.size);
    return;
  }
  for (Range data{};;) {
    const uint64_t behind = data.limit;
    data = next_data(region, behind);
    for (Range old = next_copied(region, behind, data.start); !old.empty();
         old = next_copied(region, old.limit, data.start))
      memset(region.twin + old.start, 0, old.size());
    if (data.empty()) break;
    memcpy(region.twin + data.start, open_address(region.start + data.start), data.size());
    for (uint64_t page = data.start / kPage; page < page_up(data.limit) / kPage; page++)
      region.twin_pages[page / 64] |= uint64_t{1} << (page % 64);
  }
}

// From `from` on, the next stretch that may differ from the twin; empty: none does.
Range next_stretch(const Region& region, uint64_t from) {
  if (!region.twin_pages) return {from, region.size};
  const Range data = next_data(region, from);
  const Range old = next_copied(region, from, data.start);
  return old.empty() ? data : old;
}

}  // namespace

int make_twin(Region& region) {
  // No handler may write to the region between the copy and its end: what it wrote would be taken
  // for older than the checkpoint.
  const SignalsBlocked blocked;
  if (!region.watched) return 0;
  copy_twin(region);
  region.modified = true;
  __atomic_store_n(&region.watched, false, __ATOMIC_RELEASE);
  note_change(region);
  if (!region.is_listed) {
    region.is_listed = true;
    push_modified(region);
  }
  return move_pointers(region, -1);
}

namespace {

// Walks the list of those that were modified, and takes those out that no longer are.
template <typename Visit>
void visit_modified(Visit visit) {
  Region* region = __atomic_exchange_n(&g_state->modified, nullptr, __ATOMIC_ACQUIRE);
  while (region) {
    Region* next = region->next_modified;
    const OwnerGuard guard(region->lock);
    if (region->modified && region->size) {
      visit(*region);
      push_modified(*region);
    } else {
      region->is_listed = false;
    }
    region = next;
  }
}

int checkpoint(const void* address) {
  Region* region = find(reinterpret_cast<uint64_t>(address));
  if (!region) return ENOENT;
  if (!take_twin(*region)) return ENOMEM;
  const OwnerGuard guard(region->lock);
  region->modified = false;
  if (region->watched) return 0;
  region->watched = true;
  note_change(*region);
  const int error = move_pointers(*region, -1);
  if (error) region->watched = false;
  return error;
}

// Calls visit(offset, size) for each run of changed bytes, without a lock. False: there is no
// checkpoint.
template <typename Visit>
bool visit_changes(Region& region, Visit visit) {
  const char* now = open_address(region.start);
  Range part{};  // that may differ
  for (size_t from = 0;;) {
    size_t start;
    {
      const OwnerGuard guard(region.lock);
      if (!region.twin) return false;
      if (!region.modified) return true;
      for (start = part.limit; start == part.limit;) {
        if (from >= part.limit) part = next_stretch(region, from);
        if (part.empty()) return true;
        start = next_change(now, region.twin, part.limit, from > part.start ? from : part.start);
        if (start == part.limit) from = start;
      }
      from = next_equal(now, region.twin, part.limit, start);
      while (from == part.limit && from < region.size) {  // a run may go on behind it
        part = next_stretch(region, from);
        if (part.start != from || part.empty()) break;
        from = next_equal(now, region.twin, part.limit, from);
      }
    }
    if (from > start)
      visit(start, from - start);  // not where another thread has just undone the change
  }
}

// Memory of the caller that is read or written here: if it lies in a region, as if the caller did
// it. NULL with EFAULT: it may not.
template <typename T>
T* caller_memory(T* memory, size_t bytes, int access) {
  if (!memory || !bytes) return memory;
  const auto at = reinterpret_cast<uint64_t>(memory);
  if (open_of(at) == at) return memory;
  if (!weir_region_touch(memory, bytes, access)) {
    errno = EFAULT;
    return nullptr;
  }
  return reinterpret_cast<T*>(open_of(at));
}

Region* start_and_find(const void* address) {
  Region* region = started() ? nullptr : find(reinterpret_cast<uint64_t>(address));
  if (!region) errno = ENOENT;
  return region;
}

}  // namespace

void forget_changes(Region& region) {
  {
    const OwnerGuard guard(region.lock);
    region.modified = region.watched = false;
    note_change(region);
  }
  if (region.is_listed) visit_modified([](Region&) {});
  g_state->other.give(region.twin, region.size);
  if (region.twin_pages) g_state->other.give(region.twin_pages, bytes_of_twin_pages(region));
  region.twin = nullptr;
  region.twin_pages = nullptr;
}

}  // namespace weir::region

using namespace weir::region;

int weir_region_checkpoint(const void* region) {
  return weir_region_checkpoint_many(const_cast<void* const*>(&region), 1);
}

int weir_region_checkpoint_many(void* const* regions, size_t count) {
  if (const int error = started()) return error;
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return EDEADLK;
  for (size_t i = 0; i < count; i++) {
    if (const int error = checkpoint(regions[i])) return error;
  }
  return 0;
}

int weir_region_checkpoint_end(const void* address) {
  if (const int error = started()) return error;
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return EDEADLK;
  Region* region = find(reinterpret_cast<uint64_t>(address));
  if (!region) return ENOENT;
  forget_changes(*region);
  const OwnerGuard list(region->lock);
  return move_pointers(*region, -1);
}

long weir_region_diff(const void* address, weir_region_change* changes, size_t capacity) {
  Region* region = start_and_find(address);
  if (!region) return -1;
  if (capacity && !(changes = caller_memory(changes, capacity * sizeof *changes, PROT_WRITE)))
    return -1;
  size_t count = 0;
  const bool is_there = visit_changes(*region, [&](size_t offset, size_t size) {
    if (count < capacity) changes[count] = {offset, size};
    count++;
  });
  if (is_there) return static_cast<long>(count);
  errno = EINVAL;
  return -1;
}

size_t weir_region_modified(void** regions, size_t capacity) {
  if (started()) return 0;
  if (capacity && !(regions = caller_memory(regions, capacity * sizeof *regions, PROT_WRITE)))
    return 0;
  const OwnerGuard guard(g_state->registry);
  if (!guard.taken()) return 0;
  size_t count = 0;
  const int set = current_set();
  visit_modified([&](Region& region) {
    if (count < capacity) {
      const uint64_t at =
          region.is_paged ? region.paged
                          : address_in(set, effective(region, level_of(region, set)), region.start);
      regions[count] = reinterpret_cast<void*>(at);
    }
    count++;
  });
  return count;
}

long weir_region_diff_make(const void* address, void* buffer, size_t capacity) {
  Region* region = start_and_find(address);
  if (!region) return -1;
  if (capacity && !(buffer = caller_memory(static_cast<char*>(buffer), capacity, PROT_WRITE)))
    return -1;
  DiffWriter writer(static_cast<char*>(buffer), capacity);
  writer.bytes(kDiffMagic, sizeof kDiffMagic);
  writer.number(region->size);
  uint64_t last = 0;
  const char* now = open_address(region->start);
  const bool is_there = visit_changes(*region, [&](size_t offset, size_t size) {
    writer.number(offset - last);
    writer.number(size);
    writer.bytes(now + offset, size);
    last = offset + size;
  });
  if (is_there) return static_cast<long>(writer.size());
  errno = EINVAL;
  return -1;
}

int weir_region_diff_apply(void* address, const void* diff, size_t size) {
  if (const int error = started()) return error;
  if (!diff) return EINVAL;
  Region* region = find(reinterpret_cast<uint64_t>(address));
  if (!region) return ENOENT;
  if (!(diff = caller_memory(static_cast<const char*>(diff), size, PROT_READ))) return EFAULT;
  const OwnerGuard guard(region->lock);
  constexpr bool kBoth[] = {false, true};
  for (const bool writes : kBoth) {  // the first time it is only read
    DiffReader reader(diff, size);
    const void* magic = reader.bytes(sizeof kDiffMagic);
    uint64_t whole, at = 0;
    if (!magic || memcmp(magic, kDiffMagic, sizeof kDiffMagic) || !reader.number(&whole) ||
        whole != region->size)
      return EINVAL;
    if (writes && make_twin(*region)) return ENOMEM;
    while (!reader.at_end()) {
      uint64_t gap, length;
      if (!reader.number(&gap) || !reader.number(&length)) return EINVAL;
      const void* bytes = reader.bytes(length);
      if (!bytes || !length || gap > whole - at || length > whole - at - gap) return EINVAL;
      at += gap;
      if (writes) memcpy(open_address(region->start + at), bytes, length);
      at += length;
    }
  }
  return 0;
}
