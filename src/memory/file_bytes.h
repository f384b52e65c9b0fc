// Private memory of the program's that began as a file's bytes: store memory knows nothing of its
// file any more, but MADV_DONTNEED brings the file's bytes back, and mremap shows more of them.
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "control/control.h"
#include "sys/maps.h"

namespace weir::page {

// The file that a descriptor or a line of the maps names. Its path is empty where it has none.
FileSource source_of(long descriptor);
FileSource source_of(const sys::MapLine& line);

// The range begins with the file's bytes at `offset`. Guarded by: the turn, where tasks exist; as
// is all below. Where there is no room for another file, that is said.
void remember_file(Range range, const FileSource& source, uint64_t offset);
// It is something else now.
void forget_file(Range range);
// Memory goes elsewhere, where it may be longer.
void move_file(Range from, Range to);
// The first part of `range` that was a file's: empty, there is none.
Range file_part(Range range, const FileSource** source, uint64_t* offset);
// A descriptor of the file, if it is the same one; or -errno.
long open_source(const FileSource& source);

}  // namespace weir::page
