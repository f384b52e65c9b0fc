// The file may be damaged: all that is read is checked against its size. What does not parse is not
// there.
#include "code/find/static_image.h"

#include <elf.h>

#include "base/bytes.h"
#include "code/find/text_map.h"
#include "sys/memory.h"

namespace weir::static_image {

namespace {

Range g_object, g_frames;
Range* g_functions = nullptr;
size_t g_function_count = 0;
uint64_t* g_named = nullptr;
size_t g_named_count = 0;
bool g_takes_names = false;

template <typename T>
bool load(Range file, uint64_t offset, T& value) {
  if (offset > file.size() || file.size() - offset < sizeof value) return false;
  copy_bytes(&value, reinterpret_cast<const void*>(file.start + offset), sizeof value);
  return true;
}

bool is_function(const Elf64_Sym& symbol) {
  const unsigned type = symbol.st_info & 0xf;
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF &&
         symbol.st_value != 0;
}

bool learn_symbols(Range object, Range file, const Elf64_Shdr& section, uint64_t bias) {
  const uint64_t count = section.sh_size / sizeof(Elf64_Sym);
  if (section.sh_offset > file.size() || section.sh_size > file.size() - section.sh_offset)
    return true;
  size_t functions = 0;
  Elf64_Sym symbol;
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1) {
      if (!functions) return true;
      const long memory = sys::map_anonymous(page_up(functions * sizeof(Range)));
      if (sys::failed(memory)) return false;
      g_functions = reinterpret_cast<Range*>(memory);
    }
    for (uint64_t i = 0; i < count; i++) {
      if (!load(file, section.sh_offset + i * sizeof symbol, symbol)) break;
      const Range range{bias + symbol.st_value, bias + symbol.st_value + symbol.st_size};
      if (!is_function(symbol) || !object.contains(range.start) || range.limit > object.limit)
        continue;
      if (pass == 0) functions++;
      else g_functions[g_function_count++] = range;
    }
  }
  return true;
}

bool is_code(Range file, const Elf64_Ehdr& header, uint64_t address) {
  Elf64_Phdr segment;
  for (unsigned i = 0; i < header.e_phnum; i++) {
    if (load(file, header.e_phoff + i * sizeof segment, segment) && segment.p_type == PT_LOAD &&
        (segment.p_flags & PF_X) && address - segment.p_vaddr < segment.p_filesz)
      return true;
  }
  return false;
}

// Visits each word of the data, as the file has it, and what relocations make of others.
template <typename Visit>
void each_name(Range file, const Elf64_Ehdr& header, Visit visit) {
  Elf64_Phdr segment;
  for (unsigned i = 0; i < header.e_phnum; i++) {
    if (!load(file, header.e_phoff + i * sizeof segment, segment) || segment.p_type != PT_LOAD ||
        (segment.p_flags & PF_X))
      continue;
    const uint64_t first = (segment.p_vaddr + 7) / 8 * 8 - segment.p_vaddr;
    for (uint64_t at = first; at + 8 <= segment.p_filesz; at += 8) {
      uint64_t word;
      if (!load(file, segment.p_offset + at, word)) break;
      if (is_code(file, header, word)) visit(word);
    }
  }
  Elf64_Shdr section;
  for (unsigned i = 0; i < header.e_shnum; i++) {
    if (!load(file, header.e_shoff + i * sizeof section, section) || section.sh_type != SHT_RELA)
      continue;
    Elf64_Rela relocation;
    for (uint64_t at = 0; at + sizeof relocation <= section.sh_size; at += sizeof relocation) {
      if (!load(file, section.sh_offset + at, relocation)) break;
      const auto word = static_cast<uint64_t>(relocation.r_addend);
      if (is_code(file, header, word)) visit(word);
    }
  }
}

bool learn_names(Range file, const Elf64_Ehdr& header, uint64_t bias) {
  size_t count = 0;
  each_name(file, header, [&](uint64_t) { count++; });
  g_takes_names = true;
  if (!count) return true;
  const long memory = sys::map_anonymous(page_up(count * sizeof(uint64_t)));
  if (sys::failed(memory)) return false;
  g_named = reinterpret_cast<uint64_t*>(memory);
  each_name(file, header, [&](uint64_t address) { g_named[g_named_count++] = bias + address; });
  return true;
}

}  // namespace

bool learn(Range object, Range file, uint64_t bias) {
  g_object = object;
  Elf64_Ehdr header;
  if (!load(file, 0, header) || header.e_shentsize != sizeof(Elf64_Shdr)) return true;
  Elf64_Shdr names{};
  load(file, header.e_shoff + header.e_shstrndx * sizeof names, names);
  for (unsigned i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr section;
    if (!load(file, header.e_shoff + i * sizeof section, section)) break;
    constexpr char kFrames[] = ".eh_frame";
    char name[sizeof kFrames];
    if (section.sh_type == SHT_SYMTAB && !g_function_count &&
        !learn_symbols(object, file, section, bias))
      return false;
    const bool is_loaded = section.sh_flags & SHF_ALLOC;
    const Range place{bias + section.sh_addr, bias + section.sh_addr + section.sh_size};
    if (is_loaded && load(file, names.sh_offset + section.sh_name, name) &&
        __builtin_memcmp(name, kFrames, sizeof kFrames) == 0 && object.contains(place.start) &&
        place.limit <= object.limit)
      g_frames = place;
  }
  ElfObject image;
  const bool has_table = g_function_count || !image.open(object) || image.go_table();
  return has_table || learn_names(file, header, bias);
}

bool takes_names() { return g_takes_names; }

const uint64_t* named(size_t& count) {
  count = g_named_count;
  return g_named;
}

bool is_learned() { return !g_object.empty(); }
bool is_at(Range object) { return !g_object.empty() && object.start == g_object.start; }
Range frames() { return g_frames; }

const Range* functions(size_t& count) {
  count = g_function_count;
  return g_functions;
}

}  // namespace weir::static_image
