// Of this folder only: the run's memory, where each process has it.
#pragma once

#include "constant/layout.h"
#include "control/control.h"

namespace weir::constant {

inline Memory& memory() { return *reinterpret_cast<Memory*>(kConstants); }
Record& own_record();

}  // namespace weir::constant
