// The files that are loaded in this process, by the loader's list, which it shows debuggers.
// dl_iterate_phdr() may be a sanitizer's, of which nothing is initialized yet, and takes a lock.
#pragma once

#include <link.h>
#include <stdint.h>

#include "sys/program_segments.h"

namespace weir::sys {

// The first file's link_map: the program's own. 0: there is no loader. `read` copies memory:
// read(to, from, size), false if it is not there.
template <typename Read>
uint64_t first_loaded_file(Read read) {
  const ProgramSegments segments = program_segments();
  uint64_t dynamic = 0;
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_DYNAMIC) dynamic = segments.base + segment.p_vaddr;
  if (!dynamic) return 0;
  ElfW(Dyn) entry;
  for (; read(&entry, dynamic, sizeof entry) && entry.d_tag != DT_NULL; dynamic += sizeof entry) {
    if (entry.d_tag != DT_DEBUG || !entry.d_un.d_ptr) continue;
    r_debug shown;
    if (!read(&shown, entry.d_un.d_ptr, sizeof shown)) return 0;
    return reinterpret_cast<uint64_t>(shown.r_map);
  }
  return 0;
}

inline const link_map* first_loaded_file() {
  return reinterpret_cast<const link_map*>(
      first_loaded_file([](void* to, uint64_t from, uint64_t size) {
        __builtin_memcpy(to, reinterpret_cast<const void*>(from), size);
        return true;
      }));
}

}  // namespace weir::sys
