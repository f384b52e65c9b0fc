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
// The same, of a file that has lost its name, or never had one: a descriptor of it is kept, until
// no memory began as its bytes any more.
FileSource kept_source_of(long descriptor);

// How the user is told of it.
const char* name_of(const FileSource& source);

// Notes that the range begins with the file's bytes at `offset`. Reports it if there is no room for
// another file. Guarded by: the turn, if tasks exist, for all functions of this file.
void remember_file(Range range, const FileSource& source, uint64_t offset);
// Notes that the range holds no file's bytes any more.
void forget_file(Range range);
// Notes that memory moves to another place, where it may be longer.
void move_file(Range from, Range to);
// Returns the first part of `range` that is a file's, or an empty range if there is none.
Range file_part(Range range, const FileSource** source, uint64_t* offset);
// Returns a part of memory that began as bytes of that file, of those at `bytes`; empty: there is
// none.
Range mapped_part(uint64_t device, uint64_t inode, Range bytes, const FileSource** source);
// What the user is told once in a program. True the first time.
enum class FileWord : uint32_t { kRoom = 1, kChanged = 2, kBeyondEnd = 4 };
bool first_time(FileWord word);
// Opens the file, if it is still the same one. Returns the descriptor, or -errno.
long open_source(const FileSource& source);

}  // namespace weir::page
