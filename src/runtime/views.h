// Which View the run has.
#pragma once

namespace weir::runtime {

// Chooses it by plan(). Called again once it is known that a replay is checked
// (check/core/attach.h).
void use_view();

}  // namespace weir::runtime
