// What shells offer behind a command of libweir-dsm, written from its options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace weir::dsm {

// A script for "bash", "zsh" or "fish"; CLI::ValidationError for another shell.
std::string completion_of(const CLI::App& app, const std::string& shell);

}  // namespace weir::dsm
