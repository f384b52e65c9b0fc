// Maps an ELF program or a loader from its file, as the kernel does at execve, at a place that the
// caller chooses. Uses nothing but system calls, so any program may contain it.
#pragma once

#include <elf.h>
#include <stdint.h>

#include "base/types.h"

namespace weir::loader {

// What a file is, before anything of it is mapped.
struct ElfFile {
  static constexpr unsigned kMaxHeaders = 64;
  Elf64_Ehdr header;
  Elf64_Phdr segment[kMaxHeaders];
  Range span;               // what its segments take up, as the file has it
  bool is_movable = false;  // of type ET_DYN: it may be mapped anywhere
  bool has_interpreter = false;
};

// 0, or -ENOEXEC where it is no 64-bit x86 program that can be mapped, or what the kernel said.
[[nodiscard]] long read_elf(int file, ElfFile& elf);

struct ElfImage {
  Range range;
  uint64_t bias = 0;  // added to the file's addresses
  uint64_t entry = 0;
  uint64_t headers = 0;  // where the program headers lie; 0: in no segment
  uint64_t header_count = 0;
};

// Maps all segments. One that is movable is mapped at `base`, which is the start of a page; others
// lie where they say. 0, or -EEXIST where something lies there already, or what the kernel said:
// then some of it may be mapped.
[[nodiscard]] long map_elf(int file, const ElfFile& elf, uint64_t base, ElfImage& image);

}  // namespace weir::loader
