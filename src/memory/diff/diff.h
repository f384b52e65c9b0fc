// Which bytes of a page changed: one bit a byte, and how to carry just those over.
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir::page {

struct PageDiff {
  uint64_t page;                  // program address
  uint64_t mask[kPageSize / 64];  // bit i of word w: byte 64 w + i differs
  uint64_t twin[kPageSize / 8];   // the page before, if `partial`
  uint32_t bytes;                 // how many differ
  uint32_t unused;
  uint64_t partial;  // 1: an aligned 8-byte word changed in some of its bytes only
};

// Compares two pages (page-aligned), sets diff->mask, and returns the number of differing bytes.
// Keeps vector registers.
uint32_t make_diff(const void* mine, const void* twin, PageDiff* diff);

// Copies to `to` the bytes of `from` that the mask names. REQUIRES: no other task writes `to`
// meanwhile.
//
// Bytes that the mask does not name stay as they are, with one exception. Suppose that another task
// has changed bytes of the same aligned word since the twin, and that both tasks have changed one
// of the bytes, to different values. Then both have written one variable (a race, or relaxed atomic
// stores). The last writer's whole variable must stand, never a mixture of two pointers. Its extent
// is taken to be the smallest aligned power of two that holds both sets of bytes; but four bytes
// where those are in both halves of a word, and the upper half's values are numbers that neither an
// address nor a double nor a small number of eight bytes has there. Deviation from Dthreads, which
// merges bytes.
void apply_diff(const PageDiff& diff, const void* from, void* to);

}  // namespace weir::page
