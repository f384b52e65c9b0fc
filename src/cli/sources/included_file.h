// Which file an #include names, as far as it can be told without the compiler's options.
#pragma once

#include <string>
#include <vector>

#include "cli/sources/source_tokens.h"

namespace weir::cli {

// Beside the file `from` that includes it, among the files of the unit, or where the compilers of
// this machine look; empty: there it is not.
std::string included_file(const Include& include, const std::string& from,
                          const std::vector<std::string>& unit);

// In a folder above `from`, or in `include` or `src` there, of which the compiler was often told
// (-I); empty: there it is not.
std::string guess_included_file(const Include& include, const std::string& from);

}  // namespace weir::cli
