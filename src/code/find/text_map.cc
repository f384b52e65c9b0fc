#include "code/find/text_map.h"

#include <elf.h>

#include "base/sort.h"
#include "code/find/static_image.h"

// Code can be told from data only by the places that control is known to enter. Every function that
// can be unwound has a frame description (FDE) with its exact range, also in a stripped library;
// the header of the unwind table lists them, sorted. Functions of the dynamic symbol table are
// added: they name assembly that was written without unwind directives. So is what the kernel and
// the loader enter by its address: of a program without either, that is all. What signal handlers
// return to is left out: its range begins with a byte that is not its own.
//
// Everything is read from the mapped image. A damaged image must not hurt: each read is checked
// against the segments that the program headers announce, and whatever does not parse ends the
// listing that it is part of.

namespace weir {
namespace {

constexpr uint8_t kEncodingOmit = 0xff, kEncodingSigned4 = 0x0b;
constexpr uint64_t kMaxSymbols = 1u << 22;

uint64_t format_size(uint8_t encoding) {
  switch (encoding & 0x0f) {
    case 0x02:
    case 0x0a: return 2;
    case 0x03:
    case 0x0b: return 4;
    case 0x00:
    case 0x04:
    case 0x0c: return 8;
    default: return 0;
  }
}

bool holds(const Range& segment, uint64_t address, uint64_t size) {
  return address >= segment.start && address <= segment.limit && size <= segment.limit - address;
}

FetchMemory g_fetch;

}  // namespace

void set_fetch_memory(FetchMemory fetch) { g_fetch = fetch; }

// Of a table nobody says how long it is, so it is read beyond the variable that it lies in too.
__attribute__((no_sanitize("address"))) bool fetch_memory(void* to, const void* from,
                                                          uint64_t size) {
  if (g_fetch) return g_fetch(to, from, size) == 0;
  __builtin_memcpy(to, from, size);
  return true;
}

bool ElfObject::read(uint64_t address, void* to, uint64_t size) const {
  return is_readable(address, size) &&
         fetch_memory(to, reinterpret_cast<const void*>(address), size);
}

bool ElfObject::is_readable(uint64_t address, uint64_t size) const {
  if (holds(last_segment_, address, size)) return true;
  for (unsigned i = 0; i < segment_count_; i++) {
    if (!holds(segments_[i], address, size)) continue;
    last_segment_ = segments_[i];
    return true;
  }
  return false;
}

bool ElfObject::open(Range object) {
  object_ = object;
  is_static_ = static_image::is_at(object);
  segment_count_ = note_count_ = 0;
  if (object.empty() || object.size() < kPageSize) return false;
  segments_[segment_count_++] = Range{object.start, object.start + kPageSize};  // the headers
  Elf64_Ehdr header;
  if (!load(object.start, header)) return false;
  if (header.e_ident[0] != 0x7f || header.e_ident[1] != 'E' || header.e_ident[2] != 'L' ||
      header.e_ident[3] != 'F' || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64) {
    return false;
  }
  entry_point_ = header.e_entry;
  bool found = false;
  for (int pass = 0; pass < 2; pass++) {
    for (unsigned i = 0; i < header.e_phnum; i++) {
      Elf64_Phdr segment;
      uint64_t at = object.start + header.e_phoff + i * sizeof(segment);
      if (at + sizeof(segment) > object.start + kPageSize || !load(at, segment)) break;
      uint64_t start = bias_ + segment.p_vaddr;
      if (pass == 0) {  // the first one that is loaded says where the image lies
        if (segment.p_type != PT_LOAD || found) continue;
        found = true;
        bias_ = object.start - page_down(segment.p_vaddr);
      } else if (segment.p_type == PT_LOAD && (segment.p_flags & PF_R) &&
                 segment_count_ < kMaxSegments) {
        Range range{start, start + segment.p_filesz};
        if (range.limit > object.limit) range.limit = object.limit;
        if (range.start >= object.start && range.start < range.limit)
          segments_[segment_count_++] = range;
      } else if (segment.p_type == PT_GNU_EH_FRAME) {
        unwind_header_ = start;
      } else if (segment.p_type == PT_DYNAMIC) {
        dynamic_ = Range{start, start + segment.p_memsz};
      } else if (segment.p_type == PT_NOTE && note_count_ < sizeof notes_ / sizeof notes_[0]) {
        notes_[note_count_++] = Range{start, start + segment.p_filesz};
      }
    }
  }
  if (entry_point_ != 0) entry_point_ += bias_;
  for (uint64_t at = dynamic_.start; at + sizeof(Elf64_Dyn) <= dynamic_.limit;
       at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!load(at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_RELA) relocations_.start = dynamic_address(entry.d_un.d_ptr);
    if (entry.d_tag == DT_RELACOUNT) relocations_.limit = entry.d_un.d_val;
  }
  relocations_.limit = relocations_.start + relocations_.limit * sizeof(Elf64_Rela);
  return found;
}

// Layout of a note: sizes of name and description, type, name, description, both padded to four
// bytes.
uint32_t ElfObject::build_id(uint8_t* out, uint32_t room) const {
  struct {
    uint32_t name_size, size, type, name;
  } note;
  for (unsigned i = 0; i < note_count_; i++) {
    for (uint64_t at = notes_[i].start; at < notes_[i].limit && load(at, note);) {
      const uint64_t body = at + 12 + ((uint64_t{note.name_size} + 3) & ~uint64_t{3});
      if (note.type == NT_GNU_BUILD_ID && note.name_size == 4 && note.name == 0x554e47) {  // "GNU"
        const uint32_t size = note.size < room ? note.size : room;
        return read(body, out, size) ? size : 0;
      }
      at = body + ((uint64_t{note.size} + 3) & ~uint64_t{3});
    }
  }
  return 0;
}

// Layout of a CIE: length, id 0, version, augmentation string, two LEB128, return register,
// augmentation data.
bool ElfObject::pointer_encoding(uint64_t cie, uint8_t& encoding) const {
  if (cie == last_cie_) {
    encoding = last_encoding_;
    return encoding != kEncodingOmit;
  }
  last_cie_ = cie;
  last_encoding_ = last_table_encoding_ = encoding = kEncodingOmit;
  uint32_t head[2];
  uint8_t version, byte;
  if (!load(cie, head) || head[1] != 0 || !load(cie + 8, version)) return false;
  uint64_t at = cie + 9;
  char augmentation[8] = {};
  for (unsigned i = 0;; i++) {
    if (!load(at++, byte) || i == sizeof(augmentation)) return false;
    augmentation[i] = static_cast<char>(byte);
    if (byte == 0) break;
  }
  if (augmentation[0] == 0) {
    last_encoding_ = encoding = 0;
    return true;
  }
  if (augmentation[0] != 'z') return false;
  // Code alignment, data alignment, return register, size of the augmentation data.
  int numbers = 4;
  if (version == 1) {
    for (int i = 0; i < 2; i++) {
      do {
        if (!load(at++, byte)) return false;
      } while (byte & 0x80);
    }
    at++;
    numbers = 1;
  }
  for (int i = 0; i < numbers; i++) {
    do {
      if (!load(at++, byte)) return false;
    } while (byte & 0x80);
  }
  encoding = 0;
  for (const char* what = augmentation + 1; *what; what++) {
    if (!load(at, byte)) return false;
    if (*what == 'R') {
      encoding = byte;
      at++;
    } else if (*what == 'L') {
      last_table_encoding_ = byte;
      at++;
    } else if (*what == 'P') {
      at += 1 + format_size(byte);
    } else if (*what != 'B') {
      return false;  // also S, a signal's frame: its range begins a byte before its code
    }
  }
  last_encoding_ = encoding;
  return true;
}

// False at the end of the table, or where it makes no sense. The range is empty for a CIE.
bool ElfObject::fde_range(uint64_t fde, uint64_t& next, Range& range) const {
  uint32_t head[2];
  range = Range{};
  if (!load(fde, head[0]) || head[0] == 0 || head[0] >= 0xfffffff0 || !load(fde, head))
    return false;
  next = fde + 4 + head[0];
  if (head[1] == 0) return true;
  uint8_t encoding;
  if (!pointer_encoding(fde + 4 - head[1], encoding)) return true;
  uint64_t size = format_size(encoding);
  if (size != 4 && size != 8) return true;
  uint64_t start = 0, length = 0;
  uint32_t narrow[2];
  if (size == 4) {
    if (!load(fde + 8, narrow)) return false;
    bool is_signed = (encoding & 0x0f) == kEncodingSigned4;
    start = is_signed ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(narrow[0])}) : narrow[0];
    length = narrow[1];
  } else if (!load(fde + 8, start) || !load(fde + 16, length)) {
    return false;
  }
  uint8_t application = encoding & 0x70;
  if (application == 0x10) {
    start += fde + 8;
  } else if (application == 0x30) {
    start += unwind_header_;
  } else if (application != 0) {
    return true;
  }
  range = Range{start, start + length};
  return true;
}

