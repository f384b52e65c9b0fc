// Reads what another program prints.
#pragma once

#include <functional>
#include <string>

namespace weir::cli {

// Standard output of the program that `become` executes in a child, to its end; what it says
// elsewhere is lost. Empty where it cannot be executed. Throws Failure where there is no child to
// be had. `become` does nothing else: it runs in this process's memory.
std::string output_of(const std::function<void()>& become);

}  // namespace weir::cli
