// What is known of the file that a text of the program's comes from.
#pragma once

#include <stdint.h>

namespace weir {

// The file whose bytes a text is: a change of it changes one of these. All zero: not known.
struct TextFile {
  uint64_t device, inode, size, offset;  // offset: of the text in the file
  int64_t modified, changed;             // nanoseconds

  bool is_known() const { return inode != 0; }
  bool operator==(const TextFile&) const = default;
};
static_assert(sizeof(TextFile) == 48);

}  // namespace weir
