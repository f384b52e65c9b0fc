// What calls on memory mean for files that are mapped shared and hold code
// (memory/code/mapped_twice.h).
#pragma once

#include <stdint.h>

#include "syscall/syscall.h"

namespace weir::syscalls {

// Made before the call, which it changes: such mappings are closed at first. end() is called after
// it.
class SharedCode {
 public:
  explicit SharedCode(Call& call);
  void end(long result);

 private:
  Call& call_;
  int asked_;
  uint64_t file_ = 0;
  bool held_code_ = false, replaces_ = false;
};

}  // namespace weir::syscalls
