// What an ioctl does to the memory that its argument points to.
#pragma once

#include <stdint.h>

#include "effects/memory.h"

namespace weir::effects {

struct IoctlEffect {
  bool known = false;
  uint16_t written = 0;  // bytes from the argument, once it has succeeded
  uint16_t read = 0;     // bytes from the argument
};

IoctlEffect ioctl_effect(uint32_t command);

// Visits what the kernel wrote beyond that, if a structure points to more or has no fixed size.
// `command` has succeeded.
void ioctl_written_beyond(uint32_t command, uint64_t argument, const Visitor& visitor);

}  // namespace weir::effects
