// What `weir check` looks for beside races (check/findings/hazards.h).
// Implemented in hazards.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/findings/hazards.h"

namespace weir::cli {

inline const std::vector<std::string> kDefaultHazards = {"default"};

// What a checked replay looks for beside races.
inline constexpr uint32_t kReplayedHazards = findings::bit_of(findings::Hazard::kThreadUnsafe);

// The bits of what is asked for by name, default, all and none included. Throws Failure for another
// name.
uint32_t hazards_of(const std::vector<std::string>& names);

}  // namespace weir::cli
