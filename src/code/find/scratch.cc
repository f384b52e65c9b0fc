#include "code/find/scratch.h"

#include "base/types.h"
#include "sys/memory.h"

namespace weir {

Scratch::~Scratch() {
  if (address_ != 0) sys::unmap(address_, size_);
}

bool Scratch::take(uint64_t size) {
  size_ = page_up(size);
  long address = sys::map_anonymous(size_);
  if (sys::failed(address)) return false;
  address_ = static_cast<uint64_t>(address);
  return true;
}

void Scratch::expect(uint64_t size) { sys::expect_writes(address_, size); }

}  // namespace weir
