// Which region has a byte: one look at the page's entry, and, where several regions share the page,
// a search by halves among them. A large region has an entry in each of its pages.

#include <string.h>

#include "region/state.h"

namespace weir::region {

namespace {

Region* single(uint64_t entry) { return reinterpret_cast<Region*>(entry & ~kSingle); }

// Number of those that start at or before `offset`.
uint64_t count_to(const PageRegions& page, uint64_t count, uint64_t offset) {
  uint64_t low = 0, high = count;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (page.entries[middle].start <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t bytes_for(uint64_t count) {
  return sizeof(PageRegions) + count * sizeof(PageRegions::Entry);
}

uint64_t first_page(const Region& region) { return region.start / kPage; }
uint64_t last_page(const Region& region) { return (region.start + region.size - 1) / kPage; }

void publish(uint64_t page, uint64_t entry) {
  __atomic_store_n(&g_state->directory[page], entry, __ATOMIC_RELEASE);
}

void drop(uint64_t entry) {
  if (!entry || entry & kSingle) return;
  auto* page = reinterpret_cast<PageRegions*>(entry);
  g_state->arrays.give(page, bytes_for(page->count));
}

bool add(uint64_t page, Region* region) {
  const uint64_t entry = g_state->directory[page];
  if (!entry) {
    publish(page, reinterpret_cast<uint64_t>(region) | kSingle);
    return true;
  }
  const PageRegions::Entry only{entry & kSingle ? single(entry)->start : 0, single(entry)};
  const auto* old = reinterpret_cast<const PageRegions*>(entry);
  const uint64_t count = entry & kSingle ? 1 : old->count;
  const PageRegions::Entry* from = entry & kSingle ? &only : old->entries;
  auto* replaced = static_cast<PageRegions*>(g_state->arrays.take(bytes_for(count + 1)));
  if (!replaced) return false;
  uint64_t at = 0;
  while (at < count && from[at].start < region->start) at++;
  memcpy(replaced->entries, from, at * sizeof *from);
  replaced->entries[at] = {region->start, region};
  memcpy(replaced->entries + at + 1, from + at, (count - at) * sizeof *from);
  replaced->count = count + 1;
  publish(page, reinterpret_cast<uint64_t>(replaced));
  drop(entry);
  return true;
}

void remove(uint64_t page, Region* region) {
  const uint64_t entry = g_state->directory[page];
  if (entry & kSingle) {
    if (single(entry) == region) publish(page, 0);
    return;
  }
  auto* old = reinterpret_cast<PageRegions*>(entry);
  if (!old) return;
  uint64_t kept = 0;
  Region* last = nullptr;
  for (uint64_t i = 0; i < old->count; i++) {
    if (old->entries[i].region != region) kept++, last = old->entries[i].region;
  }
  if (kept == old->count) return;
  if (kept <= 1) {
    publish(page, kept ? reinterpret_cast<uint64_t>(last) | kSingle : 0);
    drop(entry);
    return;
  }
  auto* replaced = static_cast<PageRegions*>(g_state->arrays.take(bytes_for(kept)));
  if (!replaced) {  // no memory: another stands twice instead, which keeps the order
    for (uint64_t i = 0; i < old->count; i++) {
      if (old->entries[i].region == region)
        old->entries[i] = i ? old->entries[i - 1] : PageRegions::Entry{last->start, last};
    }
    return;
  }
  for (uint64_t i = 0; i < old->count; i++) {
    if (old->entries[i].region != region) replaced->entries[replaced->count++] = old->entries[i];
  }
  publish(page, reinterpret_cast<uint64_t>(replaced));
  drop(entry);
}

}  // namespace

Region* search_page(uint64_t entry, uint64_t offset) {
  if (!entry) return nullptr;
  const auto& page = *reinterpret_cast<PageRegions*>(entry);
  const uint64_t at = count_to(page, page.count, offset);
  return at ? page.entries[at - 1].region : nullptr;
}

Region* find_offset_slowly(uint64_t offset) {
  // Entries are replaced while others look: only with the lock nothing is nothing.
  const OwnerGuard guard(g_state->registry);
  return look(offset);
}

Region* find_referred(uint64_t offset) {
  if (Region* region = look(offset)) return region;
  Region* region = offset ? find_offset(offset - 1) : nullptr;
  return region && region->refers(offset) ? region : nullptr;
}

Region* find_first(uint64_t offset, uint64_t limit) {
  if (Region* region = find_offset(offset)) return region;
  const OwnerGuard guard(g_state->registry);
  const uint64_t pages = (uint64_t{1} << g_state->shift) / kPage;
  for (uint64_t page = offset / kPage; page < pages && page * kPage < limit; page++) {
    const uint64_t entry = g_state->directory[page];
    if (!entry) continue;
    Region* only = single(entry);
    const auto* several = reinterpret_cast<const PageRegions*>(entry);
    const uint64_t count = entry & kSingle ? 1 : several->count;
    for (uint64_t i = 0; i < count; i++) {
      Region* region = entry & kSingle ? only : several->entries[i].region;
      if (region && region->size && region->start >= offset && region->start < limit) return region;
    }
  }
  return nullptr;
}

Region* find_outside(uint64_t address, uint64_t* offset) {
  uint64_t at;
  Region* region;
  if (find_paged(address, offset ? offset : &at, &region)) return region;
  if (!find_home(address, &at)) return nullptr;
  if (offset) *offset = at;
  return find_offset(at);
}

bool enter(Region* region) {
  for (uint64_t page = first_page(*region); page <= last_page(*region); page++) {
    if (add(page, region)) continue;
    while (page-- > first_page(*region)) remove(page, region);
    return false;
  }
  return true;
}

void leave(Region* region) {
  for (uint64_t page = first_page(*region); page <= last_page(*region); page++)
    remove(page, region);
}

}  // namespace weir::region
