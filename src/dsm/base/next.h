// The function that stands behind one of the library's own of the same name: libc's, mostly.
#pragma once

#include <dlfcn.h>

namespace weir::dsm {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace weir::dsm
