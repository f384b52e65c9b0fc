// Zhao, Wolff, Mathur, Roychoudhury: Selectively uniform concurrency testing, ASPLOS 2025.
//
// Some of what tasks do counts: here each step, or each event, or what touches eight bytes of
// memory (Schedule::location). One task is meant to be the next that does such a thing, drawn in
// proportion to how many of them each has yet to do. Another that comes to one is held before it.
// All else goes on by a random walk.
//
// Guarantee: if the counts are right and no task waits for another, each order of the things that
// count is as likely as every other, whatever else the tasks do in between and however unequal
// their numbers are. A bug that shows in m of the w orders is found with a probability of m/w.
//
// Deviations from the paper. Counts are those of an earlier run, so they may be wrong: a task that
// has used up its own counts as if it had one left. A task that is not born yet adds its count to
// the first one's, from which it is taken when it begins. So the guarantee is for tasks that the
// first one makes.

#include "order/serial/random.h"
#include "order/serial/strategy.h"

namespace weir::order {

namespace {

class Surw final : public Strategy {
 public:
  void start(const Schedule& schedule) override {
    random_ = Random(schedule.seed);
    schedule_ = &schedule;
    intended_ = first_ = kNoTask;
    unborn_ = 0;
    for (uint32_t i = 0; i < schedule.count_count; i++) unborn_ += schedule.counts[i];
  }
  void begin(TaskId id, uint32_t number) override {
    if (first_ == kNoTask) first_ = id;
    const uint64_t own = number < schedule_->count_count ? schedule_->counts[number] : 0;
    left_[id] = own;
    unborn_ -= own < unborn_ ? own : unborn_;
    is_held_[id] = counts_all();
    is_looked_at_[id] = false;
  }
  uint64_t steps_before_stop(TaskId id, const Position&, uint64_t) override {
    return is_looked_at_[id] || !looks_at_memory() ? 1 : 0;
  }
  bool looks_at_memory() const override {
    return schedule_->has_location && schedule_->location != 0;
  }
  TaskId choose(const Moment& moment) override {
    const TaskId current = moment.current;
    if (current != kNoTask) {
      is_held_[current] = counts(moment);
      is_looked_at_[current] = is_step(moment.reason) || moment.reason == Reason::kEvent;
    }
    const bool must_go = current != kNoTask && !moment.goes_on() && moment.count > 1;
    if (intended_ == kNoTask || !moment.is_ready(intended_) || (must_go && intended_ == current))
      intended_ = drawn(moment);
    const TaskId chosen = next(moment, must_go);
    if (is_held_[chosen]) {  // the intended one: it does what it was meant to
      left_[chosen] -= left_[chosen] ? 1 : 0;
      is_held_[chosen] = counts_all();
      intended_ = kNoTask;
    }
    return chosen;
  }

 private:
  static constexpr uint64_t kOneIn = 8;  // of the steps that do not count, one is a choice

  bool counts_all() const { return !schedule_->has_location; }
  bool counts(const Moment& moment) const {
    if (counts_all()) return true;
    if (schedule_->location == 0) return moment.reason == Reason::kEvent;
    constexpr uint32_t kWord = 8;
    return conflict({schedule_->location, kWord, true}, moment.next);
  }
  uint64_t weight(TaskId id) const {
    const uint64_t left = left_[id] + (id == first_ ? unborn_ : 0);
    return left ? left : 1;
  }
  TaskId drawn(const Moment& moment) {
    const Candidates candidates(moment);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < candidates.count; i++) sum += weight(candidates.at(i));
    uint64_t at = random_.below(sum);
    for (uint32_t i = 0; i + 1 < candidates.count; i++) {
      const TaskId id = candidates.at(i);
      if (at < weight(id)) return id;
      at -= weight(id);
    }
    return candidates.at(candidates.count - 1);
  }
  // One that is not held, or the intended one.
  TaskId next(const Moment& moment, bool must_go) {
    const auto fits = [&](TaskId id) {
      return (!is_held_[id] || id == intended_) && !(must_go && id == moment.current);
    };
    const TaskId current = moment.current;
    if (counts_all()) return intended_;
    if (current != kNoTask && fits(current) && (is_held_[current] || random_.below(kOneIn)))
      return current;
    uint64_t fit = 0;
    for (uint32_t i = 0; i < moment.count; i++) fit += fits(moment.ready[i]);
    uint64_t index = random_.below(fit);
    for (uint32_t i = 0; i < moment.count; i++)
      if (fits(moment.ready[i]) && index-- == 0) return moment.ready[i];
    return intended_;
  }

  Random random_;
  const Schedule* schedule_ = nullptr;
  TaskId intended_ = kNoTask, first_ = kNoTask;
  uint64_t unborn_ = 0;  // what tasks that have not begun will do
  uint64_t left_[kMaxTasks] = {};
  bool is_held_[kMaxTasks] = {};       // it is about to do what counts
  bool is_looked_at_[kMaxTasks] = {};  // what it is about to do is known
};

constinit Surw g_surw;

}  // namespace

Strategy& surw_strategy() { return g_surw; }

}  // namespace weir::order
