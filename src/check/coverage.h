// What the checker has looked at and what not, for the command's closing line.
#pragma once

#include "check/core/state.h"

namespace weir::view::checked {

// Each page counts once, until it is given out anew. REQUIRES: the page's lock.
inline void count_page(Page& page, uint8_t as, uint64_t& pages) {
  if (page.counted & as) return;
  page.counted |= as;
  __atomic_fetch_add(&pages, 1, __ATOMIC_RELAXED);
}

// An access is about to be checked, on a page that several tasks touch or one alone.
inline void count_checked(Page& page) {
  __atomic_fetch_add(&found().accesses, 1, __ATOMIC_RELAXED);
  if (page.toucher_count > 1) count_page(page, Page::kCountedChecked, found().shared_pages);
}

// Several tasks touch the page, and not all of their accesses are checked.
inline void count_unchecked(Page& page) {
  count_page(page, Page::kCountedUnchecked, found().unchecked_pages);
}

}  // namespace weir::view::checked
