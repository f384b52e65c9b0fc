// The ways out of the runtime and into new tasks that are machine code.
// Implemented in code/patch/entry_x86_64.S.
#pragma once

#include <stdint.h>

#include "base/frame.h"

extern "C" {
long weir_clone(uint64_t flags, uint64_t stack, int* parent_tid, int* child_tid, uint64_t tls,
                void (*entry)(uint64_t), uint64_t argument);
long weir_split(uint64_t flags, uint64_t monitor_stack);
[[noreturn]] void weir_enter_program(weir::Frame* frame);
}
