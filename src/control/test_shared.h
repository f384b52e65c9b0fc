// For tests: control memory at its own place, since part of what is tested reaches it there.
#pragma once

#include <sys/mman.h>

#include "control/control.h"

namespace weir {

// Maps it, unless another test has, and unmaps what it has mapped.
class TestShared {
 public:
  TestShared()
      : at_(mmap(reinterpret_cast<void*>(kControl), sizeof(Shared), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0)) {}
  ~TestShared() {
    if (at_ != MAP_FAILED) munmap(at_, sizeof(Shared));
  }
  TestShared(const TestShared&) = delete;
  TestShared& operator=(const TestShared&) = delete;

 private:
  void* const at_;
};

}  // namespace weir
