// The lines of /proc/self/maps, without libc and without touching memory of the program.
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir::sys {

struct MapLine {
  Range range;
  uint64_t offset;
  uint64_t device, inode;
  bool readable, writable, executable, shared;
  const char* name;  // NUL-terminated, "" for anonymous memory
};

// Reads the whole file; `text` (it is changed when parsed) stays until the next call in this process. Answers its length,
// or -errno.
long read_maps(char** text);

// The next line at `cursor` of the NUL-terminated text; null at the end, else where the line after it begins.
char* next_map_line(char* cursor, MapLine* line);

}  // namespace weir::sys
