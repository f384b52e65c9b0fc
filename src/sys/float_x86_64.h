// How vector and x87 arithmetic round, and which exceptions they raise: what a thread has from the
// one that makes it.
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

}  // namespace weir::sys
