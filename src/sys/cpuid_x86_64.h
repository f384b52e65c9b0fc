// cpuid: what the processor says of itself. The kernel can make cpuid fault (ARCH_CPUID), so that
// no code executes it unseen. The runtime's own use of it is then let through.
#pragma once

#include <stdint.h>

#include "sys/syscall_x86_64.h"

namespace weir::sys {

struct Cpuid {
  uint32_t a, b, c, d;
};

inline bool g_cpuid_faults = false;

// Makes cpuid fault in the calling thread, or not. Returns false if this processor, or the system,
// cannot do that.
inline bool let_cpuid_fault(bool faults) {
  constexpr long kArchCpuid = 0x1012;
  return raw(SYS_arch_prctl, kArchCpuid, faults ? 0 : 1) == 0;
}

inline Cpuid cpuid(uint32_t leaf, uint32_t part = 0) {
  const bool faults = g_cpuid_faults;
  if (faults) let_cpuid_fault(false);
  Cpuid told{leaf, 0, part, 0};
  asm volatile("cpuid" : "+a"(told.a), "=b"(told.b), "+c"(told.c), "=d"(told.d));
  if (faults) let_cpuid_fault(true);
  return told;
}

}  // namespace weir::sys
