// A filter in front of the kernel, which sends back system calls whose arguments point into the
// shared segment.
// Implemented in gate_x86_64.cc and kernel_filter.cc.
#pragma once

#include <stdint.h>

#include "effects/effects.h"

extern "C" {
// Makes a system call with these six arguments; the filter lets it pass. -errno where it fails.
long weir_dsm_gate(long number, const long* arguments);
extern const char weir_dsm_gate_end[];  // what follows its instruction
}

namespace weir::dsm {

// The signal's si_errno: this filter, not one of the program's own.
inline constexpr uint16_t kFilterMark = 0x5745;

// Whether the filter looks at that argument of such a call; all others may hold anything.
bool is_pointer(const effects::Request& request, int argument);

// From here on, in all threads and in those that they make: a call one of whose pointers, as the
// table of effects knows them, lies in [begin, begin + size) raises SIGSYS in its thread. So does
// each io_submit, io_uring_register, fork and clone of a process that goes on where it was called,
// by code of this process. 0, or an error number: calls go on as before.
int filter_calls(uint64_t begin, uint64_t size);

}  // namespace weir::dsm
