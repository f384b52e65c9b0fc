// Calls between libraries that are bound when they are first made: `jmp *slot` in a table of code
// (.plt), and the slot in a table of data (.got.plt), beside the program's small variables.
#pragma once

#include <stdint.h>

namespace weir {

// The code at `rip` may be such a jump.
inline bool may_be_bound_jump(uint64_t rip) {
  const auto* at = reinterpret_cast<const uint8_t*>(rip);
  return (at[0] == 0xff && at[1] == 0x25) || (at[0] == 0xf2 && at[1] == 0xff && at[2] == 0x25);
}

// The code at `rip` is such a jump through `slot`, and the slot is bound. The entry is rewritten:
// it jumps through `alias`, where the same bytes can be read. Returns the entry's address, at which
// program code goes on as if it had just come there; 0: it is none, or cannot be rewritten.
// REQUIRES: may_be_bound_jump(rip); this process runs one task.
[[nodiscard]] uint64_t move_bound_jump(uint64_t rip, uint64_t slot, uint64_t alias);
// The aliases are gone, in this process: its entries are as they were.
void restore_bound_jumps();

// The bytes alone. `code` is that of an entry of 16 bytes at `entry`; false: it is none that jumps
// through `slot`.
bool is_bound_jump(const uint8_t* code, uint64_t entry, uint64_t slot);

}  // namespace weir
