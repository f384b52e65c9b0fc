// weir check --suggest: annotations (weir.h) that say what the program does with its memory anyway.
#pragma once

#include <string>

#include "cli/findings_memory.h"

namespace weir::cli {

// Throws Failure where this build's runtime does not collect what suggestions are made of.
void refuse_suggestions();

// After the run.
void print_suggestions(const FindingsReader& findings, const std::string& log);

}  // namespace weir::cli
