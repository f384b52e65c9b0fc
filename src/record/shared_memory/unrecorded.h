// Memory that a program's processes share, or others with them: what of it is in no recording.
#pragma once

#include <stdint.h>

namespace weir::recording {

// Recording, before a process is made: notes it for the command, once.
void note_shared_memory();
// The same: the shared memory at the address was changed by somebody who had not taken it
// (record/shared_memory/shared_memory.h).
void note_stranger(uint64_t address);

}  // namespace weir::recording
