// Which function makes a call that the stubs hand over. It depends on the number, on whether the
// program has tasks or one thread, and on whether it is recorded: choose_handled() in syscall.h
// decides it, once for all calls.
// Implemented in handlers.cc.
#pragma once

#include "syscall/syscall.h"

namespace weir::syscalls {

long make_by_number(Call& call);
// Of a vfork child.
long make_for_borrower(Call& call);
// Recorded, one task: a signal ends a sleep, and is handled when the call is over; before a write.
long call_recorded(Call& call);

// Under memory=tso: other processors are made to have no store left in their buffers, by that call.
bool may_drain_stores(long number);
bool closes_descriptors(long number);
bool is_futex(long number);

}  // namespace weir::syscalls
