// The lines of /proc/self/maps, without libc and without touching memory other than the caller's buffer.
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir::sys {

struct MapLine {
  Range range;
  uint64_t offset;
  bool readable, writable, executable, shared;
  const char* name;  // NUL-terminated, "" for anonymous memory
};

// Reads the whole file into `buffer` (it is changed when parsed). Answers its length, or -errno; -ENOSPC where the
// buffer is too small.
long read_maps(char* buffer, long capacity);

// The next line at `cursor` of the NUL-terminated text; null at the end, else where the line after it begins.
char* next_map_line(char* cursor, MapLine* line);

}  // namespace weir::sys
