// Where the functions of a mapped ELF object lie, by its unwind table and its dynamic symbols.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "patch/scratch.h"

namespace weir {

// A piece of an executable segment. `covered`: an unwind table entry or a sized symbol says that it is code; else it is
// what lies between such pieces (padding, tables, code without either).
struct Chunk {
  uint32_t start = 0;  // offsets into the text
  uint32_t limit = 0;
  bool covered = false;
};

// One mapped object: the program, a library, ld.so. Reads only what its program headers say is mapped and readable.
class ElfObject {
 public:
  // False: no ELF image of this CPU at the range's start.
  [[nodiscard]] bool open(Range object);

  bool is_readable(uint64_t address, uint64_t size) const;
  uint64_t bias() const { return bias_; }
  // Copies the build id that the linker noted, cut at `room`. Its size, 0: there is none.
  uint32_t build_id(uint8_t* out, uint32_t room) const;

  // Answer how many they found, and store up to `capacity`; addresses may lie outside any text and repeat. Without `out`,
  // no fewer than that.
  size_t unwind_ranges(Range* out, size_t capacity) const;
  size_t function_symbols(Range* out, size_t capacity) const;  // empty ranges for symbols without a size

 private:
  static constexpr unsigned kMaxSegments = 16;

  template <typename T>
  bool load(uint64_t address, T& value) const;
  bool fde_range(uint64_t fde, uint64_t& next, Range& range) const;
  bool pointer_encoding(uint64_t cie, uint8_t& encoding) const;
  uint64_t symbol_count(uint64_t hash, uint64_t gnu_hash) const;
  uint64_t dynamic_address(uint64_t value) const;

  Range object_;
  uint64_t bias_ = 0;
  uint64_t unwind_header_ = 0;
  Range dynamic_;
  unsigned note_count_ = 0;
  Range notes_[4];
  unsigned segment_count_ = 0;
  Range segments_[kMaxSegments];
  mutable Range last_segment_;  // that is_readable() found
  mutable uint64_t last_cie_ = 0;
  mutable uint8_t last_encoding_ = 0;
};

// The text cut into chunks, in order and without holes.
class TextMap {
 public:
  TextMap() = default;
  TextMap(const TextMap&) = delete;
  TextMap& operator=(const TextMap&) = delete;

  // False: no memory.
  [[nodiscard]] bool build(Range text, Range object);

  const Chunk* chunks() const { return chunks_; }
  size_t chunk_count() const { return chunk_count_; }
  size_t chunk_at(uint32_t offset) const;
  // Every place where a function starts, as offsets into the text (alternative entries too).
  const uint32_t* entries() const { return entries_; }
  size_t entry_count() const { return entry_count_; }
  // Most of the text is in no known function: all chunks count as covered, and data may lie in each.
  bool is_linear() const { return is_linear_; }
  const ElfObject* object() const { return has_object_ ? &object_ : nullptr; }

 private:
  void add_chunk(uint32_t start, uint32_t limit, bool covered);

  ElfObject object_;
  bool has_object_ = false;
  bool is_linear_ = false;
  Scratch memory_;
  Chunk* chunks_ = nullptr;
  size_t chunk_count_ = 0;
  uint32_t* entries_ = nullptr;
  size_t entry_count_ = 0;
};

}  // namespace weir
