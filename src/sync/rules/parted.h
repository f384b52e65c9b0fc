// An instruction that is several steps (code/translate/step.h), made step by step: between them
// another task may have the turn, as on another processor it could come in between.
//
// - One that reads memory, changes and writes it, and is not locked: it reads, and then it writes
//   what follows from what it has read, whatever is there by then.
// - A store of a whole vector register, where no processor promises that all of it is seen at once:
//   one part of it after the other.
// - A repeated move or fill: its first words, half of it, all but the last, all.
//
// What cannot be parted, or would fault, is made as a whole behind its last step.
// Implemented in parted.cc.
#pragma once

#include <stdint.h>

#include "base/frame.h"
#include "code/decode/wide_store.h"
#include "code/sites/atomic_op.h"

namespace weir::serial {

class Parted {
 public:
  // The instruction at frame.rip.
  explicit Parted(Frame& frame);

  bool is_parted() const { return kind_ != Kind::kWhole; }
  bool is_store() const { return kind_ == Kind::kStore || kind_ == Kind::kString; }
  // So many of its steps are over, not all of them: others may look.
  void come_to(unsigned steps);
  // The turn is the task's until the instruction is over, unless a signal's handler comes first
  // (`is_interrupted`). False: the processor is to execute what is at frame.rip.
  [[nodiscard]] bool finish(bool is_interrupted);

 private:
  enum class Kind : uint8_t {
    kWhole,
    kChange,  // known in full (AtomicOp): the runtime makes it
    kOther,   // it reads and writes so many bytes: it is executed on what it has read
    kStore,
    kString,  // what is over, the registers say
  };
  Kind find(uint64_t rip);
  Kind find_store();
  Kind find_string(const Shape& shape, const uint8_t* code);
  void make_elements(uint64_t count);
  bool write(uint64_t limit);

  Frame& frame_;
  Kind kind_ = Kind::kWhole;
  AtomicOp op_;
  WideStore store_;
  uint8_t length_ = 0, element_ = 0;  // bytes of the instruction, and of what a string consists of
  bool is_move_ = false;
  uint64_t elements_ = 0, made_ = 0;
  long address_ = 0;
  uint64_t size_ = 0;
  alignas(64) uint8_t value_[64] = {};
};

}  // namespace weir::serial
