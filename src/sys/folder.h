// The entries of an open folder.
#pragma once

#include <stdint.h>

#include "sys/syscall_x86_64.h"

namespace weir::sys {

// Calls visit(name) for each, `.` and `..` too, until that returns false; returns false then.
template <typename Visit>
bool each_entry(long folder, Visit visit) {
  struct Entry {
    uint64_t inode, offset;
    uint16_t length;
    uint8_t type;
    char name[];
  };
  alignas(8) char entries[2048];
  for (;;) {
    const long size =
        raw(SYS_getdents64, folder, reinterpret_cast<long>(entries), long{sizeof entries});
    if (size <= 0) return true;
    for (long at = 0; at < size;) {
      const auto& entry = *reinterpret_cast<const Entry*>(entries + at);
      at += entry.length;
      if (!visit(static_cast<const char*>(entry.name))) return false;
    }
  }
}

}  // namespace weir::sys
