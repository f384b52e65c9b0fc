// Completion of weir's words in shells, made from the command line's model.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line/command_model.h"

namespace weir::cli {

inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

// The text that the shell reads. REQUIRES: `shell` is one of kShells.
std::string completion_of(const Model& model, const std::string& shell);

}  // namespace weir::cli
