#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

// Bytes of the well-formed UTF-8 character (RFC 3629) at `text`, which ends with a NUL; 0: none
// begins there.
inline size_t utf8_length(const char* text) {
  const auto* const at = reinterpret_cast<const uint8_t*>(text);
  const size_t length = *at < 0x80   ? 1
                        : *at < 0xc2 ? 0
                        : *at < 0xe0 ? 2
                        : *at < 0xf0 ? 3
                        : *at < 0xf5 ? 4
                                     : 0;
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  const bool too_long = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xf0 && at[1] < 0x90);
  const bool surrogate = *at == 0xed && at[1] >= 0xa0, too_large = *at == 0xf4 && at[1] >= 0x90;
  return too_long || surrogate || too_large ? 0 : length;
}

}  // namespace weir
