// Included before each source of libweir-dsm (dsm.cmake). Strings are lengthened and freed by
// functions of libstdc++'s, which knows the usual operator delete only. So the library's own
// operator new (library.cc) must not make them: what std::string allocates in code that the
// compiler has inlined here is libc's memory, too. Implemented in own_memory.cc.
#pragma once

#if defined(__cplusplus) && !defined(__SANITIZE_ADDRESS__)
#include <memory>

namespace weir::dsm {
char* memory_for_text(size_t size);
}

template <>
inline char* std::__new_allocator<char>::allocate(size_type size, const void*) {
  return weir::dsm::memory_for_text(size);
}
#endif
