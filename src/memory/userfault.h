// A userfaultfd for a View: hidden from the program, one in each process. And the choice whether
// there is one: how a View finds out what a task does to memory.
//
// Either userfaultfd says it, or, where the kernel or a container refuses that, the page tables do:
// mprotect closes pages (memory/closed_pages.h), and /proc/self/pagemap shows which are copies
// (view/isolated/copies_by_pagemap.h). The choice is made once for a program, by its first process
// that runs tasks, and every process keeps to it. Nothing that a program or a recording sees
// depends on it, only the cost.
#pragma once

#include "sys/userfault.h"

namespace weir::page {

class Userfault {
 public:
  // `features`: of sys/userfault.h. Returns 0, or -errno: -EOPNOTSUPP where the kernel has a
  // userfaultfd without these, else why it gives none.
  long open(uint64_t features);
  void close();
  bool is_open() const { return file_ >= 0; }
  // ioctl: 0 or -errno.
  long control(unsigned long command, void* argument) const;
  // From now on it has the faults of these pages. `modes`: UFFDIO_REGISTER_MODE_*.
  long watch(uint64_t start, uint64_t size, uint64_t modes) const;

 private:
  int file_ = -1;
};

enum class Tracker : uint32_t { kUndecided, kUserfault, kPageTables };

// Decides, if that has not been done, and opens `userfault` if it is to be used. `features`: what
// the View needs of it. False with a report, for the View `view`: it is to be used, but this
// process gets none.
[[nodiscard]] bool open_tracker(Userfault& userfault, uint64_t features, const char* view);
// Only once it is decided.
Tracker tracker();
// Why userfaultfd is not used: "userfaultfd is refused" and the like. Null: it is used, or nothing
// is decided.
const char* why_page_tables();

}  // namespace weir::page
