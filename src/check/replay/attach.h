// A replay that is checked: its memory for what is found.
#pragma once

namespace weir::view::checked::replay {

// At the start. False: this is no replay that the command wants checked. The memory is the
// command's, and has no descriptor in the program: the environment, and what is inherited, must be
// as they were recorded.
bool attach();

}  // namespace weir::view::checked::replay
