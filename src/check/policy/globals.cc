// Sections are found by the files' own headers, which are not mapped: each file is opened once, at
// the start, by the name that the kernel has for it.
//
// A file that has been replaced since, or is damaged, has no list: nothing in it is believed before
// it is looked at.

#include "check/policy/globals.h"

#include <elf.h>
#include <fcntl.h>

#include "sys/maps.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

GlobalList g_global_lists[kMaxLists];
uint32_t g_global_list_count;

namespace {

constexpr char kName[] = "weir_statics";
constexpr uint64_t kMaxSections = 4096;

bool read_at(long file, uint64_t offset, void* to, uint64_t size) {
  return sys::raw(SYS_pread64, file, reinterpret_cast<long>(to), static_cast<long>(size),
                  static_cast<long>(offset)) == static_cast<long>(size);
}

bool has_name(long file, const Elf64_Shdr& strings, uint32_t at) {
  char name[sizeof kName];
  if (at + sizeof name > strings.sh_size ||
      !read_at(file, strings.sh_offset + at, name, sizeof name))
    return false;
  for (uint64_t i = 0; i < sizeof name; i++) {
    if (name[i] != kName[i]) return false;
  }
  return true;
}

// What the file says of the list: address and size as it was linked. Empty: it has none.
Range list_in(long file, bool& is_movable) {
  Elf64_Ehdr header;
  if (!read_at(file, 0, &header, sizeof header)) return {};
  const bool is_elf = header.e_ident[0] == 0x7f && header.e_ident[1] == 'E' &&
                      header.e_ident[2] == 'L' && header.e_ident[3] == 'F' &&
                      header.e_ident[EI_CLASS] == ELFCLASS64 &&
                      header.e_shentsize == sizeof(Elf64_Shdr);
  Elf64_Shdr strings, section;
  const auto section_at = [&](uint64_t index, Elf64_Shdr& found) {
    return read_at(file, header.e_shoff + index * sizeof found, &found, sizeof found);
  };
  if (!is_elf || header.e_shnum > kMaxSections || !section_at(header.e_shstrndx, strings))
    return {};
  is_movable = header.e_type == ET_DYN;
  for (uint64_t i = 0; i < header.e_shnum && section_at(i, section); i++) {
    if (section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_ALLOC) &&
        has_name(file, strings, section.sh_name)) {
      return {section.sh_addr, section.sh_addr + section.sh_size / 16 * 16};
    }
  }
  return {};
}

struct Module {
  uint64_t device, inode, base;
  bool is_movable;
  Range list;  // as linked
};

Module look_into(const sys::MapLine& line) {
  Module module{line.device, line.inode, line.range.start, false, {}};
  const long file = sys::raw(SYS_open, reinterpret_cast<long>(line.name), O_RDONLY | O_CLOEXEC);
  if (sys::failed(file)) return module;
  module.list = list_in(file, module.is_movable);
  sys::raw(SYS_close, file);
  if (!module.is_movable) module.base = 0;
  return module;
}

}  // namespace

void find_globals() {
  char* cursor = nullptr;
  g_global_list_count = 0;
  if (sys::read_maps(&cursor) < 0) return;
  sys::MapLine line;
  Module module{};
  GlobalList* list = nullptr;
  while ((cursor = sys::next_map_line(cursor, &line))) {
    if (line.name[0] != '/') continue;
    if (line.inode != module.inode || line.device != module.device) {
      module = line.offset ? Module{line.device, line.inode, 0, false, {}} : look_into(line);
      list = nullptr;
      if (!module.list.empty() && g_global_list_count < kMaxLists) {
        list = &g_global_lists[g_global_list_count];
        *list = {};
      }
    }
    if (!list) continue;
    if (line.executable && list->text.empty()) list->text = line.range;
    const uint64_t start = module.base + module.list.start, limit = module.base + module.list.limit;
    if (!line.readable || start < line.range.start || limit > line.range.limit || list->count)
      continue;
    list->start = start;
    list->count = (limit - start) / 16;
    g_global_list_count++;
  }
}

Range global_at(uint64_t address) {
  Range found{};
  each_global([&](Range one) {
    if (one.contains(address)) found = one;
  });
  return found;
}

bool is_of_globals(uint64_t where) {
  for (uint32_t i = 0; i < g_global_list_count; i++) {
    if (g_global_lists[i].text.contains(where)) return true;
  }
  return false;
}

}  // namespace weir::view::checked
