// Ranges of pages with a protection other than the usual one, sorted by address; none overlap, and
// neighbours of one protection are one entry.
#pragma once

#include <stdint.h>

#include "control/control.h"

namespace weir::page {

// Notes `protection` for `range`, which cuts or replaces other ranges; `usual` is not noted.
// Returns false if there is no room; then nothing is changed.
bool note_protection(ProtectedRange* table, uint32_t& count, uint32_t capacity, Range range,
                     int protection, int usual);
// Whether a noted range overlaps `range`.
bool is_noted(const ProtectedRange* table, uint32_t count, Range range);

}  // namespace weir::page
