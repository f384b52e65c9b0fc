// What a descriptor is of.
#pragma once

#include <stdint.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "sys/syscall_x86_64.h"

namespace weir::sys {

// By its name, which is a path or says what else it is ("anon_inode:[signalfd]"): up to `room`
// bytes, without a zero behind. Returns how many, or -errno.
inline long name_of_descriptor(long descriptor, char* to, uint64_t room) {
  char link[40];
  *append_number(append_text(link, "/proc/self/fd/"), static_cast<uint64_t>(descriptor)) = 0;
  return raw(SYS_readlink, reinterpret_cast<long>(link), reinterpret_cast<long>(to),
             static_cast<long>(room));
}

}  // namespace weir::sys
