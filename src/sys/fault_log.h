// Which pages of this process have faulted. The kernel's software event for page faults writes each
// address into a ring. If the kernel refuses that (perf_event_paranoid, a sandbox), only the number
// of faults is known, which is enough to tell that there was none.
//
// Either every fault of the one thread is in the ring, or the kernel's own count of faults says
// that some are missing: faults inside a system call if the kernel logs user code only, pages
// populated on request, a ring that ran over.
#pragma once

#include <stdint.h>

namespace weir::sys {

struct FaultMark {
  uint64_t minor = 0, major = 0;  // faults of this thread so far
  uint64_t head = 0;              // end of the ring
};

// Once per process, which has one thread. `address`: where the ring goes, the same place in every
// process. False: no ring.
bool start_fault_log(uint64_t address);
FaultMark mark_faults();
// Page addresses of the faults since `mark`, at most `most`, in order of time, a page perhaps
// several times. -1: not all are known.
long faults_since(const FaultMark& mark, uint64_t* page, uint32_t most);

}  // namespace weir::sys
