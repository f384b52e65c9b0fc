// A userfaultfd for a View: hidden from the program, one in each process.
#pragma once

#include "sys/userfault.h"

namespace weir::page {

class Userfault {
 public:
  // `features`: of sys/userfault.h. False with a report for the View `view` where the kernel gives
  // none, or without these (`lacks` says so).
  bool open(const char* view, uint64_t features, const char* lacks);
  void close();
  bool is_open() const { return file_ >= 0; }
  // ioctl: 0 or -errno.
  long control(unsigned long command, void* argument) const;
  // From now on it has the faults of these pages. `modes`: UFFDIO_REGISTER_MODE_*.
  long watch(uint64_t start, uint64_t size, uint64_t modes) const;

 private:
  int file_ = -1;
};

}  // namespace weir::page
