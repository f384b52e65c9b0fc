// Which policy would fit what was seen of 8 bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/findings/findings.h"

namespace weir::cli {

struct Judged {
  std::string policy;  // empty: only one task has it
  uint64_t lock = 0;
  uint64_t tasks = 0;
};
Judged judge(const findings::Cell& cell);

// Those that are over, and the one that is not.
std::vector<findings::OwnershipPhase> phases_of(const findings::Cell& cell);
bool has_lock(const findings::OwnershipPhase& phase, uint64_t lock);
int count_of(uint64_t tasks);

}  // namespace weir::cli
