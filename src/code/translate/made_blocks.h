// Blocks that were made in one copy of a process, for those that are copied from it later
// (runtime/serve/fork_server.h). A block follows from the text alone (block.h), so where it is made
// changes nothing but the time that it takes.
// Implemented in counted.cc.
#pragma once

#include <stdint.h>

namespace weir::translate {

// Shared: between the process that is copied and its copies; all zero before its first use.
struct MadeBlocks {
  static constexpr uint32_t kMost = 1u << 15;
  static constexpr uint64_t kIsTarget = uint64_t{1} << 63;  // of indirect branches
  static constexpr unsigned kCutShift = 48;                 // Block::cut, in eight bits
  static constexpr uint64_t kAddress = (uint64_t{1} << kCutShift) - 1;

  uint32_t count;
  uint32_t unused;
  uint64_t blocks[kMost];  // the address in the program, with its cut and kIsTarget
};

// In the process that is copied. REQUIRES: no run is on.
void adopt(MadeBlocks& made);
// In a copy, at its end: what it has made beside what it began with.
void hand_over(MadeBlocks& made);

}  // namespace weir::translate
