// The files that are loaded in this process, by the loader's list, which it shows debuggers.
// dl_iterate_phdr() may be a sanitizer's, of which nothing is initialized yet, and takes a lock.
#pragma once

#include <link.h>
#include <stdint.h>

#include "sys/maps.h"
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

// By which name the loader has loaded what lines of /proc/self/maps show. That is another one where
// a copy of the file is mapped, as in a replay of a recording that has kept it. `Read`: as above.
template <typename Read>
class LoadedNames {
 public:
  // `first`: first_loaded_file(); 0: a file has the name that its lines have.
  LoadedNames(uint64_t first, Read read) : first_(first), read_(read) {}

  // REQUIRES: lines come in their order. Borrowed: until the next call, or the line's own.
  const char* of(const MapLine& line) {
    if (line.offset == 0) find(line);
    return name_[0] && line.inode == inode_ ? name_ : line.name;
  }

 private:
  void find(const MapLine& line) {
    constexpr uint32_t kMaxFiles = 1024;
    name_[0] = 0;
    inode_ = line.inode;
    link_map file;
    uint64_t at = first_;
    for (uint32_t i = 0; i < kMaxFiles && at && read_(&file, at, sizeof file); i++) {
      at = reinterpret_cast<uint64_t>(file.l_next);
      if (file.l_addr != line.range.start) continue;
      const uint64_t name = reinterpret_cast<uint64_t>(file.l_name);
      uint32_t size = 0;
      while (size < sizeof name_ - 1 && read_(name_ + size, name + size, 1) && name_[size]) size++;
      name_[size] = 0;
      return;
    }
  }

  uint64_t first_;
  Read read_;
  uint64_t inode_ = 0;
  char name_[512] = {};
};

}  // namespace weir::sys
