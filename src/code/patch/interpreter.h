// The loader's name in a replayed program whose loader has changed since.
#pragma once

namespace weir {

// Puts back the name of the program's interpreter, if the command has put another in its place
// (cli/launch/kept_files.cc). Returns false where that fails.
bool restore_interpreter();

}  // namespace weir
