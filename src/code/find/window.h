// Which bytes of the program a jump to a stub may replace.
#pragma once

#include <stdint.h>

#include "code/find/sweep.h"

namespace weir {

inline constexpr uint32_t kJumpSize = 5;

// Whether a copy of the instruction, adapted, does the same elsewhere.
bool is_relocatable(const Shape& shape);

// Whole instructions around a site, at least kJumpSize bytes; offsets into the text.
struct Window {
  uint32_t start = 0;
  uint32_t limit = 0;
};

// The input of choose_window().
struct WindowSource {
  uint32_t size = 0;
  const OffsetSet* targets = nullptr;
  const OffsetSet* starts = nullptr;  // instructions that are known to be such: no others move
  const OffsetSet* taken = nullptr;   // bytes that belong to windows chosen before
};

// Returns false if there is none: the site needs a trap.
[[nodiscard]] bool choose_window(const WindowSource& source, const Candidate& site, Window& window);

}  // namespace weir
