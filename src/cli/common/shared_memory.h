// Memory that the command makes and the program's runtime maps as well: a sparse file of memory
// (memfd).
#pragma once

#include <cstdint>
#include <string>

namespace weir::cli {

class SharedMemory {
 public:
  // `purpose` is for the user: "for a recording". Throws Failure where the machine or a limit does
  // not allow it.
  SharedMemory(const char* name, uint64_t size, const std::string& purpose);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  uint64_t base() const { return base_; }
  int descriptor() const { return descriptor_; }  // this process's

  // In the child: the descriptor that the program inherits, at `number`. False with errno.
  bool pass_on(int number) const;

 private:
  uint64_t base_ = 0, size_;
  int descriptor_ = -1;
};

// The same of another descriptor.
bool pass_descriptor_on(int descriptor, int number);

// Returns the number for pass_on: above what the program may have, if limits allow that; as for the
// runtime's own descriptors (memory/hidden_descriptors.cc). `is_low`: 1024 where that is lower; a
// process with a high number takes long to copy.
int descriptor_number(bool is_low = false);

}  // namespace weir::cli
