// Which pages of this process are private copies of pages of the backing.
#pragma once

#include "control/task.h"

namespace weir::view::isolated {

using AddPage = void (*)(Task& task, uint64_t page);

// Calls `add` for every copy, by rising address within each range of memory.
void for_each_copy(Task& task, AddPage add);
// The page is a copy.
bool is_copy(uint64_t page);
// Calls `found` for each stretch of copies in [start, start+size) that were made but not written
// yet.
void for_each_unwritten(uint64_t start, uint64_t size,
                        void (*found)(uint64_t start, uint64_t size));

}  // namespace weir::view::isolated
