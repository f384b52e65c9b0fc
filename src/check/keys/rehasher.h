// The thread that changes the hash function of a program that is checked by protection keys.
#pragma once

namespace weir::runtime {

// Once tasks exist.
void start_rehasher();

}  // namespace weir::runtime
