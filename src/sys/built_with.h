// Which of the compilers' sanitizers, and which allocator, a program is built with, from its file
// alone: by the libraries that it needs, the functions that it calls, and the function with which a
// runtime linked into it begins. Of what cannot be read as an ELF program, nothing is known.
#pragma once

#include <elf.h>
#include <stdint.h>

#include "base/bytes.h"
#include "sys/syscall_x86_64.h"

namespace weir::sys {

struct BuiltWith {
  // The library that must be the first of all that are loaded, as the program names it. Of a
  // sanitizer: its functions call the next ones of the same name, Weir's among them. Of an
  // allocator whose own functions the program calls: their blocks and malloc's are one kind. Empty:
  // there is none.
  char first[64] = {};
  // The sanitizer that cannot work beside Weir, in words; null: there is none. Its memory lies at
  // the addresses that the runtime has.
  const char* refused = nullptr;
};

namespace program_file {

class Elf {
 public:
  explicit Elf(int file) : file_(file) {
    if (!get(header_, 0) || !starts_with(reinterpret_cast<const char*>(header_.e_ident), ELFMAG) ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_phentsize != sizeof(Elf64_Phdr))
      header_.e_phnum = 0;
    for (uint32_t i = 0; i < header_.e_phnum; i++) {
      const Elf64_Phdr part = segment(i);
      if (part.p_type == PT_DYNAMIC) dynamic_ = part;
    }
    for (uint64_t i = 0; i < dynamic_.p_filesz / sizeof(Elf64_Dyn); i++) {
      const Elf64_Dyn entry = at(i);
      if (entry.d_tag == DT_STRTAB) strings_ = offset_of(entry.d_un.d_ptr);
      if (entry.d_tag == DT_SYMTAB) symbols_ = offset_of(entry.d_un.d_ptr);
      if (entry.d_tag == DT_GNU_HASH) hashes_ = offset_of(entry.d_un.d_ptr);
      if (entry.d_tag == DT_NULL) break;
    }
  }

  // Calls visit(its name) for each library that the program needs.
  template <typename Visit>
  void each_needed(Visit visit) const {
    for (uint64_t i = 0; strings_ && i < dynamic_.p_filesz / sizeof(Elf64_Dyn); i++) {
      const Elf64_Dyn entry = at(i);
      if (entry.d_tag == DT_NULL) return;
      char name[sizeof BuiltWith::first] = {};
      if (entry.d_tag == DT_NEEDED && read(name, sizeof name - 1, strings_ + entry.d_un.d_val))
        visit(name);
    }
  }

  // Whether the program itself has a function of that name that others may call.
  bool has(const char* name) const {
    uint32_t hash = 5381;
    for (const char* c = name; *c; c++) hash = hash * 33 + static_cast<uint8_t>(*c);
    uint32_t table[4] = {};  // buckets, first symbol, words of the filter, its shift
    if (!hashes_ || !strings_ || !symbols_ || !get(table, hashes_) || !table[0]) return false;
    const uint64_t buckets = hashes_ + sizeof table + uint64_t{table[2]} * 8,
                   chains = buckets + uint64_t{table[0]} * 4;
    uint32_t index = 0;
    if (!get(index, buckets + uint64_t{hash % table[0]} * 4) || index < table[1]) return false;
    for (uint32_t found = 0; !(found & 1); index++) {
      Elf64_Sym symbol{};
      char text[32] = {};
      if (!get(found, chains + uint64_t{index - table[1]} * 4)) return false;
      if ((found | 1) != (hash | 1)) continue;
      if (get(symbol, symbols_ + uint64_t{index} * sizeof symbol) &&
          read(text, sizeof text - 1, strings_ + symbol.st_name) && equal_strings(text, name))
        return true;
    }
    return false;
  }

  // Whether the program calls a function of others that `is_wanted` names.
  template <typename Wanted>
  bool calls(Wanted is_wanted) const {
    uint32_t table[2] = {};  // buckets, the first symbol that is not of others
    if (!hashes_ || !strings_ || !symbols_ || !get(table, hashes_)) return false;
    for (uint32_t i = 1; i < table[1]; i++) {
      Elf64_Sym symbol{};
      char text[32] = {};
      if (get(symbol, symbols_ + uint64_t{i} * sizeof symbol) &&
          read(text, sizeof text - 1, strings_ + symbol.st_name) && is_wanted(text))
        return true;
    }
    return false;
  }

  // Whether what the Go linker says of how it built the program has these words (Go 1.18 and later,
  // in a section that stripping leaves).
  bool is_go_built_with(const char* words) const {
    Elf64_Shdr names{}, section{};
    if (header_.e_shentsize != sizeof section || !get(names, section_header(header_.e_shstrndx)))
      return false;
    for (uint32_t i = 0; i < header_.e_shnum; i++) {
      char name[16] = {};
      if (get(section, section_header(i)) &&
          read(name, sizeof name - 1, names.sh_offset + section.sh_name) &&
          equal_strings(name, ".go.buildinfo"))
        return holds(section.sh_offset, section.sh_size, words);
    }
    return false;
  }

