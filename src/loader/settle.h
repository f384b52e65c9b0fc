// From the execve of a program to its first instruction: its addresses (loader/fixed_layout.h).
#pragma once

#include "loader/traced.h"

namespace weir::loader {

// After an execve's trace event: lets the process run to its first instruction and fixes its
// addresses, and writes the number of this process into its WEIR_OPTIONS. False if it is gone; it
// has then said why, and has ended with status 125.
bool settle(Traced& process);

}  // namespace weir::loader
