// What is done when a program misuses its heap (heap/guard/guard.h): it is told, with the stacks
// of the access, of the allocation and of the free, and the program ends with status 66.
// Implemented in heap_misuse.cc.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "control/task.h"
#include "heap/guard/guard.h"

namespace weir::trap {

// For guard::find_calls. Signal-safe.
bool read_program(void* to, uint64_t from, uint64_t size);

// The number of the current task, as the schedule log counts.
uint32_t heap_user();

// `by`: where the program does it. `what`: how, such as "write to"; `is_exact`: of find_calls.
[[noreturn]] void tell_heap_misuse(const guard::Misuse& misuse, const guard::Standing& by,
                                   const char* what, bool is_exact);

// A fault that the program has not been told of. Returns if the heap has nothing to do with it.
void look_at_heap_fault(const Task& task, const siginfo_t& info, const ucontext_t& context);

// The kernel has refused a system call with EFAULT. Returns likewise.
void look_at_heap_call(const Task& task, const long* arguments, uint32_t count);

// The program ends by itself: looks at the patterns of all blocks, and says what was not guarded.
void look_at_heap_end();

}  // namespace weir::trap
