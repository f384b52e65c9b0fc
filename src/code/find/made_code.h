// Sites in code that the program has made itself, a page at a time. Nothing tells where its
// functions lie; control tells, as it comes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "code/decode/shape.h"
#include "code/sites/site_table.h"

namespace weir {

// A page of code with what lies around it, in the program's own bytes.
struct MadePage {
  static constexpr uint32_t kBefore = 256, kBehind = 16;
  static constexpr uint32_t kPageLimit = kBefore + kPageSize, kSize = kPageLimit + kBehind;

  uint64_t address;  // of the page
  Range code;        // memory of the program's for code, around it
  uint32_t first;    // [first, limit) of `bytes` is known: the page at least
  uint32_t limit;
  uint8_t bytes[kSize];  // the page has [kBefore, kPageLimit)
};

// Finds the sites of these kinds on the page, if control is at `entry` (an offset into `bytes`).
// Writes for each the offset of the byte to be changed (memory/code/made_byte.h), from the page on.
// Returns how many. REQUIRES: room for kPageSize of them. Signal-safe; not reentrant.
uint32_t find_made_sites(const MadePage& page, uint32_t entry, PatchKinds kinds,
                         uint16_t* positions);

// The site that a task has come to at `address`, where `code` is found with its byte changed. False
// if it is none. Signal-safe.
[[nodiscard]] bool read_made_site(const uint8_t* code, size_t available, uint64_t address,
                                  Site& site);

}  // namespace weir
