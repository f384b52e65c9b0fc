// The name that the kernel has of a task, set by another one (pthread_setname_np). Implemented in
// names.cc.
#pragma once

#include <signal.h>

namespace weir::trap {

// The program has written `size` bytes to a descriptor, and the kernel refuses them (EINVAL). If
// that descriptor is the name of a task, by /proc, the task takes it. Returns `size`, or -EINVAL.
long name_other(long descriptor, long text, long size);

// Signal-safe. Returns true if the signal brings a name, which the task has now.
bool takes_name(int signal, const siginfo_t& info);

}  // namespace weir::trap