bool ElfObject::load_unwind_header(UnwindHeader& header) const {
  return unwind_header_ != 0 && load(unwind_header_, header) && header.version == 1;
}

size_t ElfObject::unwind_ranges(Range* out, size_t capacity) const {
  UnwindHeader header;
  size_t found = 0;
  uint64_t next;
  Range range;
  const auto list_from = [&](uint64_t first) {
    for (uint64_t at = first; fde_range(at, next, range); at = next) {
      if (range.empty()) continue;
      if (found < capacity) out[found] = range;
      found++;
    }
    return found;
  };
  if (!load_unwind_header(header))
    return is_static_ && !static_image::frames().empty() ? list_from(static_image::frames().start)
                                                         : 0;
  if (header.has_table()) {
    if (out == nullptr && is_readable(unwind_header_ + 12, 8 * uint64_t{header.count}))
      return header.count;
    for (uint64_t i = 0; i < header.count; i++) {
      int32_t entry[2];
      if (!load(unwind_header_ + 12 + 8 * i, entry)) break;
      if (!fde_range(unwind_header_ + static_cast<uint64_t>(int64_t{entry[1]}), next, range) ||
          range.empty())
        continue;
      if (found < capacity) out[found] = range;
      found++;
    }
    return found;
  }
  if (header.frame_encoding != 0x1b) return 0;
  return list_from(unwind_header_ + 4 + static_cast<uint64_t>(int64_t{header.frame}));
}

