// weir_dsm_checkpoint and weir_dsm_restart (weir/dsm.h): shared memory on disk, and back. Files:
// files.h.
#pragma once

#include "dsm/node/node.h"

namespace weir::dsm {

// Collective. An error number, the same on all nodes.
[[nodiscard]] int write_checkpoint(const char* directory, void* root, Thread& thread);
// Collective. NULL: there is none.
void* read_checkpoint(const char* directory, Thread& thread);

}  // namespace weir::dsm
