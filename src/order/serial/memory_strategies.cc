// Strategies that look at what a task is about to do to memory: they stop it before each step.

#include "order/serial/random.h"
#include "order/serial/strategy.h"

namespace weir::order {

namespace {

// Yuan, Yang, Gu: Partial order aware concurrency sampling, CAV 2018. What a task is about to do
// has a random priority, and the highest goes on; each other that conflicts with it then draws a
// new one. So each partial order is drawn with a probability that does not depend on how many steps
// conflict with none: a bug in a run with n tasks whose steps race at most k times with each other
// is found with a probability of at least 1/n^(k+1).
class Pos final : public Strategy {
 public:
  void start(const Schedule& schedule) override { random_ = Random(schedule.seed); }
  void begin(TaskId id, uint32_t) override { draw(id, {}); }
  uint64_t steps_before_stop(TaskId, const Position&, uint64_t) override { return 1; }
  bool looks_at_memory() const override { return true; }
  TaskId choose(const Moment& moment) override {
    const TaskId current = moment.current;
    if (current != kNoTask) draw(current, moment.next);
    TaskId best = kNoTask;
    for (uint32_t i = 0; i < moment.count; i++) {
      const TaskId id = moment.ready[i];
      if (id == current && !moment.goes_on()) continue;
      if (best == kNoTask || priority_[id] > priority_[best]) best = id;
    }
    if (best == kNoTask) best = moment.ready[0];
    for (uint32_t i = 0; i < moment.count; i++) {
      const TaskId id = moment.ready[i];
      if (id != best && conflict(next_[id], next_[best])) draw(id, next_[id]);
    }
    return best;
  }

 private:
  void draw(TaskId id, const Touch& next) {
    next_[id] = next;
    priority_[id] = random_.next();
  }

  Random random_;
  Touch next_[kMaxTasks] = {};
  uint64_t priority_[kMaxTasks] = {};
};

// At depth-1 random steps the task is held before it, until another is about to touch the same
// memory, one of them writing: a race about to happen. Then either goes first, or the other goes on
// and the one that is held stays so. One that has been held for long goes on: the others may wait
// for it in loops that nobody can tell from computing. After Sen: Race directed random testing of
// concurrent programs, PLDI 2008; there is no guarantee, since which accesses conflict is found by
// chance.
class Race final : public Strategy {
 public:
  void start(const Schedule& schedule) override {
    random_ = Random(schedule.seed);
    const uint64_t places = schedule.depth - 1 < kMost ? schedule.depth - 1 : kMost;
    count_ = static_cast<uint32_t>(places ? places : 1);
    const uint64_t length = schedule.length ? schedule.length : uint64_t{16} << random_.below(14);
    for (uint32_t i = 0; i < count_; i++) places_[i] = 1 + random_.below(length);
    held_ = follows_ = kNoTask;
    held_for_ = 0;
  }
  uint64_t steps_before_stop(TaskId, const Position&, uint64_t steps) override {
    if (held_ != kNoTask || follows_ != kNoTask) return 1;
    uint64_t next = kNoStop;
    for (uint32_t i = 0; i < count_; i++)
      if (places_[i] > steps && places_[i] - steps < next) next = places_[i] - steps;
    return next;
  }
  bool looks_at_memory() const override { return true; }
  TaskId choose(const Moment& moment) override {
    if (follows_ != kNoTask) {  // the other has gone first: now the one that was held
      const TaskId next = follows_;
      follows_ = kNoTask;
      if (moment.is_ready(next)) return next;
    }
    if (held_ != kNoTask && ++held_for_ > kLongest && moment.is_ready(held_)) {
      const TaskId held = held_;
      held_ = kNoTask;
      return held;
    }
    const bool can_hold = moment.current != kNoTask && moment.reason != Reason::kAfter;
    if (held_ == kNoTask && can_hold && is_place(moment.steps)) {
      held_ = moment.current;
      held_for_ = 0;
      touch_ = moment.next;
      return other_than(moment, held_);
    }
    if (held_ != kNoTask && can_hold && moment.current != held_ && moment.goes_on() &&
        conflict(touch_, moment.next) && moment.is_ready(held_)) {
      const TaskId held = held_;
      const uint64_t coin = random_.below(4);
      if (coin == 0) return moment.current;
      held_ = kNoTask;
      if (coin == 1) return held;
      if (coin == 2) follows_ = held;
      return moment.current;
    }
    if (moment.goes_on()) return moment.current;
    return other_than(moment, held_);
  }

 private:
  static constexpr uint32_t kMost = 64;
  static constexpr uint64_t kLongest = 20'000;  // stops: a step of the others each

  bool is_place(uint64_t steps) {
    bool found = false;
    for (uint32_t i = 0; i < count_; i++) {
      if (places_[i] > steps) continue;
      places_[i--] = places_[--count_];
      found = true;
    }
    return found;
  }
  // Any that is neither the current one nor `held`; that one where there is no other.
  TaskId other_than(const Moment& moment, TaskId held) {
    uint32_t fit = 0;
    const auto fits = [&](TaskId id) {
      return id != held && (id != moment.current || moment.goes_on());
    };
    for (uint32_t i = 0; i < moment.count; i++) fit += fits(moment.ready[i]);
    if (fit == 0) {
      held_ = kNoTask;
      return Candidates(moment).at(0);
    }
    uint64_t index = random_.below(fit);
    for (uint32_t i = 0; i < moment.count; i++)
      if (fits(moment.ready[i]) && index-- == 0) return moment.ready[i];
    return moment.ready[0];
  }

  Random random_;
  uint64_t places_[kMost] = {};
  uint32_t count_ = 0;
  TaskId held_ = kNoTask, follows_ = kNoTask;
  uint64_t held_for_ = 0;
  Touch touch_;
};

constinit Pos g_pos;
constinit Race g_race;

}  // namespace

Strategy& pos_strategy() { return g_pos; }
Strategy& race_strategy() { return g_race; }

}  // namespace weir::order
