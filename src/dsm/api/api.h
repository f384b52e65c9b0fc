// The node of this process, and the calling thread's part of it.
#pragma once

#include "dsm/core/node.h"

namespace weir::dsm {

// Of the calling thread; made at its first call. Ends the job where the library has not been
// started.
Thread& this_thread();
// The same, without making it.
Node& node();
// For tests with several nodes in one process: which node the calling thread belongs to.
void use_node(Node* node, unsigned worker);

// SIGSEGV goes to the node whose segment it hits, to libweir-region, or to who handled it before.
void watch_faults(Node& node);
void forget_faults(Node& node);

}  // namespace weir::dsm
