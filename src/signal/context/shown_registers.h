// Problem: signals that come while a task is in the runtime are raised on the way out, where the
// interrupted registers are the runtime's. But a handler reads its context, and changes it: where
// the program goes on, what a call has returned. Mechanism: the handler's frame has the program's
// registers, from the copy from which the task goes on (Task::raising); what the kernel saved lies
// beside the frame, and takes its place when the handler has returned. What the handler has changed
// goes into the copy.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/frame.h"
#include "control/task.h"

namespace weir::trap {

// What lies behind a frame of the kernel's layout (`head`: its size) whose handler is shown others.
inline constexpr uint64_t kFrameHead = 440, kKeptSize = 256;

// The copy from which the task goes on, if its handlers are being raised; nobody has it then.
Frame* take_shown_frame(Task& task, uint64_t head);
// The context of the new frame gets the registers of `frame`, and keeps its own behind it.
// `unwinds`: the handler may unwind the stack from there, and so needs the program's address.
void show_registers(ucontext_t& context, Frame& frame, bool unwinds);
// The context is now as the handler gets it.
void note_shown(const ucontext_t& context);

}  // namespace weir::trap
