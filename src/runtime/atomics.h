// The program's atomic instructions, where they are events.
#pragma once

#include "base/frame.h"
#include "code/sites/site_table.h"

namespace weir::runtime {

// Executes the instruction at the site, in the order that the run promises.
void on_atomic(Frame& frame, const Site& site);

}  // namespace weir::runtime
