// What type an object has that no debug information places: a block of the heap. Pointers lead
// there that have a type, in the functions that access it or got it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/findings/findings.h"
#include "cli/symbols/frames.h"
#include "cli/symbols/modules.h"
#include "cli/symbols/stack_walk.h"

namespace weir::cli {

struct Block {
  uint64_t start, size;
};

class Pointees {
 public:
  explicit Pointees(Modules& modules) : modules_(modules) {}

  // By a pointer or reference in a frame of an access: one that leads into the block, to a
  // structure, of which `address` is a part. Names are as "struct session.hits".
  std::optional<Variable> by_access(const KeptStack& kept, const std::vector<StackFrame>& frames,
                                    Block block, uint64_t address);
  // By the variable that is declared or assigned in the source line of an allocation, or the type
  // that the line or the allocating function names; one whose size the block's is a multiple of.
  std::optional<Variable> by_allocation(const Frames& allocated_at, Block block, uint64_t address);

 private:
  Modules& modules_;
};

}  // namespace weir::cli
