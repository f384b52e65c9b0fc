// The node of this process, and the calling thread's part of it.
// Implemented in dsm/api/api.cc, dsm/api/exceptions.cc and dsm/core/fault.cc.
#pragma once

#include "dsm/node/node.h"

namespace weir::dsm {

// Returns the calling thread's Thread, which is made at its first call. Ends the job if the library
// has not been started.
Thread& this_thread();
// Returns the calling thread's node, without making a Thread.
Node& node();
// Which node the calling thread belongs to: for tests with several nodes in one process, and for
// the library's own threads.
void use_node(Node* node, unsigned worker, Thread::Role role = Thread::Role::kProgram);

// Handles SIGSEGV: it goes to the node whose segment it hits, to libweir-region, or to its earlier
// handler.
void watch_faults(Node& node);
void forget_faults(Node& node);

// From here on an exception that nobody catches is named to all nodes (exceptions.cc).
void watch_exceptions();
void forget_exceptions();

}  // namespace weir::dsm
