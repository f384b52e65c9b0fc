// The addresses of a new program, the same in every run, where the kernel may not be asked for that
// (personality with ADDR_NO_RANDOMIZE, which the filters of containers refuse).
//
//   0x400000 or 0x555555554000    the program, and brk behind it
//   ... below kTop                vDSO, loader; and below them what is mapped from now on
//   kTop to kBehindTop            reserved (PROT_NONE): the kernel looks for free addresses from a
//                                 random one in there downwards, and so finds those below kTop
//   ... 0x7ffffffff000            the stack
//
// All that the kernel has mapped by the end of execve is moved there (mremap), before the first
// instruction of the program runs: nothing in it knows its address yet but the table on the stack
// (argv, environ, auxv), which is written anew.
#pragma once

#include <stdint.h>

#include "loader/traced.h"

namespace weir::loader {

inline constexpr uint64_t kTop = 0x7e8000000000;
inline constexpr uint64_t kBehindTop =
    0x7ffc00000000;  // random stacks lie 16 GiB below their limit
inline constexpr uint64_t kStackLimit = 0x7ffffffff000;
inline constexpr uint64_t kProgram = 0x555555554000;
// With a higher limit the kernel begins to look for addresses below kTop.
inline constexpr uint64_t kMostStack = uint64_t{256} << 30;

enum class Layout {
  kFixed,
  kTryAgain,  // the kernel has taken unsuitable random addresses: nothing has changed, and after
              // another execve there are others
  kFailed,    // the process can only be ended
};

struct LayoutResult {
  Layout layout;
  const char* step;  // what failed
  long error;
};

// REQUIRES: the process has executed a program, has not run since, and is stopped between two
// instructions.
LayoutResult fix_layout(Traced& process);

}  // namespace weir::loader
