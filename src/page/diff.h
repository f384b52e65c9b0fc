// Which bytes of a page changed: one bit a byte, and how to carry just those over.
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir::page {

struct PageDiff {
  uint64_t page;                       // program address
  uint64_t mask[kPageSize / 64];       // bit i of word w: byte 64 w + i differs
};

// Compares two pages (page-aligned); sets diff->mask, answers the number of differing bytes. Keeps vector registers.
uint32_t make_diff(const void* mine, const void* twin, PageDiff* diff);

// Copies to `to` the bytes of `from` that the mask names. Bytes that it does not name are never written with anything
// but themselves. REQUIRES: nobody else writes `to` meanwhile.
void apply_diff(const PageDiff& diff, const void* from, void* to);

}  // namespace weir::page