 private:
  uint64_t section_header(uint32_t index) const {
    return header_.e_shoff + index * sizeof(Elf64_Shdr);
  }
  bool holds(uint64_t offset, uint64_t size, const char* words) const {
    constexpr uint64_t kWindow = 1024, kOverlap = 64;  // bytes
    for (uint64_t at = 0; at < size; at += kWindow - kOverlap) {
      char text[kWindow + 1] = {};
      const uint64_t length = size - at < kWindow ? size - at : kWindow;
      if (!read(text, length, offset + at)) return false;
      for (uint64_t i = 0; i < length; i++)
        if (starts_with(text + i, words)) return true;
    }
    return false;
  }
  // As much as there is, and something.
  bool read(void* to, uint64_t size, uint64_t offset) const { return copy(to, size, offset) > 0; }
  template <typename T>
  bool get(T& to, uint64_t offset) const {
    return copy(&to, sizeof to, offset) == sizeof to;
  }
  // What is asked for lies close together: it is read a piece at a time. Returns how many bytes
  // there are.
  uint64_t copy(void* to, uint64_t size, uint64_t offset) const {
    uint64_t done = 0;
    while (done < size) {
      const uint64_t at = offset + done, begin = at / kPieceSize * kPieceSize;
      Piece& piece = pieces_[at / kPieceSize % kPieces];
      if (!piece.size || piece.begin != begin) {
        const long got = raw(SYS_pread64, file_, reinterpret_cast<long>(piece.bytes), kPieceSize,
                             static_cast<long>(begin));
        piece.begin = begin;
        piece.size = failed(got) ? 0 : static_cast<uint64_t>(got);
      }
      if (piece.begin + piece.size <= at) break;
      const uint64_t there = piece.begin + piece.size - at;
      const uint64_t count = size - done < there ? size - done : there;
      copy_bytes(static_cast<uint8_t*>(to) + done, piece.bytes + (at - begin), count);
      done += count;
    }
    return done;
  }
  Elf64_Phdr segment(uint32_t index) const {
    Elf64_Phdr result{};
    (void)get(result, header_.e_phoff + index * sizeof result);
    return result;
  }
  Elf64_Dyn at(uint64_t index) const {
    Elf64_Dyn result{};
    (void)get(result, dynamic_.p_offset + index * sizeof result);
    return result;
  }
  uint64_t offset_of(uint64_t address) const {
    for (uint32_t i = 0; i < header_.e_phnum; i++) {
      const Elf64_Phdr part = segment(i);
      if (part.p_type == PT_LOAD && address - part.p_vaddr < part.p_filesz)
        return address - part.p_vaddr + part.p_offset;
    }
    return 0;
  }

  static constexpr uint64_t kPieceSize = 1024, kPieces = 8;
  struct Piece {
    uint64_t begin, size;  // size 0: nothing was read
    uint8_t bytes[kPieceSize];
  };

  int file_;
  mutable Piece pieces_[kPieces] = {};
  Elf64_Ehdr header_{};
  Elf64_Phdr dynamic_{};
  uint64_t strings_ = 0, symbols_ = 0, hashes_ = 0;
};

// A function that only an allocator has, beside the malloc family.
inline bool is_of_allocator(const char* function) {
  for (const char* rest = function; *rest; rest++) {  // mallocx, sdallocx, ...
    if (starts_with(rest, "allocx")) return rest - function <= 2;
  }
  return starts_with(function, "mi_") || starts_with(function, "tc_") ||
         starts_with(function, "je_");
}

inline bool is_allocator(const char* name) {
  return starts_with(name, "libjemalloc.so") || starts_with(name, "libtcmalloc") ||
         starts_with(name, "libmimalloc.so");
}

// Of a library's name without its folder.
inline bool must_be_first(const char* name) {
  return starts_with(name, "libasan.so") || starts_with(name, "liblsan.so") ||
         starts_with(name, "libclang_rt.asan");
}

}  // namespace program_file

// `file`: a descriptor of the program's.
inline BuiltWith built_with(int file) {
  struct Refused {
    const char *library, *clang_library, *function, *what;
  };
  constexpr Refused kRefused[] = {
      {"libtsan.so", "libclang_rt.tsan", "__tsan_init", "thread sanitizer (-fsanitize=thread)"},
      {"libmsan.so", "libclang_rt.msan", "__msan_init", "memory sanitizer (-fsanitize=memory)"},
      {"libhwasan.so", "libclang_rt.hwasan", "__hwasan_init",
       "hardware-assisted address sanitizer (-fsanitize=hwaddress)"},
      {"libdfsan.so", "libclang_rt.dfsan", "__dfsan_shadow_ptr_type",
       "data flow sanitizer (-fsanitize=dataflow)"}};
  BuiltWith result;
  const program_file::Elf elf(file);
  char allocator[sizeof result.first] = {};
  elf.each_needed([&](const char* name) {
    const char* base = name;
    for (const char* c = name; *c; c++)
      if (*c == '/') base = c + 1;
    for (const Refused& one : kRefused)
      if (starts_with(base, one.library) || starts_with(base, one.clang_library))
        result.refused = one.what;
    char* to = program_file::must_be_first(base)  ? result.first
               : program_file::is_allocator(base) ? allocator
                                                  : nullptr;
    if (!to || to[0]) return;
    while ((*to++ = *name++)) {}
  });
  if (!result.first[0] && allocator[0] && elf.calls(program_file::is_of_allocator))
    __builtin_memcpy(result.first, allocator, sizeof allocator);
  for (const Refused& one : kRefused)
    if (!result.refused && elf.has(one.function)) result.refused = one.what;
  // Go links the runtimes without names that others may call.
  if (!result.refused && elf.is_go_built_with("\nbuild\t-race=true"))
    result.refused = "thread sanitizer (go build -race)";
  if (!result.refused && elf.is_go_built_with("\nbuild\t-msan=true"))
    result.refused = "memory sanitizer (go build -msan)";
  return result;
}

inline BuiltWith built_with(int directory, const char* path) {
  constexpr long kFlags = 02000000 | 04000;  // O_CLOEXEC, O_NONBLOCK
  const long file = raw(SYS_openat, directory, reinterpret_cast<long>(path), kFlags);
  if (failed(file)) return {};
  const BuiltWith result = built_with(static_cast<int>(file));
  raw(SYS_close, file);
  return result;
}

}  // namespace weir::sys
