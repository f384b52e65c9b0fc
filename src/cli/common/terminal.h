// Output to a terminal: in colours if the user has them, and no wider than the terminal. Colours go
// to a terminal only, and not to one that has none (TERM=dumb). NO_COLOR, if not empty, takes them
// away. Otherwise CLICOLOR_FORCE, if neither empty nor 0, puts them into files and pipes as well.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::cli {

enum class Paint { kPlain, kStrong, kGood, kBad, kWarning, kMark };

bool has_colours(int descriptor);

// Returns `text` in this paint, if `is_on`.
std::string painted(Paint paint, std::string_view text, bool is_on);

// Columns of the terminal at `descriptor`; 0: it is none.
size_t columns_of(int descriptor);

// Columns for help: the terminal's at standard output, else those of the variable COLUMNS, else 80;
// at least 40.
size_t help_columns();

// Columns that UTF-8 text takes: wide letters two, combining ones none. Each byte that is no UTF-8
// takes one.
size_t display_width(std::string_view text);

// One letter of it: how many bytes and columns. REQUIRES: `text` is not empty.
struct Letter {
  size_t bytes, columns;
};
Letter first_letter(std::string_view text);

// Broken into lines of at most `columns` at spaces. Newlines in `text` stay; a line that begins
// with a space is not broken. Each line but the first begins with `indent` spaces, which count.
std::string wrapped(std::string_view text, size_t columns, size_t indent);

}  // namespace weir::cli
