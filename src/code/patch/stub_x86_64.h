// Machine code of the stubs.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "code/decode/shape.h"
#include "code/sites/site_table.h"

namespace weir {

// No stub is longer: at most seven displaced instructions beside the 70 bytes of its own.
inline constexpr uint32_t kMaxStubSize = 224;
// An area of stubs begins with the address of the entry, which every stub jumps through.
inline constexpr uint32_t kStubAreaHeader = 16;

struct StubRequest {
  uint64_t stub = 0;              // where the stub is written, and runs
  uint64_t entry_slot = 0;        // where its area's address of the entry lies
  uint32_t index = 0;             // of the site
  const uint8_t* code = nullptr;  // the window's bytes as the program has them,
  uint64_t window = 0;            // which run at this address
  uint32_t window_size = 0;
  uint32_t site_at = 0;  // offset of the site in the window
};

// Writes the stub and fills in what `site` says about it. Returns false if some displaced
// instruction cannot reach what it refers to; what was written is then meaningless. REQUIRES:
// site.kind, length and address are set.
[[nodiscard]] bool write_stub(const StubRequest& request, Site& site);

// The jump that goes into the window. Returns false if it is out of reach.
[[nodiscard]] bool encode_jump(uint64_t from, uint64_t to, uint8_t (&bytes)[5]);

}  // namespace weir
