// Which files a program consists of when it starts, and whether they are still what they were.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/program.h"
#include "recording/manifest.h"
#include "recording/store.h"

namespace weir::cli {

// What a recording does with the files that its programs consist of.
struct Keeping {
  recording::Store store;
  std::string folder;  // of kept contents, in the recording; empty: files are only named
};

// What the kernel and the loader map when `program` starts with `environment`: the program, the
// interpreters of a script, all libraries, and the files that tell the loader where they are. Asks
// the loader itself, which starts nothing. Throws Failure where one of them cannot be read.
std::vector<recording::Identity> identities(const Program& program,
                                            const std::vector<std::string>& environment,
                                            const Keeping& keeping);

// Returns the identity of one file, and keeps its content. Throws Failure if that cannot be done.
recording::Identity identity_of(const std::string& path, const Keeping& keeping);

// Whether it lies where a system installs programs and libraries.
bool is_installed(const std::string& path);

// Bytes that the kernel maps into each program for its vDSO: what is mapped later lies below.
uint64_t vdso_size();

// The first line of a script as the kernel takes it: the interpreter, and its argument if there is
// one. Empty: it is no script.
std::vector<std::string> interpreter_line(const recording::File& file);

// Empty: unchanged. Else what is different: "/bin/a has changed since: it has 8 bytes instead of
// 9".
std::string change_of(const recording::Identity& file);

}  // namespace weir::cli
