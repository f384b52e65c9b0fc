// Whether a hunt guards the program's heap.
#pragma once

#include <cstddef>
#include <string>

namespace weir::cli::hunt {

struct HeapChoice {
  bool is_guarded = false;
  std::string why_not;  // for the user; empty: there is nothing to be said
};

// `wanted`: "guard", "plain" or "auto": guarded, unless the program has a sanitizer of its own for
// that, or `jobs` runs at once have too little memory.
HeapChoice choose_heap(const std::string& wanted, const std::string& path, size_t jobs);

}  // namespace weir::cli::hunt
