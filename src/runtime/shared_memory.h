// Memory that a program's processes share: what they tell each other by it is in no recording.
#pragma once

namespace weir::recording {

// Recording, before a process is made: notes it for the command, once.
void note_shared_memory();

}  // namespace weir::recording
