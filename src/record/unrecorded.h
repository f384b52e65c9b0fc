// Memory that a program's processes share, or others with them: what of it is in no recording.
// Implemented in shared_memory/unrecorded.cc.
#pragma once

#include <stdint.h>

namespace weir::recording {

// Recording, before a process is made: notes it for the command, once.
void note_shared_memory();
// Likewise, of the file: one process has it mapped for reading only, which is not tracked, and
// another is about to map it for writing.
void note_untracked(int descriptor);
// Notes for the command, once, that something outside the recording has changed the shared memory
// at the address without taking its page (record/shared_memory.h).
void note_stranger(uint64_t address);

}  // namespace weir::recording