// The loader may or may not have added the load address to what the dynamic section holds.
uint64_t ElfObject::dynamic_address(uint64_t value) const {
  return value >= object_.start && value < object_.limit ? value : value + bias_;
}

uint64_t ElfObject::symbol_count(uint64_t hash, uint64_t gnu_hash) const {
  uint32_t words[4];
  if (hash != 0 && load(hash, words)) return words[1];
  if (gnu_hash == 0 || !load(gnu_hash, words)) return 0;
  uint64_t buckets = gnu_hash + 16 + 8 * uint64_t{words[2]};
  uint64_t chains = buckets + 4 * uint64_t{words[0]};
  uint32_t highest = 0, value = 0;
  for (uint64_t i = 0; i < words[0]; i++) {
    if (!load(buckets + 4 * i, value)) return 0;
    if (value > highest) highest = value;
  }
  if (highest < words[1]) return words[1];
  while (load(chains + 4 * uint64_t{highest - words[1]}, value) && !(value & 1)) highest++;
  return uint64_t{highest} + 1;
}

size_t ElfObject::function_symbols(Range* out, size_t capacity) const {
  if (is_static_) {
    size_t count;
    const Range* functions = static_image::functions(count);
    for (size_t i = 0; i < count && i < capacity; i++) out[i] = functions[i];
    return count;
  }
  uint64_t symbols = 0, hash = 0, gnu_hash = 0;
  for (uint64_t at = dynamic_.start; at + sizeof(Elf64_Dyn) <= dynamic_.limit;
       at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!load(at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_SYMTAB) symbols = dynamic_address(entry.d_un.d_ptr);
    if (entry.d_tag == DT_HASH) hash = dynamic_address(entry.d_un.d_ptr);
    if (entry.d_tag == DT_GNU_HASH) gnu_hash = dynamic_address(entry.d_un.d_ptr);
  }
  if (symbols == 0) return 0;
  uint64_t count = symbol_count(hash, gnu_hash);
  if (out == nullptr && is_readable(symbols, count * sizeof(Elf64_Sym))) return count;
  size_t found = 0;
  for (uint64_t i = 1; i < count && i < kMaxSymbols; i++) {
    Elf64_Sym symbol;
    if (!load(symbols + i * sizeof(symbol), symbol)) break;
    unsigned type = symbol.st_info & 0xf;
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_value == 0 ||
        symbol.st_shndx == SHN_UNDEF)
      continue;
    if (found < capacity)
      out[found] = Range{bias_ + symbol.st_value, bias_ + symbol.st_value + symbol.st_size};
    found++;
  }
  return found;
}

