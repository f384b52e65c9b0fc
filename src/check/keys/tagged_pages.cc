#include "check/keys/tagged_pages.h"

#include <sys/mman.h>

namespace weir::page {

// From the end of the smallest block that is large enough; of equal ones the last, which is the
// likeliest to be in the processor's caches.
uint64_t TaggedPages::take_cached(uint64_t pages, Cache& cache) {
  Block* best = nullptr;
  for (uint32_t i = cache.count; i-- > 0 && !(best && best->pages == pages);) {
    Block& block = cache.blocks[i];
    if (block.pages >= pages && (!best || block.pages < best->pages)) best = &block;
  }
  if (!best) return 0;
  best->pages -= pages;
  cache.pages -= pages;
  const uint64_t start = best->start + best->pages * kPageSize;
  if (!best->pages) *best = cache.blocks[--cache.count];
  return start;
}

TaggedPages::Cache* TaggedPages::fullest(uint64_t pages, uint32_t but) {
  Cache* most = nullptr;
  for (uint32_t i = 0; i < kKeys; i++) {
    if (i != but && caches_[i].pages >= pages && (!most || caches_[i].pages > most->pages))
      most = &caches_[i];
  }
  return most;
}

uint64_t TaggedPages::take_addresses(uint64_t pages) {
  for (uint32_t i = 0; i < free_count_; i++) {
    Block& block = free_[i];
    if (block.pages < pages) continue;
    block.pages -= pages;
    const uint64_t start = block.start + block.pages * kPageSize;
    if (!block.pages) block = free_[--free_count_];
    return start;
  }
  if ((area_.limit - bump_) / kPageSize < pages) return 0;
  const uint64_t start = bump_;
  bump_ += pages * kPageSize;
  return start;
}

// Joined to a neighbour. What there is no place to remember is not used again.
void TaggedPages::give_addresses(uint64_t start, uint64_t pages) {
  const uint64_t limit = start + pages * kPageSize;
  for (uint32_t i = 0; i < free_count_; i++) {
    Block& block = free_[i];
    const bool is_before = block.start + block.pages * kPageSize == start;
    if (!is_before && block.start != limit) continue;
    const Block whole{is_before ? block.start : start, block.pages + pages};
    block = free_[--free_count_];
    return give_addresses(whole.start, whole.pages);
  }
  if (limit == bump_) bump_ = start;
  else if (free_count_ < kMaxFree) free_[free_count_++] = {start, pages};
}

// To the kernel, and the addresses are free.
void TaggedPages::give_back(uint64_t start, uint64_t pages) {
  backend_.unmap(start, pages * kPageSize);
  give_addresses(start, pages);
}

// One of those that were given back last, with the key that it is to have.
uint64_t TaggedPages::take_own(uint64_t pages, KeyOf key_of, uint32_t& key) {
  for (key = 0; key < kKeys; key++) {
    Cache& cache = caches_[key];
    const uint32_t last = cache.count > kMaxProbes ? cache.count - kMaxProbes : 0;
    for (uint32_t i = cache.count; i-- > last;) {
      const Block block = cache.blocks[i];
      if (block.pages != pages || key_of(block.start) != key) continue;
      cache.blocks[i] = cache.blocks[--cache.count];
      cache.pages -= pages;
      return block.start;
    }
  }
  return 0;
}

// Has key 0.
uint64_t TaggedPages::take_new(uint64_t pages) {
  const uint64_t start = take_addresses(pages);
  if (!start || backend_.map(start, pages * kPageSize) == 0) return start;
  give_back(start, pages);
  return 0;
}

uint64_t TaggedPages::with_key(uint64_t start, uint64_t pages, uint32_t key) {
  if (backend_.tag(start, pages * kPageSize, PROT_READ | PROT_WRITE, key) == 0) return start;
  give_back(start, pages);
  return 0;
}

// Pages of another key get this one, which is one call where new pages need two and are to be
// filled.
uint64_t TaggedPages::allocate(uint64_t pages, uint32_t key) {
  if (const uint64_t start = take_cached(pages, caches_[key])) return start;
  if (Cache* const other = fullest(pages, key)) {
    if (const uint64_t start = take_cached(pages, *other)) return with_key(start, pages, key);
  }
  const uint64_t start = take_new(pages);
  return start && key ? with_key(start, pages, key) : start;
}

uint64_t TaggedPages::allocate_own(uint64_t pages, KeyOf key_of, uint32_t& key) {
  if (const uint64_t start = take_own(pages, key_of, key)) return start;
  Cache* const any = fullest(pages, kKeys);
  uint64_t start = any ? take_cached(pages, *any) : 0;
  if (!start) start = take_new(pages);
  return start ? with_key(start, pages, key = key_of(start)) : 0;
}

void TaggedPages::free(uint64_t start, uint64_t pages, uint32_t key) {
  Cache& cache = caches_[key];
  if (pages <= kMaxInBlock &&
      cache.pages + pages <= kMaxCached) {  // one block a page at most: there is a place
    cache.blocks[cache.count++] = {start, pages};
    cache.pages += pages;
    return;
  }
  give_back(start, pages);
}

}  // namespace weir::page
