#include "patch/scratch.h"

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

void Scratch::expect(uint64_t size) {
  constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14
  sys::raw(SYS_madvise, static_cast<long>(address_), static_cast<long>(page_up(size)), kPopulateWrite);
}

}  // namespace weir
