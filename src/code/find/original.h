// The bytes of a text as they are without patches.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "code/find/scratch.h"
#include "code/find/text_map.h"

namespace weir {

class Original {
 public:
  // A reader of a chunk may also read so many bytes behind it, as far as the text goes.
  static constexpr uint32_t kBehind = 64;

  // Returns false if there is no memory. REQUIRES: `map`, of the same text, outlives this.
  [[nodiscard]] bool build(Range text, const TextMap& map);

  // Where the text begins, for a reader of that chunk. Bytes of another chunk may be wrong there.
  const uint8_t* code_of(size_t chunk) const { return is_patched(chunk) ? copy_ : code_; }
  // Some of the chunk's bytes were replaced before.
  bool is_patched(size_t chunk) const { return patched_ != nullptr && patched_[chunk]; }

 private:
  [[nodiscard]] bool copy_chunk(size_t chunk);

  Range text_;
  const TextMap* map_ = nullptr;
  const uint8_t* code_ = nullptr;
  uint8_t* copy_ = nullptr;
  bool* patched_ = nullptr;
  Scratch memory_;
};

}  // namespace weir
