// For this folder only: where each process has the run's memory.
// Implemented in processes.cc.
#pragma once

#include "constant/layout.h"
#include "control/control.h"

namespace weir::constant {

inline Memory& memory() { return *reinterpret_cast<Memory*>(kConstants); }
Record& own_record();

}  // namespace weir::constant
