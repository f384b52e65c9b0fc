// Private memory of the program's that began as a file's bytes: memory of the backing knows nothing
// of its file any more, but MADV_DONTNEED brings the file's bytes back, and mremap shows more of
// them.
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "control/control.h"
#include "sys/maps.h"

namespace weir::page {

// The file that a descriptor or a line of the maps names. Its path is empty where it has none.
FileSource source_of(long descriptor);
FileSource source_of(const sys::MapLine& line);

// Notes that the range begins with the file's bytes at `offset`. Reports it if there is no room for
// another file. Guarded by: the turn, if tasks exist, for all functions of this file.
void remember_file(Range range, const FileSource& source, uint64_t offset);
// Notes that the range holds no file's bytes any more.
void forget_file(Range range);
// Notes that memory moves to another place, where it may be longer.
void move_file(Range from, Range to);
// Returns the first part of `range` that is a file's, or an empty range if there is none.
Range file_part(Range range, const FileSource** source, uint64_t* offset);
// Opens the file, if it is still the same one. Returns the descriptor, or -errno.
long open_source(const FileSource& source);

}  // namespace weir::page
