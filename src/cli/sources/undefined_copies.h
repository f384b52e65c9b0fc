// Copies under a condition, of which a compiler may drop the condition.
#pragma once

#include <string>

#include "cli/sources/source_tokens.h"

namespace weir::cli {

// Whether the function at the line copies `variable` (its last name; empty: whatever stands at the
// line) under a condition into a local that has no value else. `is_inlined`: what its parameters
// refer to may be such a local. A line that reads the variable otherwise speaks for itself.
bool copies_into_undefined(const SourceFile& file, int line, const std::string& variable,
                           bool is_inlined);

}  // namespace weir::cli
