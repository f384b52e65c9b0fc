// Access to a pointer variable of the program, which may no longer be there (it was on the stack of
// a thread that has ended). If such an instruction faults because nothing is mapped, the trap goes
// on where `weir_region_moves` says, and the result is "no".
#pragma once

#include <stdint.h>

namespace weir::region {

// One instruction that may fault, and where to go on; both relative to the entry's own words.
struct MayFault {
  int32_t instruction, continuation;
};
extern "C" const MayFault __start_weir_region_moves[] __attribute__((visibility("hidden")));
extern "C" const MayFault __stop_weir_region_moves[] __attribute__((visibility("hidden")));

// 0: that instruction may not fault.
inline uint64_t continuation_of(uint64_t instruction) {
  for (const MayFault* entry = __start_weir_region_moves; entry < __stop_weir_region_moves;
       entry++) {
    if (reinterpret_cast<uint64_t>(&entry->instruction) +
            static_cast<uint64_t>(int64_t{entry->instruction}) ==
        instruction) {
      return reinterpret_cast<uint64_t>(&entry->continuation) +
             static_cast<uint64_t>(int64_t{entry->continuation});
    }
  }
  return 0;
}

#define WEIR_REGION_MAY_FAULT(at, continues)                                             \
  ".pushsection weir_region_moves, \"a\"\n.balign 4\n.long " at " - .\n.long " continues \
  " - .\n.popsection\n"

// The variable's value. False: it cannot be read.
inline bool read_pointer(void** location, void** value) {
  int is_there = 1;
  void* found = nullptr;
  asm volatile(
      "1: movq (%[location]), %[found]\n"
      "2:\n"
      ".pushsection .text.unlikely, \"ax\"\n"
      "3: xorl %[is_there], %[is_there]\n"
      "jmp 2b\n"
      ".popsection\n" WEIR_REGION_MAY_FAULT("1b", "3b")
      : [found] "+r"(found), [is_there] "+r"(is_there)
      : [location] "r"(location)
      : "memory", "cc");
  *value = found;
  return is_there;
}

// Writes `to` where `from` still is: by one instruction, for a signal's handler and, `others` being
// there, for other threads.
inline void exchange_pointer(void** location, void* from, void* to, bool others) {
  if (others) {
    asm volatile("1: lock cmpxchgq %[to], (%[location])\n2:\n" WEIR_REGION_MAY_FAULT("1b", "2b")
                 : "+a"(from)
                 : [location] "r"(location), [to] "r"(to)
                 : "memory", "cc");
  } else {
    asm volatile("1: cmpxchgq %[to], (%[location])\n2:\n" WEIR_REGION_MAY_FAULT("1b", "2b")
                 : "+a"(from)
                 : [location] "r"(location), [to] "r"(to)
                 : "memory", "cc");
  }
}

#undef WEIR_REGION_MAY_FAULT

}  // namespace weir::region
