// The program's own segments in memory, as the kernel has told the loader of them.
#pragma once

#include <elf.h>
#include <stdint.h>
#include <sys/auxv.h>

namespace weir::sys {

struct ProgramSegments {
  const Elf64_Phdr* first = nullptr;
  uint64_t count = 0;
  uint64_t base = 0;  // added to the addresses that they have in the file

  const Elf64_Phdr* begin() const { return first; }
  const Elf64_Phdr* end() const { return first + count; }
};

inline ProgramSegments program_segments() {
  ProgramSegments segments;
  segments.first = reinterpret_cast<const Elf64_Phdr*>(getauxval(AT_PHDR));
  if (!segments.first) return segments;
  segments.count = getauxval(AT_PHNUM);
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_PHDR)
      segments.base = reinterpret_cast<uint64_t>(segments.first) - segment.p_vaddr;
  }
  return segments;
}

}  // namespace weir::sys
