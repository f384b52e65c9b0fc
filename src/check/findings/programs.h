// What a checked program has executed, and what of it was not checked: part of the memory of
// findings (check/findings/findings.h).
//
// Who executes a program notes it before; the program takes the note out as soon as the runtime is
// at work in it. What is left when all has ended was not checked. A place is taken by a
// compare-and-exchange of its state, by whichever process comes to it.
#pragma once

#include <stdint.h>

namespace weir::findings {

inline constexpr uint32_t kMaxExecuted = 512, kMaxOutside = 64;

// A program that is being executed.
struct Executed {
  enum State : uint32_t { kNone, kFilled /* being */, kBegun };
  uint32_t state;
  int32_t pid;  // of the process, in its own name space
  char name[248];
};

// A program that the runtime cannot enter, each name once.
struct OutsideProgram {
  uint32_t ready;
  char why[60], name[448];
};

struct Programs {
  uint32_t lost;     // for which there was no room
  uint32_t outside;  // taken so far; may be more than there is room for
  Executed executed[kMaxExecuted];
  OutsideProgram outsider[kMaxOutside];
};

}  // namespace weir::findings
