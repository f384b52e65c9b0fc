// In code that the program has made itself, a site has one byte changed, so that it faults in its
// place. Each such byte stands for one byte of the program's. So the instruction's bytes alone tell
// what it was, also where the program has copied them elsewhere.
//
// What stands for a byte is privileged, whatever prefixes stand before it, and raises a general
// protection fault before anything else happens. Of these instructions sound code has only hlt,
// behind what never returns, and not before the rest of a locked instruction.
#pragma once

#include <stdint.h>

namespace weir {

struct MadeByte {
  uint8_t programs, faulting;
};
inline constexpr MadeByte kMadeBytes[] = {
    {0xf0, 0xf4},  // the lock prefix: hlt
    {0x86, 0xfa},  // xchg of a byte: cli
    {0x87, 0xfb},  // xchg: sti
    {0x0f, 0xec},  // the first byte of a longer opcode: in %dx,%al
};

// What faults in place of `byte`; 0 where nothing stands for it.
inline uint8_t faulting_byte(uint8_t byte) {
  for (const MadeByte& made : kMadeBytes)
    if (made.programs == byte) return made.faulting;
  return 0;
}

// The byte of the program's for which `byte` stands; `byte` itself where it stands for none.
inline uint8_t program_byte(uint8_t byte) {
  for (const MadeByte& made : kMadeBytes)
    if (made.faulting == byte) return made.programs;
  return byte;
}

}  // namespace weir
