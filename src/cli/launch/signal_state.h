// What a program inherits of signals from who starts it: a program may look which are ignored, and
// go another way. So a recording has it, and a replay's program finds it whoever starts that.
#pragma once

#include "recording/manifest.h"

namespace weir::cli {

// Of a program that this process starts now.
recording::SignalState inherited_signals();
// In the child that becomes a program.
void inherit(const recording::SignalState& signals);

// The command ignores some signals itself while a child of it runs, as its own writes tell it by
// their errors. A program finds them as they were before the first child, also the second program
// that the command starts.
void remember_signals();    // before a child, and before anything is caught
void give_back_signals();   // in it
void ignore_own_signals();  // in the command

}  // namespace weir::cli
