// What a descriptor is of.
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "sys/syscall_x86_64.h"

namespace weir::sys {

// By its name, which is a path or says what else it is ("anon_inode:[signalfd]"): up to `room`
// bytes, without a zero behind. Returns how many, or -errno. Like the kernel, it looks at the low
// half only: a program's register may have anything above (a structure of two descriptors, of which
// the first one is passed on).
inline long name_of_descriptor(long descriptor, char* to, uint64_t room) {
  char link[40];
  *append_number(append_text(link, "/proc/self/fd/"), static_cast<uint32_t>(descriptor)) = 0;
  return raw(SYS_readlink, reinterpret_cast<long>(link), reinterpret_cast<long>(to),
             static_cast<long>(room));
}

inline bool is_signalfd(long descriptor) {
  constexpr char kName[] = "anon_inode:[signalfd]";
  char name[sizeof kName];
  if (name_of_descriptor(descriptor, name, sizeof name) != long{sizeof kName - 1}) return false;
  name[sizeof kName - 1] = 0;
  return equal_strings(name, kName);
}

inline bool is_regular(long descriptor) {
  struct stat status {};
  return raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) == 0 &&
         S_ISREG(status.st_mode);
}

inline bool is_only_read(long descriptor) {
  const long flags = raw(SYS_fcntl, descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
}

// /dev/zero: what is mapped of it is anonymous memory, other memory each time.
inline bool is_zero_device(long descriptor) {
  constexpr dev_t kZeroDevice = 0x105;
  struct stat status {};
  return raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) == 0 &&
         S_ISCHR(status.st_mode) && status.st_rdev == kZeroDevice;
}

// It may be mapped to be shared and written.
inline bool is_shared_zero(long descriptor) {
  return is_zero_device(descriptor) && (raw(SYS_fcntl, descriptor, F_GETFL) & O_ACCMODE) == O_RDWR;
}

}  // namespace weir::sys
