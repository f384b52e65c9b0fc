// A file that will be executed, as the kernel reads it. Signal-safe.
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#include "sys/syscall_x86_64.h"

namespace weir::tasks {

inline constexpr uint64_t kHead = 256;  // of a file, in which the kernel looks for what it is
inline constexpr int kDeepest = 5;      // interpreters of interpreters

class File {
 public:
  File(int directory, const char* path, int flags)
      : number_(static_cast<int>(sys::raw(SYS_openat, directory, reinterpret_cast<long>(path),
                                          O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags))) {}
  explicit File(int number) : number_(number), borrowed_(true) {}
  ~File() {
    if (number_ >= 0 && !borrowed_) sys::raw(SYS_close, number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }
  long read(void* to, uint64_t size, uint64_t offset) const {
    return sys::raw(SYS_pread64, number_, reinterpret_cast<long>(to), static_cast<long>(size),
                    static_cast<long>(offset));
  }
  bool is_regular() const {
    struct stat status;
    return !sys::failed(sys::raw(SYS_fstat, number_, reinterpret_cast<long>(&status))) &&
           S_ISREG(status.st_mode);
  }

 private:
  int number_;
  bool borrowed_ = false;
};

// Returns the name behind `#!` in a script's first bytes, which it makes a string, or null if there
// is none. REQUIRES: head[kHead] is 0.
inline const char* interpreter_of(char* head) {
  char* name = head + 2;
  while (*name == ' ' || *name == '\t') name++;
  char* end = name;
  while (*end && *end != '\n' && *end != ' ' && *end != '\t') end++;
  if (end == name || end == head + kHead) return nullptr;
  *end = 0;
  return name;
}

}  // namespace weir::tasks
