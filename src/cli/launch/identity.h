// Which files a program consists of when it starts, and whether they are still what they were.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/program.h"
#include "recording/manifest.h"

namespace weir::cli {

// The program, the interpreters of a script, and all libraries that the loader would load with
// `environment`, in that order. Asks the loader itself, which starts nothing. Throws Failure where
// one of them cannot be read.
std::vector<recording::Identity> identities(const Program& program,
                                            const std::vector<std::string>& environment);

// Returns the identity of one file. Throws Failure if it cannot be read.
recording::Identity identity_of(const std::string& path);

// Empty: unchanged. Else what is different: "/bin/a has changed since: it has 8 bytes instead of
// 9".
std::string change_of(const recording::Identity& file);

}  // namespace weir::cli
