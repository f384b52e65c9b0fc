// Finds what a user may have meant by a word that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::cli {

// Letters to insert, remove, replace, or to swap with their neighbour, until one word is the other.
size_t edit_distance(std::string_view one, std::string_view other);

// Returns the candidate that is most like `word`, the first of several, or an empty text if none is
// like it.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// ": did you mean NAME?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace weir::cli
