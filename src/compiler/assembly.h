// Assembly that a compiler made, changed so that each static variable has pages of its own (PUSh,
// section 3.1).
#pragma once

#include <string>
#include <string_view>

namespace weir::cc {

// Whether gcc or clang wrote this; what a person wrote is left as it is.
bool is_compiled(std::string_view assembly);

// Returns the same program, changed in two ways. Every writable static variable begins a page, and
// nothing else lies in its last page. A list of them is in the section weir_statics
// (check/policy/globals.h). Constants, thread-local variables, variables in sections that the
// program names, common symbols (-fcommon) and what compilers make for themselves stay where they
// were.
std::string with_own_pages(std::string_view assembly);

}  // namespace weir::cc
