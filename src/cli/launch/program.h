// Finds the program that a user named and decides, before anything is started, whether Weir can get
// into it.
#pragma once

#include <string>
#include <vector>

namespace weir::cli {

struct Program {
  std::string path;               // what execve gets
  std::vector<std::string> argv;  // what the program gets
};

// Searches PATH as a shell does. Throws Failure: 127 where there is no such program, 126 where
// there is one that cannot be run, or that Weir cannot get into (static, 32-bit, for another
// processor, set-uid, not for glibc). A file that is text without `#!` is run by /bin/sh, as execvp
// does.
Program locate_program(const std::vector<std::string>& words);

// Throws Failure where Weir cannot get into the program at `path`; follows `#!` lines to the
// interpreter. Returns false where the file is text without `#!`.
bool check_program(const std::string& path);

}  // namespace weir::cli
