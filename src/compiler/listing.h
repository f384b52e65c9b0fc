// What weir-cc has made of a program's static variables.
#pragma once

namespace weir::cc {

// Prints for each file the variables that have pages of their own, by name where the file has
// symbols, and what they take. Status 1: a file cannot be read, or is no program or library.
int list_objects(int count, char** files);

}  // namespace weir::cc
