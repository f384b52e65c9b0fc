// Assembly that a compiler made, changed so that each static variable has pages of its own (PUSh,
// section 3.1).
#pragma once

#include <string>
#include <string_view>

namespace weir::cc {

// Whether gcc or clang wrote this; what a person wrote is left as it is.
bool is_compiled(std::string_view assembly);

// The same program with every writable static variable at the begin of a page and nothing else in
// its last one, and with a list of them in the section weir_statics (check/policy/globals.h).
// Constants, thread-local variables, variables in sections that the program names, common symbols
// (-fcommon) and what compilers make for themselves stay where they were.
std::string with_own_pages(std::string_view assembly);

}  // namespace weir::cc
