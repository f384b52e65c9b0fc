// Carries the instructions of a loop out on a copy of the registers and of the words that it writes
// (cells), without writing anything. It knows how much they differ from one round of the
// loop to the next (their slopes), and until which round all goes as in this one.
//
// Implemented in loop_cells_x86_64.cc and loop_walk_x86_64.cc.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "code/decode/registers.h"
#include "code/decode/shape.h"
#include "code/emulate/waiting_loop_x86_64.h"

namespace weir {

class LoopWalk {
 public:
  LoopWalk(const Registers& from, uint64_t fs_base, LoadMemory load, IsOwnMemory is_own)
      : state(from), fs_base_(fs_base), load_(load), is_own_(is_own) {}

  // False: the instruction is none of the known ones.
  bool step();
  // The last step was a jump back that was taken: `state` is where a round may begin.
  bool has_jumped_back() const { return jumped_back_; }

  // Registers, then cells.
  static constexpr unsigned kValues = 16 + WaitingLoop::kMaxWrites;
  // Where the walk stood.
  struct Snapshot {
    Registers at;
    unsigned cell_count = 0;
    uint64_t cell[WaitingLoop::kMaxWrites];
  };
  void keep(Snapshot& kept) const;
  bool is_at(const Snapshot& kept) const;
  // Smaller than `kept`: by instruction address, registers, then cells by address.
  bool is_before(const Snapshot& kept) const;
  // How much each value is more than there. False: it has more cells by now.
  bool differences(const Snapshot& kept, int64_t (&slopes)[kValues]) const;
  // So many rounds on.
  void add_rounds(uint64_t rounds, const int64_t (&slopes)[kValues]);
  // What is read and what is written, as it is where `kept` was taken.
  void tell(const Snapshot& kept, WaitingLoop& found) const;

  // From here on a round is looked at in which each value is `slopes` more than in the round
  // before.
  void begin_round(const int64_t (&slopes)[kValues]);
  void end_round();
  bool is_tracking() const { return is_tracking_; }
  // At the end of the round: the registers have the slopes that they had at its beginning.
  bool keeps_slopes(const int64_t (&slopes)[kValues]) const;

  // The first round, from this one (0) on, that does not go as this one; and its step that does
  // not. `leaves`: a jump goes elsewhere there; else a number would pass its largest or smallest
  // value.
  struct Change {
    uint64_t round = ~uint64_t{0};
    unsigned step = 0;
    bool leaves = false;
  };
  const Change& change() const { return change_; }

  // Of the round: steps made since it began.
  unsigned steps() const { return steps_; }

  Registers state;
  size_t read_count = 0;
  WaitingLoop::Read read[WaitingLoop::kMaxReads];

 private:
  struct Value {
    uint64_t number;
    int64_t slope;  // how much more it is in the next round
  };
  struct Cell {
    uint64_t address;
    unsigned size;
    uint64_t original, value;
  };
  // What the status flags were computed of, as far as conditions may depend on the round.
  struct Compared {
    bool is_known;   // computed in this round
    bool is_result;  // of an operation that may overflow: equality with 0 and the sign only
    Value a, b;
    unsigned size;
  };
  enum class Compute : uint8_t { kCompare, kAnd, kXor, kAdd, kSubtract, kIncrement, kDecrement };

  unsigned width() const { return shape_.rex & 8 ? 8 : shape_.has_66 ? 2 : 4; }
  // 1 where the lowest bit of the opcode says so.
  unsigned width_by_opcode() const { return shape_.opcode & 1 ? width() : 1; }
  bool number(bool in_rm, unsigned size, unsigned& found) const;
  Value in_register(unsigned at, unsigned size);
  bool get(bool in_rm, unsigned size, Value& value);
  bool set(bool in_rm, unsigned size, Value value);
  void put(unsigned at, unsigned size, Value value);
  bool address_of_operand(uint64_t& address);
  bool load(uint64_t at, unsigned size, Value& value);
  bool store(uint64_t at, unsigned size, Value value);
  bool push(Value value);
  bool pop(Value& value);
  uint64_t cell_in(const Snapshot& kept, unsigned number) const;
  uint64_t immediate() const;
  // Of 0 to `most` in all rounds before the change.
  void stays_within(Value value, uint64_t most);
  Value without_slope(Value value);
  void note_change(uint64_t round, bool leaves);
  bool condition(uint8_t code, bool& holds);
  Value carry_out(Compute how, Value a, Value b, unsigned size);
  bool finish(Compute how, bool keeps, bool in_rm, Value a, Value b, unsigned size);
  bool compute(Compute how, bool keeps);
  bool compute_with(Compute how, bool keeps, uint64_t number);
  bool with_rax(Compute how, bool keeps);
  bool load_address();
  bool shift();
  bool one_byte();
  bool two_bytes();

  uint64_t fs_base_;
  LoadMemory load_;
  IsOwnMemory is_own_;
  const uint8_t* code_ = nullptr;
  Shape shape_;
  int64_t slope_[kValues] = {};
  unsigned cell_count_ = 0;
  Cell cell_[WaitingLoop::kMaxWrites];
  bool is_tracking_ = false;
  bool jumped_back_ = false;
  unsigned steps_ = 0;  // of the round
  Compared compared_{};
  Change change_;
};

}  // namespace weir
