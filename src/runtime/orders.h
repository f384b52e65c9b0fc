// Which Order the run has.
#pragma once

namespace weir::runtime {

// Chooses it by plan(), before the second task begins.
void use_order();

}  // namespace weir::runtime
