// A loop that waits comes back to a state. One that counts does not; but where all registers grow
// by the same from round to round, all rounds are known to the one in which a jump goes elsewhere
// or a number wraps around (LoopWalk). So the rounds before that are passed over at once.
//
// Memory that the task sees stays as it is meanwhile: this is for tasks whose memory changes in
// their own events only. So passing over rounds changes nothing but the time that they take, and
// needs to be done in no run.
//
// A loop that would count for minutes is a wait, too. The place at which it waits must be found in
// every run, so it is the last but one round before the count ends. No run comes there by itself.

#include "code/emulate/waiting_loop_x86_64.h"

#include "code/emulate/loop_walk_x86_64.h"

namespace weir {

namespace {

constexpr unsigned kMaxSteps = 256;
// Rounds. Below, a task goes through them in some seconds; and no program has this very limit.
constexpr uint64_t kForMinutes = 3'141'592'653;

class Search {
 public:
  Search(const Registers& from, uint64_t fs_base, LoadMemory load, WaitingLoop& found)
      : walk_(from, fs_base, load), start_(from), found_(found) {
    found_.place = from;
  }

  LoopKind run() {
    for (unsigned i = 0; i < kMaxSteps && walk_.step(); i++) {
      if (walk_.state == start_) return tell(LoopKind::kWaits);
      if (is_smaller(walk_.state, found_.place)) found_.place = walk_.state;
      if (!walk_.has_jumped_back() || !is_end_of_round()) continue;
      // The registers are those of the round behind the one that was looked at.
      const LoopWalk::Change change = walk_.change();
      walk_.end_round();
      head_count_ = 0;
      if (change.round < kFewest) continue;
      if (change.round >= kForMinutes) return has_passed_ ? passes() : wait_at_end(change);
      if (!pass(change.round - 1)) break;
      if (walk_.state == start_) return tell(LoopKind::kWaits);
      if (has_passed_) continue;
      has_passed_ = true;
      start_ = passed_ = found_.place = walk_.state;
      walk_.read_count = 0;
    }
    return has_passed_ ? passes() : LoopKind::kNone;
  }

 private:
  static constexpr uint64_t kFewest = 5;  // rounds
  static constexpr unsigned kHeads = 4;
  struct Head {
    Registers at;
    unsigned seen;  // in the round that is looked at
  };

  LoopKind tell(LoopKind kind) {
    found_.read_count = walk_.read_count;
    for (size_t i = 0; i < walk_.read_count; i++) found_.read[i] = walk_.read[i];
    return kind;
  }

  LoopKind passes() {
    found_.place = passed_;
    return LoopKind::kPasses;
  }

  // After a jump back: whether it ends a round that was looked at, of which the next ones are
  // known.
  bool is_end_of_round() {
    Head* head = nullptr;
    for (unsigned i = 0; i < head_count_; i++)
      if (heads_[i].at.rip == walk_.state.rip) head = &heads_[i];
    if (!head) {
      if (head_count_ < kHeads) heads_[head_count_++] = {walk_.state, 0};
      return false;
    }
    int64_t slopes[16];
    bool counts = false;
    for (unsigned i = 0; i < 16; i++) {
      slopes[i] = static_cast<int64_t>(walk_.state.general[i] - head->at.general[i]);
      counts |= slopes[i] != 0;
    }
    head->at = walk_.state;
    if (walk_.is_tracking() && tracked_ == walk_.state.rip) {
      bool is_same = walk_.keeps_slopes(slopes_);
      for (unsigned i = 0; i < 16; i++) is_same &= slopes[i] == slopes_[i];
      round_ = walk_.steps();
      if (is_same) return true;
    } else if (walk_.is_tracking() && head->seen++ == 0) {
      return false;  // a loop in the loop, perhaps
    }
    walk_.end_round();
    if (!counts) return false;
    for (unsigned i = 0; i < 16; i++) slopes_[i] = slopes[i];
    for (unsigned i = 0; i < head_count_; i++) heads_[i].seen = 0;
    tracked_ = walk_.state.rip;
    walk_.begin_round(slopes_);
    return false;
  }

  // From the beginning of round 1 to that of `round`. The flags are those of a round that is
  // carried out.
  bool pass(uint64_t round) {
    for (unsigned i = 0; i < 16; i++)
      walk_.state.general[i] += (round - 2) * static_cast<uint64_t>(slopes_[i]);
    for (unsigned i = 0; i < round_; i++)
      if (!walk_.step()) return false;
    return walk_.state.rip == tracked_;
  }

  // The last place but one of the smallest address before the change.
  LoopKind wait_at_end(const LoopWalk::Change& change) {
    if (!pass(change.round - 2)) return LoopKind::kNone;
    const unsigned steps = 2 * round_ + change.step;
    Registers last = walk_.state, before = walk_.state;
    uint64_t lowest = ~uint64_t{0};
    walk_.read_count = 0;
    for (unsigned i = 0; i < steps; i++) {
      if (walk_.state.rip < lowest) {
        lowest = walk_.state.rip;
        last = before = walk_.state;
      } else if (walk_.state.rip == lowest) {
        before = last;
        last = walk_.state;
      }
      if (i + 1 < steps && !walk_.step()) return LoopKind::kNone;
    }
    if (!walk_.read_count) return LoopKind::kNone;  // it computes, or waits for nothing
    found_.place = before;
    found_.ends = change.leaves;
    return tell(LoopKind::kCounts);
  }

  LoopWalk walk_;
  Registers start_, passed_;
  bool has_passed_ = false;
  WaitingLoop& found_;
  Head heads_[kHeads];
  unsigned head_count_ = 0;
  uint64_t tracked_ = 0;  // where the round began that is looked at
  unsigned round_ = 0;    // steps
  int64_t slopes_[16];
};

}  // namespace

bool is_smaller(const Registers& a, const Registers& b) {
  if (a.rip != b.rip) return a.rip < b.rip;
  for (unsigned i = 0; i < 16; i++) {
    if (a.general[i] != b.general[i]) return a.general[i] < b.general[i];
  }
  return a.rflags < b.rflags;
}

LoopKind find_waiting_loop(const Registers& from, uint64_t fs_base, LoadMemory load,
                           WaitingLoop& found) {
  found.read_count = 0;
  found.ends = false;
  return Search(from, fs_base, load, found).run();
}

}  // namespace weir
