// The registers of a task at the moment it entered the runtime through a patched site.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

// Layout: written and read by src/code/patch/entry_x86_64.S; the order is part of the contract.
// `rip` is where the task goes on (initially the site's resume address); `rsp` is the program's
// stack pointer.
struct Frame {
  uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
  uint64_t rdi, rsi, rbp, rbx, rdx, rcx, rax;
  uint64_t rflags;
  uint64_t rsp;
  uint64_t rip;
  uint64_t shown;  // while the runtime works, the same place in the program's own text, for
                   // debuggers; of a task that has not begun: its TLS
  uint64_t site;   // index into the site table; kUpcall for a call from an interposed function
};
static_assert(sizeof(Frame) == 160 && offsetof(Frame, rax) == 112 && offsetof(Frame, site) == 152);

inline constexpr uint64_t kUpcall = ~uint64_t{0};
inline constexpr uint64_t kNotified = ~uint64_t{6};  // weir_notify

}  // namespace weir
