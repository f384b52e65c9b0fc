// OpenMP's runtimes as libweir.so meets them: their functions, and what their inside orders.
// Implemented in openmp.cc and openmp_regions.cc.
#pragma once

#include <stdint.h>

#include "sys/libc.h"

namespace weir::interpose {

// Found by the loader in the program's own scope, or in that of the library that holds `caller`:
// a runtime that came with a library opened by dlopen is seen by that library only. Several of
// these may be there, so they are not kept.
void* openmp_function(const char* name, const void* caller);
template <typename Function>
Function* openmp_runtime(Function*& known, const char* name, const void* caller) {
  if (__builtin_expect(known != nullptr, 1)) return known;
  if (void* const found = libc::find(name)) return known = reinterpret_cast<Function*>(found);
  return reinterpret_cast<Function*>(openmp_function(name, caller));
}

// In a program that is checked: waits for a moment until other threads have come to work as often.
void let_others_come();

// True where the runtime's own order is replaced by what OpenMP says of it: in a program that is
// checked while it runs, in a task that a known region has begun.
bool knows_openmp();

// While it lasts what GNU's runtime does orders nothing.
class InsideOpenMp {
 public:
  InsideOpenMp();
  ~InsideOpenMp();
  InsideOpenMp(const InsideOpenMp&) = delete;
  InsideOpenMp& operator=(const InsideOpenMp&) = delete;

 private:
  bool is_known_;
  uint32_t before_ = 0;
};

}  // namespace weir::interpose
