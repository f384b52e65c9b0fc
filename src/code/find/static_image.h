// What a program's file says of its functions beyond what is mapped of it. For statically linked
// programs: linkers leave the table out by which unwinders find frames in such a program, and it
// has no dynamic symbols. Its file has the table's sections, and symbols unless it is stripped. And
// for others that no compiler has given such a table (Free Pascal).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"

namespace weir::static_image {

// Learns it once, for the object that is mapped at `object`, from its whole file at `file`. Both
// may go afterwards. False: there is no memory.
[[nodiscard]] bool learn(Range object, Range file, uint64_t bias);

bool is_learned();
bool is_at(Range object);
// Where its frame descriptions lie in the object; empty: the file does not say.
Range frames();
// The file does not say where all functions lie, and what its data names may be one. Not, if Go's
// own table says it (code/find/go_table.cc).
bool takes_names();
// Addresses in executable segments that stand in its data.
const uint64_t* named(size_t& count);
// Functions by symbol; empty ranges for those without a size.
const Range* functions(size_t& count);

}  // namespace weir::static_image
