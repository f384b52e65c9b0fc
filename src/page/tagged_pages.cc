#include "page/tagged_pages.h"

#include <sys/mman.h>

namespace weir::page {

// The first block that is large enough, from its end.
uint64_t TaggedPages::take_cached(uint64_t pages, Cache& cache) {
  for (uint32_t i = 0; i < cache.count; i++) {
    Block& block = cache.blocks[i];
    if (block.pages < pages) continue;
    block.pages -= pages;
    cache.pages -= pages;
    const uint64_t start = block.start + block.pages * kPageSize;
    if (!block.pages) block = cache.blocks[--cache.count];
    return start;
  }
  return 0;
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
  else if (free_count_ < kMostFree) free_[free_count_++] = {start, pages};
}

uint64_t TaggedPages::allocate(uint64_t pages, uint32_t key) {
  if (const uint64_t start = take_cached(pages, caches_[key])) return start;
  const uint64_t start = take_addresses(pages);
  if (!start) return 0;
  const uint64_t size = pages * kPageSize;
  if (backend_.map(start, size) == 0 && (!key || backend_.tag(start, size, PROT_READ | PROT_WRITE, key) == 0)) return start;
  backend_.unmap(start, size);
  give_addresses(start, pages);
  return 0;
}

void TaggedPages::free(uint64_t start, uint64_t pages, uint32_t key) {
  Cache& cache = caches_[key];
  if (pages <= kMostInBlock && cache.pages + pages <= kMostCached) {  // one block a page at most: there is a place
    cache.blocks[cache.count++] = {start, pages};
    cache.pages += pages;
    return;
  }
  backend_.unmap(start, pages * kPageSize);
  give_addresses(start, pages);
}

}  // namespace weir::page
