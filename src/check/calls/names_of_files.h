// Calls that name files: what names stand for is noticed by who asks for them.
// Implemented in names_of_files.cc.
#pragma once

#include "check/calls/call_order.h"

namespace weir::checking {

// Before the call. `is_beside_folder`: of calls with one path, that it is the second word.
void release_names(const CallArguments& call, bool is_beside_folder);
// After it.
void acquire_names(const CallArguments& call, bool is_beside_folder, long result);

}  // namespace weir::checking
