// Words of the distributed part. Depends on nothing but base.
#pragma once

#include <stdint.h>

#include <vector>

#include "base/types.h"

namespace weir::dsm {

using NodeId = uint32_t;  // an MPI rank
// A unit is what the protocols keep consistent: some pages, a region, an annotated allocation.
using UnitId = uint32_t;
inline constexpr UnitId kNoUnit = ~UnitId{0};
inline constexpr NodeId kNoNode = ~NodeId{0};

// One node's execution between two synchronizations; numbered from 1 on each node.
struct IntervalId {
  NodeId node = 0;
  uint32_t index = 0;
  auto operator<=>(const IntervalId&) const = default;
};

// A run of units, and a unit of some node's: as they are sent.
struct UnitRun {
  UnitId first = 0;
  uint32_t count = 0;
};
struct UnitOf {
  UnitId unit = 0;
  NodeId node = 0;
};

// For each node, up to which of its intervals somebody knows.
using VectorTime = std::vector<uint32_t>;

}  // namespace weir::dsm
