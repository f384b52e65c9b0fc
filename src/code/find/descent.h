// Which bytes of a text are proved to be instructions: those that control reaches from places where
// code is known to begin. Everything else may be data.
// Implemented in descent.cc and named_places.cc.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "code/decode/shape.h"
#include "code/find/offset_set.h"
#include "code/find/original.h"
#include "code/find/scratch.h"
#include "code/find/text_map.h"

namespace weir {

// An instruction that ends a program by a signal, or is none of a program's.
bool is_privileged(const Shape& shape);

class Descent {
 public:
  Descent() = default;
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

  // Returns false if there is no memory. REQUIRES: `map` and `original` are of this text and
  // outlive this.
  [[nodiscard]] bool begin(Range text, const TextMap& map, const Original& original);

  // Code is known to begin there; followed by the next run().
  void add_entry(uint32_t offset);
  // The function entries of the chunk and the landing pads of its functions.
  void add_chunk(size_t chunk);
  // Follows what was added. Control that leads into a chunk that was never added is followed only
  // as far as it runs on.
  void run();

  bool is_start(uint32_t offset) const { return starts_.has(offset); }  // of a proved instruction
  bool is_code(uint32_t offset) const { return code_bytes_.has(offset); }  // a byte of one
  bool is_chosen(size_t chunk) const { return chosen_[chunk]; }
  const OffsetSet& code_bytes() const { return code_bytes_; }
  const OffsetSet& starts() const { return starts_; }

 private:
  // An address that a function loads, or a register by which it jumps. They tell of jump tables.
  // kCode: a number that is the address of a place in the text.
  struct Note {
    enum Kind : uint8_t { kAddress, kAbsolute, kJump, kCode };
    uint32_t chunk;
    uint64_t address;  // of the table, or the place
    Kind kind;
  };
  struct Stretch;

  void add_soft(uint32_t offset);
  void follow(uint32_t offset, bool is_soft);
  bool follow_fast(const uint8_t* bytes, uint32_t offset, Stretch& stretch);
  bool is_in_chosen(uint32_t offset, uint32_t near) const;
  void commit(const Stretch& stretch);
  void note_instruction(const Shape& shape, const uint8_t* bytes, uint32_t offset,
                        Stretch& stretch);
  bool follow_tables();
  bool follow_table(const Note& note);
  bool follow_rest();
  bool follow_named();
  bool add_named(uint64_t address);
  bool names_rest(size_t chunk) const;
  bool sweeps(size_t index, bool takes);
  bool is_aligned(uint32_t offset, const Chunk& chunk) const;
  bool pops_return_address(uint32_t offset) const;
  void add_note(const Note& note);

  Range text_;
  uint32_t size_ = 0;
  const TextMap* map_ = nullptr;
  const Original* original_ = nullptr;
  Scratch memory_;
  OffsetSet starts_, code_bytes_, queued_;
  bool* chosen_ = nullptr;  // chunks that were added,
  bool* jumps_ = nullptr;   // those that jump by a register,
  bool* grown_ = nullptr;   // and those of which more is proved than when tables were followed last
  bool* named_ = nullptr;   // some address is loaded there
  uint32_t* hard_ = nullptr;  // places to follow: code for certain,
  uint32_t* soft_ = nullptr;  // and what follows a call, from which that may never return
  size_t hard_count_ = 0, soft_count_ = 0;
  Note* notes_ = nullptr;
  size_t note_count_ = 0, note_room_ = 0;
  uint32_t entry_point_ = 0;
  bool has_entry_point_ = false;
  bool takes_names_ = false;  // what is named as an address may be code (follow_named)
};

// Whether code could begin at `offset`: all bytes decode from there to a jump, a return or proved
// code, no instruction is one that no program executes, and none leads into the middle of a proved
// one.
[[nodiscard]] bool is_plausible(const Descent& descent, const uint8_t* code, uint32_t size,
                                uint32_t offset);

}  // namespace weir
