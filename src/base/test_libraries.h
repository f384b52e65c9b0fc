// For tests: real code to try things on, namely what is loaded into this process.
#pragma once

#include <link.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/types.h"

namespace weir {

struct Library {
  std::string name;  // its path; empty for the program itself
  Range text;        // the executable segment
  Range object;      // all segments, whole pages
};

// The program and its libraries, without the vDSO: its one segment begins with headers, not code.
inline std::vector<Library> loaded_libraries() {
  std::vector<Library> all;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        if (strstr(info->dlpi_name, "vdso") != nullptr) return 0;
        Library library{info->dlpi_name, {}, Range{~uint64_t{0}, 0}};
        for (int i = 0; i < info->dlpi_phnum; i++) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          const uint64_t start = info->dlpi_addr + segment.p_vaddr;
          library.object.start = std::min(library.object.start, page_down(start));
          library.object.limit = std::max(library.object.limit, page_up(start + segment.p_memsz));
          if (segment.p_flags & PF_X) library.text = Range{start, start + segment.p_memsz};
        }
        static_cast<std::vector<Library>*>(data)->push_back(library);
        return 0;
      },
      &all);
  return all;
}

// The first whose path contains `part`; of empty ranges where there is none.
inline Library loaded_library(const char* part) {
  for (const Library& library : loaded_libraries()) {
    if (library.name.find(part) != std::string::npos) return library;
  }
  return {};
}

}  // namespace weir
