// Where the functions of a mapped ELF object lie, by its unwind table (Go has one of its own) and
// by its dynamic symbols; and those of a PE image.
// Implemented in go_table.cc, landing_pads.cc, pe_image.cc and text_map.cc.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "code/find/scratch.h"

namespace weir {

// A piece of an executable segment. `covered`: an unwind table entry or a sized symbol says that it
// is code. The other pieces lie between such ones (padding, tables, code without either).
struct Chunk {
  uint32_t start = 0;  // offsets into the text
  uint32_t limit = 0;
  bool covered = false;
  // By an unwind table: what compilers write, and assembly that is written with care.
  bool framed = false;
};

// How an object's memory is read where it may be gone meanwhile: another thread may unmap a library
// while it is looked at. 0, or what went wrong. Null, as in unit tests: by plain loads.
using FetchMemory = long (*)(void* to, const void* from, uint64_t size);
void set_fetch_memory(FetchMemory fetch);
// False where it is not there.
bool fetch_memory(void* to, const void* from, uint64_t size);

// One mapped object: the program, a library, ld.so. Reads only what its program headers say is
// mapped and readable.
class ElfObject {
 public:
  // Returns false if there is no ELF image of this CPU at the range's start.
  [[nodiscard]] bool open(Range object);

  bool is_readable(uint64_t address, uint64_t size) const;
  // False where it is not readable, or not there.
  bool read(uint64_t address, void* to, uint64_t size) const;
  uint64_t bias() const { return bias_; }
  // Copies the build id that the linker noted, cut at `room`. Its size, 0: there is none.
  uint32_t build_id(uint8_t* out, uint32_t room) const;

  // These return how many they found, and store up to `capacity`; addresses may lie outside any
  // text and repeat. Without `out`, the result is no smaller than that.
  size_t unwind_ranges(Range* out, size_t capacity) const;
  // By Go's own table (go_table.cc), which is looked for: 0, there is none.
  uint64_t go_table() const;
  size_t go_ranges(uint64_t table, Range* out, size_t capacity) const;
  // Empty ranges for symbols without a size.
  size_t function_symbols(Range* out, size_t capacity) const;
  // Where the kernel and the loader enter the object: its entry point, and the functions that
  // initialize and end it. As empty ranges.
  size_t loader_entries(Range* out, size_t capacity) const;
  // The address that is stored there once the object is relocated, whether it is already or not.
  uint64_t pointer_at(uint64_t address) const;
  uint64_t entry_point() const { return entry_point_; }
  // A program of which its file said more (code/find/static_image.h).
  bool is_static() const { return is_static_; }

  // Calls visit(address) for each place where the unwinder goes on in the function that begins at
  // `function`: the landing pads of its exception table (code/find/landing_pads.cc). Returns how
  // many.
  template <typename Visit>
  size_t visit_landing_pads(uint64_t function, Visit visit) const {
    constexpr size_t kBatch = 64;
    uint64_t pads[kBatch];
    size_t total = 0;
    for (;;) {
      const size_t found = landing_pads(function, pads, kBatch, total);
      for (size_t i = 0; i < found; i++) visit(pads[i]);
      total += found;
      if (found < kBatch) return total;
    }
  }

 private:
  static constexpr unsigned kMaxSegments = 16;

  template <typename T>
  bool load(uint64_t address, T& value) const {
    return read(address, &value, sizeof(T));
  }
  // Stores up to `capacity` of the function's landing pads, but the first `skipped`. Returns how
  // many it stored.
  size_t landing_pads(uint64_t function, uint64_t* out, size_t capacity, size_t skipped) const;
  bool is_from_go() const;
  bool is_go_table(uint64_t at) const;
  uint64_t go_text(uint64_t table) const;
  uint64_t go_text_of_module(uint64_t table) const;
  uint64_t frame_of(uint64_t function) const;
  uint64_t exception_table(uint64_t function) const;
  struct UnwindHeader {
    uint8_t version, frame_encoding, count_encoding, table_encoding;
    int32_t frame;
    uint32_t count;
    // True if a table of `count` entries follows, sorted by function. An entry has the function's
    // start and its frame description, 32 bits each, relative to the header.
    bool has_table() const {
      return count_encoding == 0x03 && table_encoding == 0x3b && (frame_encoding & 0x0f) == 0x0b;
    }
  };
  // Returns false if there is none of this kind.
  bool load_unwind_header(UnwindHeader& header) const;
  bool fde_range(uint64_t fde, uint64_t& next, Range& range) const;
  bool pointer_encoding(uint64_t cie, uint8_t& encoding) const;
  uint64_t symbol_count(uint64_t hash, uint64_t gnu_hash) const;
  uint64_t dynamic_address(uint64_t value) const;

  Range object_;
  uint64_t bias_ = 0;
  uint64_t entry_point_ = 0;  // 0: none
  bool is_static_ = false;
  uint64_t unwind_header_ = 0;
  Range dynamic_;
  unsigned note_count_ = 0;
  Range notes_[4];
  unsigned segment_count_ = 0;
  Range segments_[kMaxSegments];
  Range relocations_;           // relative ones with addend, rising as linkers write them
  mutable Range last_segment_;  // that is_readable() found
  mutable uint64_t go_text_of_ = 0,
                   go_text_ = 0;  // what go_text_of_module() found, for which table
  mutable uint64_t last_cie_ = 0;
  mutable uint8_t last_encoding_ = 0;
  mutable uint8_t last_table_encoding_ = 0;  // of the pointer to a function's exception table
};

// A mapped PE image: an assembly of .NET that was compiled ahead of time (ReadyToRun). All its code
// has an entry in its exception directory, also the parts of a function that handle exceptions.
class PeImage {
 public:
  // Returns false if there is no image of this CPU at the range's start. Its sections lie where the
  // file says, and what is between them may be missing.
  [[nodiscard]] bool open(Range object);

  // Returns how many it found, and stores up to `capacity`. Without `out`, the result is no smaller
  // than that.
  size_t functions(Range* out, size_t capacity) const;

 private:
  Range object_;
  Range table_;
};

// The text cut into chunks, in order and without holes.
class TextMap {
 public:
  TextMap() = default;
  TextMap(const TextMap&) = delete;
  TextMap& operator=(const TextMap&) = delete;

  // Returns false if there is no memory.
  [[nodiscard]] bool build(Range text, Range object);

  const Chunk* chunks() const { return chunks_; }
  size_t chunk_count() const { return chunk_count_; }
  size_t chunk_at(uint32_t offset) const;
  // Every place where a function starts, as offsets into the text (alternative entries too).
  const uint32_t* entries() const { return entries_; }
  size_t entry_count() const { return entry_count_; }
  const ElfObject* object() const { return has_object_ ? &object_ : nullptr; }

 private:
  void add_chunk(uint32_t start, uint32_t limit, bool covered, bool framed = false);

  ElfObject object_;
  bool has_object_ = false;
  Scratch memory_;
  Chunk* chunks_ = nullptr;
  size_t chunk_count_ = 0;
  uint32_t* entries_ = nullptr;
  size_t entry_count_ = 0;
};

}  // namespace weir
