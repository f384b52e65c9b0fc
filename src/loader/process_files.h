// Files of another process in /proc, without libc.
#pragma once

#include <fcntl.h>
#include <stdint.h>

#include "sys/syscall_x86_64.h"

namespace weir::loader {

inline constexpr uint64_t kMostPath = 4096;

// Write at `to`, with a NUL behind, and return where the NUL is. (The command does not have those
// of base/bytes.h.)
inline char* put_text(char* to, const char* text) {
  while ((*to = *text++)) to++;
  return to;
}
inline char* put_number(char* to, uint64_t number) {
  char digits[20];
  int count = 0;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while (number /= 10);
  while (count) *to++ = digits[--count];
  *to = 0;
  return to;
}

// "/proc/PID" and `name`. Returns where the NUL is.
inline char* put_path(char* to, int pid, const char* name) {
  return put_text(put_number(put_text(to, "/proc/"), static_cast<uint64_t>(pid)), name);
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
