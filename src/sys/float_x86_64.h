// What a thread has of the processor beside its registers: how vector and x87 arithmetic round and
// which exceptions they raise, as it has from the one that makes it; whether unaligned accesses
// trap.
#pragma once

#include <stdint.h>

namespace weir::sys {

struct FloatControl {
  uint32_t vector;  // MXCSR
  uint16_t x87;     // control word
};

inline FloatControl float_control() {
  FloatControl control;
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(control.vector), "=m"(control.x87));
  return control;
}

inline void set_float_control(const FloatControl& control) {
  asm volatile("fninit\n\tfldcw %1\n\tldmxcsr %0" ::"m"(control.vector), "m"(control.x87));
}

// Accesses need not be aligned from here on: a program may ask for SIGBUS where one is not (the
// flag AC), and the kernel leaves the flag set in its handlers. Below the red zone.
inline void allow_unaligned_accesses() {
  asm volatile(
      "lea -128(%%rsp),%%rsp\n\tpushfq\n\tandl $~0x40000,(%%rsp)\n\tpopfq\n\t"
      "lea 128(%%rsp),%%rsp"
      :
      :
      : "memory", "cc");
}

}  // namespace weir::sys
