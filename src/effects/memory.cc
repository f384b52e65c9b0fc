// Every structure is copied out before it is used: it may not be there.

#include "effects/memory.h"

#include <sys/uio.h>

#include "base/bytes.h"
#include "base/types.h"

namespace weir::effects {

namespace {

bool copy(void* to, uint64_t from, uint64_t size) {
  copy_bytes(to, reinterpret_cast<const void*>(from), size);
  return true;
}

Fetch g_fetch = copy;

}  // namespace

void set_fetch(Fetch fetch) { g_fetch = fetch; }

bool fetch(void* to, uint64_t from, uint64_t size) {
  return from < kAddressLimit && size <= kAddressLimit - from && g_fetch(to, from, size);
}

void visit_vectors(const Visitor& visitor, uint64_t vectors, uint64_t count, uint64_t bytes) {
  if (count > kMaxVectors) return;
  for (uint64_t i = 0; i < count && bytes; i++) {
    iovec one;
    if (!fetch(one, vectors + i * sizeof one)) return;
    const uint64_t size = one.iov_len < bytes ? one.iov_len : bytes;
    visitor(reinterpret_cast<uint64_t>(one.iov_base), size);
    bytes -= size;
  }
}

void visit_string(const Visitor& visitor, uint64_t address, uint64_t most) {
  if (!address) return;
  for (uint64_t size = 0; size < most;) {
    char piece[64];  // does not reach into a page that the string may not reach into
    const uint64_t at = address + size, to_page_end = kPageSize - at % kPageSize;
    const uint64_t part = to_page_end < sizeof piece ? to_page_end : sizeof piece;
    if (!fetch(piece, at, part)) return;
    for (uint64_t i = 0; i < part; i++) {
      if (piece[i] == 0) return visitor(address, size + i + 1);
    }
    size += part;
  }
}

}  // namespace weir::effects