// A plan follows from the file alone, and a library is patched before or after the loader has
// relocated it.
uint64_t ElfObject::pointer_at(uint64_t address) const {
  Elf64_Rela relocation;
  uint64_t low = 0, high = relocations_.start == 0 ? 0 : relocations_.size() / sizeof relocation;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (!load(relocations_.start + middle * sizeof relocation, relocation)) break;
    if (bias_ + relocation.r_offset == address)
      return bias_ + static_cast<uint64_t>(relocation.r_addend);
    if (bias_ + relocation.r_offset < address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  uint64_t value;
  return load(address, value) && value != 0 ? dynamic_address(value) : 0;
}

size_t ElfObject::loader_entries(Range* out, size_t capacity) const {
  size_t found = 0;
  const auto add = [&](uint64_t address) {
    if (address == 0 || address == ~uint64_t{0}) return;
    if (found < capacity) out[found] = Range{address, address};
    found++;
  };
  add(entry_point_);
  // Of functions to call: the ones before and after main(), each a list of addresses that are
  // relocated already.
  struct {
    int64_t where, size;
    Range list;
  } lists[] = {{DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ, {}},
               {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, {}},
               {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, {}}};
  for (uint64_t at = dynamic_.start; at + sizeof(Elf64_Dyn) <= dynamic_.limit;
       at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!load(at, entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_INIT || entry.d_tag == DT_FINI) add(dynamic_address(entry.d_un.d_ptr));
    for (auto& list : lists) {
      if (entry.d_tag == list.where) list.list.start = dynamic_address(entry.d_un.d_ptr);
      if (entry.d_tag == list.size) list.list.limit = entry.d_un.d_val;
    }
  }
  for (const auto& list : lists) {
    for (uint64_t i = 0; list.list.start != 0 && i + 8 <= list.list.limit; i += 8)
      add(pointer_at(list.list.start + i));
  }
  return found;
}

void TextMap::add_chunk(uint32_t start, uint32_t limit, bool covered, bool framed) {
  if (start < limit) chunks_[chunk_count_++] = Chunk{start, limit, covered, framed};
}

size_t TextMap::chunk_at(uint32_t offset) const {
  size_t low = 0, high = chunk_count_;
  while (low + 1 < high) {
    size_t middle = (low + high) / 2;
    if (chunks_[middle].start <= offset) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

bool TextMap::build(Range text, Range object) {
  has_object_ = object_.open(object);
  PeImage image;
  const bool has_image = !has_object_ && image.open(object);
  size_t frames = has_object_ ? object_.unwind_ranges(nullptr, 0)
                  : has_image ? image.functions(nullptr, 0)
                              : 0;
  const uint64_t go_table = has_object_ ? object_.go_table() : 0;
  const size_t go_frames = go_table ? object_.go_ranges(go_table, nullptr, 0) : 0;
  size_t symbols = has_object_ ? object_.function_symbols(nullptr, 0) : 0;
  size_t others = has_object_ ? object_.loader_entries(nullptr, 0) : 0;
  size_t capacity = frames + go_frames + symbols + others;
  if (!memory_.take((capacity + 1) * (sizeof(Range) + 2 * sizeof(Chunk) + sizeof(uint32_t))))
    return false;
  memory_.expect(capacity * (sizeof(Range) + sizeof(Chunk)));
  auto* by_frame = reinterpret_cast<Range*>(memory_.address());
  chunks_ = reinterpret_cast<Chunk*>(by_frame + capacity + 1);
  entries_ = reinterpret_cast<uint32_t*>(chunks_ + 2 * (capacity + 1));
  Range* by_symbol = by_frame + frames + go_frames;
  if (has_object_) {
    size_t found = object_.unwind_ranges(by_frame, frames);
    frames = found < frames ? found : frames;
    found = go_frames > 0 ? object_.go_ranges(go_table, by_frame + frames, go_frames) : 0;
    frames += found < go_frames ? found : go_frames;
    found = object_.function_symbols(by_symbol, symbols);
    symbols = found < symbols ? found : symbols;
    found = object_.loader_entries(by_symbol + symbols, others);
    symbols += found < others ? found : others;
  } else if (has_image) {
    const size_t found = image.functions(by_frame, frames);
    frames = found < frames ? found : frames;
  }
  const auto start_of = [](const Range& range) { return range.start; };
  sort_by(by_frame, frames, start_of);
  sort_by(by_symbol, symbols, start_of);

  auto size = static_cast<uint32_t>(text.size());
  uint32_t covered_to = 0;
  if (!has_object_ && !has_image && size > 0)
    entries_[entry_count_++] = 0;  // code and nothing else, which begins at its first byte
  while (frames + symbols > 0) {
    bool frame_first = symbols == 0 || (frames > 0 && by_frame->start <= by_symbol->start);
    const Range range = frame_first ? *by_frame++ : *by_symbol++;
    (frame_first ? frames : symbols)--;
    if (!text.contains(range.start)) continue;
    auto start = static_cast<uint32_t>(range.start - text.start);
    uint32_t limit =
        range.limit > text.limit ? size : static_cast<uint32_t>(range.limit - text.start);
    if (entry_count_ == 0 || entries_[entry_count_ - 1] != start) entries_[entry_count_++] = start;
    if (limit <= covered_to || start == limit) continue;
    if (start < covered_to) {  // an entry inside a piece that is covered already
      start = covered_to;
    } else {
      add_chunk(covered_to, start, false);
    }
    add_chunk(start, limit, true, frame_first);
    covered_to = limit;
  }
  add_chunk(covered_to, size, false);
  return true;
}

}  // namespace weir
