// The section weir_statics of a linked file: its entries hold distances, so nothing has to be
// relocated to read them.

#include "compiler/listing.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>

namespace weir::cc {

namespace {

constexpr uint64_t kPage = 4096;

struct File {
  const unsigned char* bytes = nullptr;
  uint64_t size = 0;

  // Null: it does not lie in the file.
  const unsigned char* at(uint64_t offset, uint64_t length) const {
    return offset <= size && length <= size - offset ? bytes + offset : nullptr;
  }
  const Elf64_Shdr* section(uint64_t index) const {
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes);
    if (index >= header->e_shnum || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff % 8)
      return nullptr;
    return reinterpret_cast<const Elf64_Shdr*>(
        at(header->e_shoff + index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr)));
  }
  const unsigned char* contents(const Elf64_Shdr* section) const {
    return section && section->sh_type != SHT_NOBITS ? at(section->sh_offset, section->sh_size)
                                                     : nullptr;
  }
  // "": there is none.
  std::string text(const Elf64_Shdr* strings, uint64_t offset) const {
    const auto* begin = reinterpret_cast<const char*>(contents(strings));
    if (!begin || offset >= strings->sh_size) return "";
    return std::string(begin + offset, strnlen(begin + offset, strings->sh_size - offset));
  }
};

bool open_elf(const char* name, File& file) {
  const int descriptor = open(name, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) ||
      static_cast<uint64_t>(status.st_size) < sizeof(Elf64_Ehdr)) {
    if (descriptor >= 0) close(descriptor);
    return false;
  }
  file.size = static_cast<uint64_t>(status.st_size);
  void* mapped = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (mapped == MAP_FAILED) return false;
  file.bytes = static_cast<const unsigned char*>(mapped);
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file.bytes);
  return !memcmp(header->e_ident, ELFMAG, SELFMAG) && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

std::map<uint64_t, std::string> names_in(const File& file) {
  std::map<uint64_t, std::string> names;
  const Elf64_Shdr* section;
  for (uint64_t i = 0; (section = file.section(i)); i++) {
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(file.contents(section));
    if ((section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM) || !symbols ||
        section->sh_offset % 8)
      continue;
    for (uint64_t k = 0; k < section->sh_size / sizeof *symbols; k++) {
      const unsigned type = ELF64_ST_TYPE(symbols[k].st_info);
      if (type == STT_OBJECT && symbols[k].st_shndx != SHN_UNDEF)
        names[symbols[k].st_value] = file.text(file.section(section->sh_link), symbols[k].st_name);
    }
  }
  return names;
}

bool list(const char* name) {
  File file;
  if (!open_elf(name, file)) {
    fprintf(stderr, "weir-cc: %s is no program or library that can be read\n", name);
    return false;
  }
  const auto names = names_in(file);
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file.bytes);
  uint64_t count = 0, bytes = 0, pages = 0;
  const Elf64_Shdr* section;
  for (uint64_t i = 0; (section = file.section(i)); i++) {
    const auto* words = reinterpret_cast<const int64_t*>(file.contents(section));
    if (!words || section->sh_offset % 8 ||
        file.text(file.section(header->e_shstrndx), section->sh_name) != "weir_statics")
      continue;
    for (uint64_t k = 0; k + 1 < section->sh_size / 8; k += 2) {
      const uint64_t address = section->sh_addr + k * 8 + static_cast<uint64_t>(words[k]),
                     size = static_cast<uint64_t>(words[k + 1]);
      const auto found = names.find(address);
      printf("%8lx %8lu %s\n", address, size, found == names.end() ? "?" : found->second.c_str());
      count++;
      bytes += size;
      pages += (size + kPage - 1) / kPage;
    }
  }
  printf("%s: %lu variables of %lu bytes in %lu pages: %lu KiB more\n", name, count, bytes, pages,
         (pages * kPage - bytes) / 1024);
  return true;
}

}  // namespace

int list_objects(int count, char** files) {
  int status = 0;
  for (int i = 0; i < count; i++) status |= !list(files[i]);
  return status;
}

}  // namespace weir::cc
