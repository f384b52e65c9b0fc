// Go's table of functions. Go's linker writes no unwind table (none that is loaded) and strips its
// symbols, but what its own runtime unwinds by stays in each program. Without it nothing in a
// stripped Go program is proved to be code, its system calls are not seen, and most of its locked
// instructions are found late or not at all.
//
// Layout, from Go 1.18 on (src/debug/gosym/pclntab.go): magic, two zeros, the quantum of
// instructions (1), the size of a pointer (8); 64 bits each: number of functions, number of files,
// address of the text, offsets of the names, of the compilation units, of the files, of the
// programs for the unwinder, of the functions. The table of functions has, for each function,
// rising: the offset of its beginning in the text and that of its description, 32 bits each; behind
// the last one, where the last one ends.
//
// From Go 1.26 on the address of the text is 0 there. Then it is in the record of the module
// (runtime.moduledata), whose first word is the table's address. Its words from the 17th on: the
// table of functions, its length twice, another table, the first function's address.
//
// Nothing that is loaded says where the table lies. So its magic is searched for, in objects that
// have Go's build note.

#include <elf.h>

#include "code/find/text_map.h"

namespace weir {
namespace {

constexpr uint32_t kMagic118 = 0xfffffff0, kMagic120 = 0xfffffff1, kGoName = 0x006f47, kBuildId = 4;
constexpr uint32_t kFormat = 0x08010000;
constexpr uint64_t kAlignment = 8, kPiece = 2048, kMaxFunctions = 1u << 21;

struct TableHeader {
  uint32_t magic, format;
  uint64_t functions, files, text, names, units, file_names, programs, table;
};
static_assert(sizeof(TableHeader) == 72);

struct Entry {
  uint32_t start, description;
};

}  // namespace

bool ElfObject::is_from_go() const {
  struct {
    uint32_t name_size, size, type, name;
  } note;
  const auto padded = [](uint32_t size) { return (uint64_t{size} + 3) & ~uint64_t{3}; };
  for (unsigned i = 0; i < note_count_; i++) {
    for (uint64_t at = notes_[i].start; at < notes_[i].limit && load(at, note);
         at += 12 + padded(note.name_size) + padded(note.size)) {
      if (note.name_size == 4 && note.name == kGoName && note.type == kBuildId) return true;
    }
  }
  return false;
}

uint64_t ElfObject::go_table() const {
  if (!is_from_go()) return 0;
  uint32_t piece[kPiece / 4];
  for (unsigned i = 1; i < segment_count_; i++) {
    const uint64_t first = (segments_[i].start + kAlignment - 1) & ~(kAlignment - 1);
    for (uint64_t at = first; at + sizeof(TableHeader) <= segments_[i].limit; at += kPiece) {
      const uint64_t left = segments_[i].limit - at;
      const uint64_t size = left < kPiece ? left : kPiece;
      if (!read(at, piece, size)) break;
      for (uint64_t k = 0; k + 8 <= size; k += kAlignment) {
        const uint32_t magic = piece[k / 4];
        if ((magic != kMagic118 && magic != kMagic120) || piece[k / 4 + 1] != kFormat) continue;
        if (is_go_table(at + k)) return at + k;
      }
    }
  }
  return 0;
}

bool ElfObject::is_go_table(uint64_t at) const {
  TableHeader header;
  Entry last;
  return load(at, header) && header.functions > 0 && header.functions < kMaxFunctions &&
         header.table < object_.size() &&
         load(at + header.table + header.functions * sizeof last, last.start) &&
         object_.contains(go_text(at)) && go_text(at) + last.start <= object_.limit;
}

// In a position independent program the address is relocated, perhaps not yet.
uint64_t ElfObject::go_text(uint64_t table) const {
  if (const uint64_t text = pointer_at(table + __builtin_offsetof(TableHeader, text))) return text;
  if (go_text_of_ == table) return go_text_;
  go_text_of_ = table;
  go_text_ = go_text_of_module(table);
  return go_text_;
}

uint64_t ElfObject::go_text_of_module(uint64_t table) const {
  constexpr uint64_t kFunctions = 16 * 8, kFirst = 20 * 8;
  TableHeader header;
  Entry first;
  if (!load(table, header) || !load(table + header.table, first)) return 0;
  uint64_t found = 0;
  const auto look = [&](uint64_t record) {
    if (pointer_at(record + kFunctions) != table + header.table) return false;
    const uint64_t function = pointer_at(record + kFirst);
    found = function ? function - first.start : 0;
    return found != 0;
  };
  Elf64_Rela relocation;
  for (uint64_t at = relocations_.start; at + sizeof relocation <= relocations_.limit;
       at += sizeof relocation) {
    if (!load(at, relocation)) break;
    if (bias_ + static_cast<uint64_t>(relocation.r_addend) == table &&
        look(bias_ + relocation.r_offset))
      return found;
  }
  uint64_t piece[kPiece / 8];
  for (unsigned i = 1; i < segment_count_; i++) {
    for (uint64_t at = segments_[i].start & ~uint64_t{7}; at + 8 <= segments_[i].limit;
         at += kPiece) {
      const uint64_t left = segments_[i].limit - at, size = left < kPiece ? left : kPiece;
      if (!read(at, piece, size)) break;
      for (uint64_t k = 0; k + 8 <= size; k += 8) {
        if (piece[k / 8] == table && look(at + k)) return found;
      }
    }
  }
  return 0;
}

size_t ElfObject::go_ranges(uint64_t table, Range* out, size_t capacity) const {
  TableHeader header;
  if (!load(table, header)) return 0;
  if (out == nullptr) return header.functions;
  const uint64_t text = go_text(table);
  constexpr size_t kBatch = 128;
  uint32_t entries[kBatch][2];
  size_t found = 0;
  uint32_t start = 0;
  for (uint64_t i = 0; i <= header.functions; i++) {
    const uint64_t in_batch = i % kBatch;
    if (in_batch == 0) {
      const uint64_t left = header.functions - i;
      // Of the last one only where it begins is there.
      const uint64_t size = left < kBatch ? left * sizeof(Entry) + 4 : sizeof entries;
      if (!read(table + header.table + i * sizeof(Entry), entries, size)) break;
    }
    const uint32_t limit = entries[in_batch][0];
    if (i > 0 && limit <= start) break;  // not what we take it for
    if (i > 0 && found < capacity) out[found] = Range{text + start, text + limit};
    found += i > 0;
    start = limit;
  }
  return found;
}

}  // namespace weir
