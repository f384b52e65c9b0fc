// Memory for the time of one patch_text(), given back at its end.
#pragma once

#include <stdint.h>

namespace weir {

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  // Zeros, touched as far as used. Returns false if there is no memory. REQUIRES: called once.
  [[nodiscard]] bool take(uint64_t size);
  // The first `size` bytes will all be used: one call of the kernel instead of a fault a page. A
  // hint.
  void expect(uint64_t size);
  uint64_t address() const { return address_; }

 private:
  uint64_t address_ = 0;
  uint64_t size_ = 0;
};

}  // namespace weir
