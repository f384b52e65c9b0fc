// A loop that waits comes back to a state. One that counts does not; but where all registers, and
// all words of memory that it writes, grow by the same from round to round, all rounds are known
// to the one in which a jump goes elsewhere or a number wraps around (LoopWalk). So the rounds
// before that are passed over at once.
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
  Search(const Registers& from, uint64_t fs_base, LoadMemory load, IsOwnMemory is_own,
         WaitingLoop& found)
      : walk_(from, fs_base, load, is_own), found_(found) {
    walk_.keep(start_);
    walk_.keep(place_);
  }

  LoopKind run() {
    for (unsigned i = 0; i < kMaxSteps && walk_.step(); i++) {
      if (walk_.is_at(start_)) return tell(LoopKind::kWaits);
      if (walk_.is_before(place_)) walk_.keep(place_);
      if (!walk_.has_jumped_back() || !is_end_of_round()) continue;
      // The registers are those of the round behind the one that was looked at.
      const LoopWalk::Change change = walk_.change();
      walk_.end_round();
      head_count_ = 0;
      if (change.round < kFewest) continue;
      if (change.round >= kForMinutes) return has_passed_ ? passes() : wait_at_end(change);
      if (!pass(change.round - 1)) break;
      if (walk_.is_at(start_)) return tell(LoopKind::kWaits);
      if (has_passed_) continue;
      has_passed_ = true;
      walk_.keep(start_);
      place_ = passed_ = start_;
      walk_.read_count = 0;
    }
    return has_passed_ ? passes() : LoopKind::kNone;
  }

 private:
  static constexpr uint64_t kFewest = 5;  // rounds
  static constexpr unsigned kHeads = 4;
  struct Head {
    LoopWalk::Snapshot kept;
    unsigned seen;  // in the round that is looked at
  };

  LoopKind tell(LoopKind kind) {
    walk_.tell(place_, found_);
    return kind;
  }

  LoopKind passes() {
    walk_.tell(passed_, found_);
    return LoopKind::kPasses;
  }

  // After a jump back: whether it ends a round that was looked at, of which the next ones are
  // known.
  bool is_end_of_round() {
    Head* head = nullptr;
    for (unsigned i = 0; i < head_count_; i++)
      if (heads_[i].kept.at.rip == walk_.state.rip) head = &heads_[i];
    if (!head) {
      if (head_count_ < kHeads) {
        walk_.keep(heads_[head_count_].kept);
        heads_[head_count_++].seen = 0;
      }
      return false;
    }
    int64_t slopes[LoopWalk::kValues];
    const bool is_alike = walk_.differences(head->kept, slopes);
    bool counts = false;
    for (const int64_t slope : slopes) counts |= slope != 0;
    walk_.keep(head->kept);
    if (walk_.is_tracking() && tracked_ == walk_.state.rip) {
      bool is_same = is_alike && walk_.keeps_slopes(slopes_);
      for (unsigned i = 0; i < LoopWalk::kValues; i++) is_same &= slopes[i] == slopes_[i];
      round_ = walk_.steps();
      if (is_same) return true;
    } else if (walk_.is_tracking() && head->seen++ == 0) {
      return false;  // a loop in the loop, perhaps
    }
    walk_.end_round();
    if (!counts || !is_alike) return false;
    for (unsigned i = 0; i < LoopWalk::kValues; i++) slopes_[i] = slopes[i];
    for (unsigned i = 0; i < head_count_; i++) heads_[i].seen = 0;
    tracked_ = walk_.state.rip;
    walk_.begin_round(slopes_);
    return false;
  }

  // From the beginning of round 1 to that of `round`. The flags are those of a round that is
  // carried out.
  bool pass(uint64_t round) {
    walk_.add_rounds(round - 2, slopes_);
    for (unsigned i = 0; i < round_; i++)
      if (!walk_.step()) return false;
    return walk_.state.rip == tracked_;
  }

  // The last place but one of the smallest address before the change.
  LoopKind wait_at_end(const LoopWalk::Change& change) {
    if (!pass(change.round - 2)) return LoopKind::kNone;
    const unsigned steps = 2 * round_ + change.step;
    LoopWalk::Snapshot last, before;
    uint64_t lowest = ~uint64_t{0};
    walk_.read_count = 0;
    for (unsigned i = 0; i < steps; i++) {
      if (walk_.state.rip < lowest) {
        lowest = walk_.state.rip;
        walk_.keep(last);
        before = last;
      } else if (walk_.state.rip == lowest) {
        before = last;
        walk_.keep(last);
      }
      if (i + 1 < steps && !walk_.step()) return LoopKind::kNone;
    }
    walk_.tell(before, found_);
    if (!found_.read_count) return LoopKind::kNone;  // it computes, or waits for nothing
    found_.ends = change.leaves;
    return LoopKind::kCounts;
  }

  LoopWalk walk_;
  LoopWalk::Snapshot start_, place_, passed_;  // place_: the smallest since start_
  bool has_passed_ = false;
  WaitingLoop& found_;
  Head heads_[kHeads];
  unsigned head_count_ = 0;
  uint64_t tracked_ = 0;  // where the round began that is looked at
  unsigned round_ = 0;    // steps
  int64_t slopes_[LoopWalk::kValues];
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
                           IsOwnMemory is_own, WaitingLoop& found) {
  found.read_count = found.write_count = 0;
  found.ends = false;
  return Search(from, fs_base, load, is_own, found).run();
}

}  // namespace weir
