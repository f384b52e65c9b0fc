// The same program on more nodes than it was recorded on.
#pragma once

#include <cstdint>

#include "dsm/predict/workload.h"

namespace weir::predict {

// What happens to units that a node reads and does not write, when its work is divided.
enum class Reads : uint8_t {
  kAuto,   // as the essay in scaling.cc says
  kSplit,  // each is read by one of its parts
  kAll,    // by all of them
};

// `parts`: how many modelled nodes each of the workload's nodes becomes; at least 1.
Workload scaled(const Workload& workload, uint32_t parts, Reads reads);

}  // namespace weir::predict
