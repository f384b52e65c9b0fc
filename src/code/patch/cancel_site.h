// The one place of glibc's (2.41 and later) at which a thread in a blocking call may be cancelled
// (sys/libc.h).
//
// glibc's handler looks whether the signal has met the thread there. It meets it in a stub, or the
// call is the runtime's. So instead the call ends there with EINTR, as one does that the kernel
// does not begin again; glibc looks then, too.
#pragma once

#include <ucontext.h>

#include "code/sites/site_table.h"

namespace weir {

// Called after libc's `text` was patched. Returns false if there should be such a site, and is not.
[[nodiscard]] bool find_cancel_site(Range text);
// Signal-safe.
bool is_cancel_site(const Site& site);

// If `signal` is glibc's for cancellation, and has met the thread on its way into the call of that
// site, or in it, makes the thread go on behind the call with EINTR. Signal-safe.
void end_cancelled_call(int signal, ucontext_t& context);

}  // namespace weir
