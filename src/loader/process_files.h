// Files of another process in /proc, without libc.
#pragma once

#include <fcntl.h>
#include <stdint.h>

#include "sys/syscall_x86_64.h"

namespace weir::loader {

inline constexpr uint64_t kMostPath = 4096;

// "/proc/PID" and `name`. Returns where the NUL is.
inline char* put_path(char* to, int pid, const char* name) {
  char digits[16];
  int count = 0;
  for (int rest = pid; rest; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  for (const char* c = "/proc/"; *c; c++) *to++ = *c;
  while (count) *to++ = digits[--count];
  for (const char* c = name; *c; c++) *to++ = *c;
  *to = 0;
  return to;
}

// Its length, or -errno.
inline long read_file(int pid, const char* name, char* to, long room) {
  char path[64];
  put_path(path, pid, name);
  const long file = sys::raw(SYS_open, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (sys::failed(file)) return file;
  long length = 0, got;
  while ((got = sys::raw(SYS_read, file, reinterpret_cast<long>(to + length), room - 1 - length)) >
         0)
    length += got;
  sys::raw(SYS_close, file);
  to[length] = 0;
  return length;
}

}  // namespace weir::loader
