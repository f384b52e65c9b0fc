// Reading argument structures, and visiting what they lead to.
#pragma once

#include <stdint.h>

#include "effects/effects.h"

namespace weir::effects {

inline constexpr uint64_t kAddressLimit = 0x7ffffffff000;  // the program's addresses are below
inline constexpr uint64_t kMaxBytes = 0x7ffff000;          // in one call
inline constexpr uint64_t kMaxVectors = 1024;              // the kernel refuses more

bool fetch(void* to, uint64_t from, uint64_t size);
template <typename T>
bool fetch(T& to, uint64_t from) {
  return fetch(&to, from, sizeof to);
}
template <typename T>
T fetch_or(uint64_t from, T otherwise) {
  T value;
  return from && fetch(&value, from, sizeof value) ? value : otherwise;
}

struct Visitor {
  Visit visit;
  void* context;

  // The kernel takes less than the whole of a range that is too large, and nothing of one outside
  // of the program's addresses.
  void operator()(uint64_t address, uint64_t size) const {
    if (size > kMaxBytes) size = kMaxBytes;
    if (address && size && address < kAddressLimit && size <= kAddressLimit - address)
      visit(context, address, size);
  }
};

// The first `bytes` bytes of what `count` iovecs at `vectors` hold.
void visit_vectors(const Visitor& visitor, uint64_t vectors, uint64_t count, uint64_t bytes);
// With its NUL; nothing where that is not found within `most` bytes.
void visit_string(const Visitor& visitor, uint64_t address, uint64_t most);

}  // namespace weir::effects
