// Memory of a LoopWalk. What a loop writes must be memory of its task's own: words near the stack
// pointer, where compilers keep counters that are in no register, or what IsOwnMemory says. Others
// may read and write it, too: the task's memory changes in its own events only, and what it has
// written others see with its next event, whether its rounds were executed or passed over.
//
// A word is accessed as a whole, with the size that it was first written with. All else ends the
// walk.

#include "code/decode/decoder.h"
#include "code/emulate/loop_walk_x86_64.h"

namespace weir {

namespace {

// Bytes below and above the stack pointer.
constexpr uint64_t kRedZone = 128, kNearStack = 32768;

uint64_t cut(uint64_t value, unsigned size) {
  return size == 8 ? value : value & ((uint64_t{1} << size * 8) - 1);
}

bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

}  // namespace

bool LoopWalk::address_of_operand(uint64_t& address) {
  Instruction instruction;
  if (!decode(state.rip, instruction) || instruction.operand_count != 1) return false;
  const Operand& where = instruction.operands[0];
  if (where.segment == Segment::kGs || where.address32) return false;
  if (where.base < 16) without_slope({0, slope_[where.base]});
  if (where.index < 16) without_slope({0, slope_[where.index]});
  address = effective_address(where, state, state.rip + shape_.length, fs_base_, 0);
  return true;
}

bool LoopWalk::load(uint64_t at, unsigned size, Value& value) {
  for (unsigned i = 0; i < cell_count_; i++) {
    const Cell& cell = cell_[i];
    if (!overlap(at, size, cell.address, cell.size)) continue;
    if (cell.address != at || cell.size != size) return false;
    value = {cell.value, slope_[16 + i]};
    return true;
  }
  value.slope = 0;
  if (!load_(at, size, &value.number)) return false;
  for (size_t i = 0; i < read_count; i++) {
    if (read[i].address == at && read[i].size == size) return true;
  }
  if (read_count == WaitingLoop::kMaxReads) return false;
  read[read_count++] = {at, size, value.number};
  return true;
}

bool LoopWalk::store(uint64_t at, unsigned size, Value value) {
  const uint64_t stack = state.general[kRsp];
  const bool is_on_stack = !slope_[kRsp] && at >= stack - kRedZone && at <= stack + kNearStack;
  if (!is_on_stack && !is_own_(at, size)) return false;
  unsigned number = 0;
  while (number < cell_count_ && !overlap(at, size, cell_[number].address, cell_[number].size))
    number++;
  if (number == cell_count_) {
    uint64_t original;
    if (number == WaitingLoop::kMaxWrites || !load_(at, size, &original)) return false;
    cell_[cell_count_++] = {at, size, original, original};
  }
  Cell& cell = cell_[number];
  if (cell.address != at || cell.size != size) return false;
  cell.value = cut(value.number, size);
  slope_[16 + number] = value.slope;
  stays_within({cell.value, value.slope}, cut(~uint64_t{0}, size));
  return true;
}

bool LoopWalk::push(Value value) {
  state.general[kRsp] -= 8;
  return store(state.general[kRsp], 8, value);
}

bool LoopWalk::pop(Value& value) {
  without_slope({0, slope_[kRsp]});
  if (!load(state.general[kRsp], 8, value)) return false;
  state.general[kRsp] += 8;
  return true;
}

void LoopWalk::keep(Snapshot& kept) const {
  kept.at = state;
  kept.cell_count = cell_count_;
  for (unsigned i = 0; i < cell_count_; i++) kept.cell[i] = cell_[i].value;
}

// A cell that was written later held then what it held before the walk.
uint64_t LoopWalk::cell_in(const Snapshot& kept, unsigned number) const {
  return number < kept.cell_count ? kept.cell[number] : cell_[number].original;
}

bool LoopWalk::is_at(const Snapshot& kept) const {
  if (!(state == kept.at)) return false;
  for (unsigned i = 0; i < cell_count_; i++)
    if (cell_[i].value != cell_in(kept, i)) return false;
  return true;
}

bool LoopWalk::is_before(const Snapshot& kept) const {
  if (!(state == kept.at)) return is_smaller(state, kept.at);
  uint64_t lowest = ~uint64_t{0};
  bool is_less = false;
  for (unsigned i = 0; i < cell_count_; i++) {
    const uint64_t there = cell_in(kept, i);
    if (cell_[i].value == there || cell_[i].address > lowest) continue;
    lowest = cell_[i].address;
    is_less = cell_[i].value < there;
  }
  return is_less;
}

bool LoopWalk::differences(const Snapshot& kept, int64_t (&slopes)[kValues]) const {
  for (unsigned i = 0; i < 16; i++)
    slopes[i] = static_cast<int64_t>(state.general[i] - kept.at.general[i]);
  for (unsigned i = 0; i < WaitingLoop::kMaxWrites; i++)
    slopes[16 + i] = i < cell_count_ && i < kept.cell_count
                         ? static_cast<int64_t>(cell_[i].value - kept.cell[i])
                         : 0;
  return cell_count_ == kept.cell_count;
}

void LoopWalk::add_rounds(uint64_t rounds, const int64_t (&slopes)[kValues]) {
  for (unsigned i = 0; i < 16; i++) state.general[i] += rounds * static_cast<uint64_t>(slopes[i]);
  for (unsigned i = 0; i < cell_count_; i++)
    cell_[i].value =
        cut(cell_[i].value + rounds * static_cast<uint64_t>(slopes[16 + i]), cell_[i].size);
}

void LoopWalk::tell(const Snapshot& kept, WaitingLoop& found) const {
  found.place = kept.at;
  found.write_count = cell_count_;
  for (unsigned i = 0; i < cell_count_; i++)
    found.write[i] = {cell_[i].address, cell_[i].size, cell_in(kept, i)};
  found.read_count = 0;
  for (size_t k = 0; k < read_count; k++) {
    bool is_own = false;  // it was read before it was written
    for (unsigned i = 0; i < cell_count_; i++)
      is_own |= overlap(read[k].address, read[k].size, cell_[i].address, cell_[i].size);
    if (!is_own) found.read[found.read_count++] = read[k];
  }
}

}  // namespace weir
