// Machine code of the cache, written piece by piece.
// Implemented in emit_x86_64.cc.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "code/decode/registers.h"
#include "code/translate/cache.h"
#include "control/control.h"

namespace weir::translate {

// What a place in a block stands for. Holds from `at` up to the next one.
struct Mark {
  uint16_t at = 0;            // offset in the block
  uint8_t done = 0;           // instructions that are complete
  uint8_t lost = 0;           // Lost: registers of the program that are in CountState::saved
  uint8_t other = 0;          // the register of kOther
  int32_t moved = 0;          // the stack pointer has moved by so much
  bool uncounted = false;     // the block is not, or no longer, counted
  bool count_in_rcx = false;  // rcx is on its way back to CountState::left
  uint64_t rip = 0;           // the instruction that is executed
};
enum Lost : uint8_t { kLostRcx = 1, kLostRdx = 2, kLostOther = 4 };

// Of CountState. Addressed relative to rip: that way processors give a load what was stored before
// at once, but by way of %gs or an absolute address only after several cycles.
enum Field : uint32_t {
  kLeft = offsetof(CountState, left),
  kTarget = offsetof(CountState, rip),
  kJump = offsetof(CountState, jump),
  kSavedRcx = offsetof(CountState, saved[0]),
  kSavedRdx = offsetof(CountState, saved[1]),
  kSavedOther = offsetof(CountState, saved[2]),
  kExit = offsetof(CountState, exit),
};

// Writes at `out` what will run at `address`.
class Code {
 public:
  Code(uint8_t* out, uint64_t address, Mark* marks) : out_(out), address_(address), marks_(marks) {}

  uint32_t size() const { return at_; }
  uint64_t here() const { return address_ + at_; }
  unsigned mark_count() const { return mark_count_; }

  template <size_t N>
  void put(const uint8_t (&bytes)[N]) {
    for (size_t i = 0; i < N; i++) out_[at_ + i] = bytes[i];
    at_ += N;
  }
  void put8(uint8_t value) { out_[at_++] = value; }
  void put32(uint32_t value) {
    __builtin_memcpy(out_ + at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void put64(uint64_t value) {
    __builtin_memcpy(out_ + at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void put_bytes(const void* bytes, size_t size) {
    const auto* from = static_cast<const uint8_t*>(
        bytes);  // a few bytes: a string instruction would take longer to begin
    size_t i = 0;
    for (uint64_t word; i + sizeof word <= size; i += sizeof word) {
      __builtin_memcpy(&word, from + i, sizeof word);
      __builtin_memcpy(out_ + at_ + i, &word, sizeof word);
    }
    for (; i < size; i++) out_[at_ + i] = from[i];
    at_ += static_cast<uint32_t>(size);
  }
  void align(uint32_t to) {
    while (here() % to != 0) put8(0xcc);
  }

  // A displacement to `target` as the last four bytes of an instruction.
  void put_relative(uint64_t target) { put32(static_cast<uint32_t>(target - (here() + 4))); }
  // The displacement at offset `where` leads here from now on.
  void land(uint32_t where) {
    const uint32_t distance = at_ - (where + 4);
    __builtin_memcpy(out_ + where, &distance, sizeof distance);
  }
  // land() for a displacement of eight bits.
  void land8(uint32_t where) { out_[where] = static_cast<uint8_t>(at_ - (where + 1)); }

  // mov %reg,field; mov field,%reg
  void save(unsigned reg, Field field) { access(0x89, reg, field); }
  void load(unsigned reg, Field field) { access(0x8b, reg, field); }
  // movl $value,field
  void put_word(Field field, uint32_t value) {
    put({0xc7, 0x05});
    put_field(field, sizeof value);
    put32(value);
  }
  // subq $value,left; js, with no displacement yet
  void put_subtract(uint8_t value) {
    put({0x48, 0x83, 0x2d});
    put_field(kLeft, 1);
    put8(value);
    put({0x0f, 0x88});
  }
  // jmp *field
  void put_jump_through(Field field) {
    put({0xff, 0x25});
    put_field(field, 0);
  }
  // The shortest move of a constant.
  void put_constant(unsigned reg, uint64_t value) {
    if (value <= 0xffffffff) {
      if (reg >= 8) put8(0x41);
      put8(static_cast<uint8_t>(0xb8 | (reg & 7)));
      put32(static_cast<uint32_t>(value));
    } else {
      put8(reg >= 8 ? 0x49 : 0x48);
      put8(static_cast<uint8_t>(0xb8 | (reg & 7)));
      put64(value);
    }
  }
  // Into the runtime, at a site with this number: no register, no flag is touched.
  void put_enter(uint32_t site);

  void mark(Mark mark) {
    if (marks_ == nullptr) return;
    mark.at = static_cast<uint16_t>(at_);
    marks_[mark_count_++] = mark;
  }

 private:
  void access(uint8_t opcode, unsigned reg, Field field) {
    put8(reg >= 8 ? 0x4c : 0x48);
    put8(opcode);
    put8(static_cast<uint8_t>(0x05 | (reg & 7) << 3));
    put_field(field, 0);
  }
  // The displacement of a field, `behind` bytes before the instruction's end.
  void put_field(Field field, uint32_t behind) {
    put32(static_cast<uint32_t>(kCountState + field - (here() + 4 + behind)));
  }

  uint8_t* out_;
  uint64_t address_;
  Mark* marks_;
  uint32_t at_ = 0;
  unsigned mark_count_ = 0;
};

// The first page of the cache.
void write_thunks();
// Writes the exit's refund and the count of the following block as one. The sum is the same, and so
// is what is left if the count does not suffice.
void write_joint(const Exit& exit, const Block& block);

}  // namespace weir::translate
