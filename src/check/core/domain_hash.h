// A universal family of hash functions by multiply-mod-prime: which protection domain a task or a
// lock has (PUSh, section 3.3). Two names have the same domain with a probability of one in
// `domains`, whatever they are, over the choice of the function.
#pragma once

#include <stdint.h>

namespace weir {

class DomainHash {
 public:
  static constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

  DomainHash() = default;
  // Any two words make a function of the family. REQUIRES: domains > 0.
  DomainHash(uint64_t multiplier, uint64_t addend, uint32_t domains)
      : multiplier_(multiplier % (kPrime - 1) + 1), addend_(addend % kPrime), domains_(domains) {}

  // Returns a domain from 0 to domains - 1. REQUIRES: name < kPrime.
  uint32_t operator()(uint64_t name) const {
    return static_cast<uint32_t>((product(multiplier_, name) + addend_) % kPrime % domains_);
  }
  uint32_t domains() const { return domains_; }

 private:
  // Less than 2 * kPrime: two to the 61 is one.
  static uint64_t product(uint64_t a, uint64_t b) {
    const auto whole = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(whole & kPrime) + static_cast<uint64_t>(whole >> 61);
  }

  uint64_t multiplier_ = 1, addend_ = 0;
  uint32_t domains_ = 1;
};

}  // namespace weir
