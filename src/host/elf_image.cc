// The whole span is reserved first, so that what lies there already is found before anything is
// changed. Then each segment is mapped over it. Between segments the reservation stays where it is,
// without access, as the kernel leaves holes.
#include "host/elf_image.h"

#include <errno.h>
#include <sys/mman.h>

#include "sys/syscall_x86_64.h"

namespace weir::loader {

namespace {

constexpr uint64_t kHighest = uint64_t{1} << 47;

long map(uint64_t at, uint64_t size, int protection, int flags, int file, uint64_t offset) {
  return sys::raw(SYS_mmap, static_cast<long>(at), static_cast<long>(size), protection, flags, file,
                  static_cast<long>(offset));
}

int protection_of(const Elf64_Phdr& segment) {
  return (segment.p_flags & PF_R ? PROT_READ : 0) | (segment.p_flags & PF_W ? PROT_WRITE : 0) |
         (segment.p_flags & PF_X ? PROT_EXEC : 0);
}

bool read_all(int file, void* to, uint64_t size, uint64_t offset) {
  return sys::raw(SYS_pread64, file, reinterpret_cast<long>(to), static_cast<long>(size),
                  static_cast<long>(offset)) == static_cast<long>(size);
}

// The bytes of the segment in the file, and zeros to the end of their page.
long map_file_part(int file, const Elf64_Phdr& segment, uint64_t start) {
  const uint64_t first = page_down(start), limit = start + segment.p_filesz;
  const int protection = protection_of(segment);
  const bool has_rest = segment.p_memsz > segment.p_filesz && limit % kPageSize != 0;
  const bool is_opened = has_rest && !(protection & PROT_WRITE);
  const long at = map(first, limit - first, is_opened ? protection | PROT_WRITE : protection,
                      MAP_PRIVATE | MAP_FIXED, file, segment.p_offset - (start - first));
  if (sys::failed(at)) return at;
  if (has_rest) {
    for (auto* rest = reinterpret_cast<volatile char*>(limit);
         reinterpret_cast<uint64_t>(rest) < page_up(limit); rest++)
      *rest = 0;
  }
  return is_opened ? sys::raw(SYS_mprotect, static_cast<long>(first),
                              static_cast<long>(page_up(limit) - first), protection)
                   : 0;
}

long map_segment(int file, const Elf64_Phdr& segment, uint64_t bias) {
  const uint64_t start = bias + segment.p_vaddr, limit = start + segment.p_memsz;
  if (segment.p_filesz) {
    if (const long wrong = map_file_part(file, segment, start)) return wrong;
  }
  const uint64_t zeros = segment.p_filesz ? page_up(start + segment.p_filesz) : page_down(start);
  if (zeros >= page_up(limit)) return 0;
  const long at = map(zeros, page_up(limit) - zeros, protection_of(segment),
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  return sys::failed(at) ? at : 0;
}

}  // namespace

long read_elf(int file, ElfFile& elf) {
  Elf64_Ehdr& header = elf.header;
  if (!read_all(file, &header, sizeof header, 0) ||
      __builtin_memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      header.e_phnum > ElfFile::kMaxHeaders ||
      !read_all(file, elf.segment, header.e_phnum * sizeof(Elf64_Phdr), header.e_phoff))
    return -ENOEXEC;
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return -ENOEXEC;
  elf.is_movable = header.e_type == ET_DYN;
  elf.has_interpreter = false;
  elf.span = {};
  uint64_t before = 0;  // where the segment before ends
  for (unsigned i = 0; i < header.e_phnum; i++) {
    const Elf64_Phdr& segment = elf.segment[i];
    elf.has_interpreter = elf.has_interpreter || segment.p_type == PT_INTERP;
    if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
    const uint64_t start = page_down(segment.p_vaddr), limit = segment.p_vaddr + segment.p_memsz;
    // As the kernel: they rise, and do not leave the addresses that a program may have.
    if (segment.p_filesz > segment.p_memsz || limit < start || limit > kHighest ||
        (segment.p_vaddr - segment.p_offset) % kPageSize != 0 || segment.p_vaddr < before)
      return -ENOEXEC;
    before = limit;
    if (elf.span.empty()) elf.span.start = start;
    elf.span.limit = page_up(limit);
  }
  return elf.span.empty() ? -ENOEXEC : 0;
}

long map_elf(int file, const ElfFile& elf, uint64_t base, ElfImage& image) {
  image.bias = elf.is_movable ? base - elf.span.start : 0;
  image.range = {elf.span.start + image.bias, elf.span.limit + image.bias};
  image.entry = elf.header.e_entry + image.bias;
  image.header_count = elf.header.e_phnum;
  image.headers = 0;
  const long held = map(image.range.start, image.range.size(), PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (held != static_cast<long>(image.range.start)) return sys::failed(held) ? held : -EEXIST;
  for (unsigned i = 0; i < elf.header.e_phnum; i++) {
    const Elf64_Phdr& segment = elf.segment[i];
    if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
    if (const long wrong = map_segment(file, segment, image.bias)) return wrong;
    const uint64_t at = elf.header.e_phoff;
    if (at >= segment.p_offset && at - segment.p_offset < segment.p_filesz)
      image.headers = image.bias + segment.p_vaddr + (at - segment.p_offset);
  }
  return 0;
}

}  // namespace weir::loader
