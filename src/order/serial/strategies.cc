#include "order/serial/random.h"
#include "order/serial/strategy.h"

namespace weir::order {

TaskId default_choice(const Moment& moment) {
  if (moment.goes_on()) return moment.current;
  if (moment.current == kNoTask) return moment.ready[0];
  for (uint32_t i = 0; i + 1 < moment.count; i++)
    if (moment.ready[i] == moment.current) return moment.ready[i + 1];
  return moment.ready[0];
}

namespace {

class Default final : public Strategy {};

// The switches that the schedule lists, by place.
class Listed {
 public:
  void start(const Schedule& schedule) {
    switches_ = schedule.switches;
    count_ = schedule.switch_count;
  }
  uint32_t count() const { return count_; }
  // Steps that a task makes until it comes to the next one, within the same event.
  uint64_t steps_to_next(const Position& at) const {
    Position later = at;
    later.step++;
    const Switch* next = first_from(later);
    const bool is_near = next && next->at.number == at.number && next->at.event == at.event;
    return is_near ? next->at.step - at.step : kNoStop;
  }
  const Switch* at(const Position& at) const {
    const Switch* here = first_from(at);
    return here && here->at == at ? here : nullptr;
  }

 private:
  const Switch* first_from(const Position& at) const {
    uint32_t low = 0, high = count_;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (switches_[middle].at < at) low = middle + 1;
      else high = middle;
    }
    return low < count_ ? &switches_[low] : nullptr;
  }

  const Switch* switches_ = nullptr;
  uint32_t count_ = 0;
};

// Around the default schedule, with a switch at each listed place.
class List final : public Strategy {
 public:
  void start(const Schedule& schedule) override {
    listed_.start(schedule);
    kept_ = 0;
  }
  void begin(TaskId id, uint32_t number) override { numbers_[id] = number; }
  uint64_t steps_before_stop(TaskId, const Position& at, uint64_t) override {
    return listed_.steps_to_next(at);
  }
  TaskId choose(const Moment& moment) override {
    const Switch* here = listed_.at(moment.at);
    if (!here) return default_choice(moment);
    for (uint32_t i = 0; i < moment.count + moment.sleeping_count; i++) {
      const TaskId id = i < moment.count ? moment.ready[i] : moment.sleeping[i - moment.count];
      if (numbers_[id] != here->target) continue;
      kept_++;
      return id;
    }
    return default_choice(moment);
  }
  uint64_t not_followed() const override { return listed_.count() - kept_; }

 private:
  Listed listed_;
  uint64_t kept_ = 0;
  uint32_t numbers_[kMaxTasks] = {};
};

// Uniform random walk: at each event, and at each step with a probability, the turn goes to any
// task that can go on, each as likely. A schedule with n tasks that switches at d given places of k
// is found with a probability of at least (p/n)^d (1-p)^(k-d); so p follows from the seed where
// none is given, and long runs are tried with few switches, short ones with many. To yield is a
// hint, which the kernel may not take: with half of the seeds each second one is not taken.
//
// If the schedule lists switches, they come first, as in a list, and the walk begins behind them: a
// state that an earlier run came to is where many walks begin, each with steps of its own.
class RandomWalk final : public Strategy {
 public:
  void start(const Schedule& schedule) override {
    static constexpr uint64_t kLevels[] = {250'000, 60'000, 15'000, 4'000, 1'000};
    random_ = Random(schedule.seed);
    const uint64_t level = random_.below(sizeof kLevels / sizeof kLevels[0]);
    per_million_ = schedule.per_million ? schedule.per_million : kLevels[level];
    at_event_ = per_million_ < 500'000 ? 500'000 : per_million_;
    constexpr uint64_t kOther = 0x9e3779b97f4a7c15;
    leaves_hints_ = Random(schedule.seed ^ kOther).below(2) == 0;
    if (per_million_ < 10'000) at_event_ = 200'000;
    halves_ = !schedule.per_million;
    stops_ = 0;
    prefix_.start(schedule);
  }
  void begin(TaskId id, uint32_t number) override { prefix_.begin(id, number); }
  uint64_t not_followed() const override { return prefix_.not_followed(); }
  uint64_t steps_before_stop(TaskId id, const Position& at, uint64_t made) override {
    if (prefix_.not_followed()) return prefix_.steps_before_stop(id, at, made);
    // Long runs would take minutes: a switch costs as much as thousands of steps.
    if (halves_ && ++stops_ % kStops == 0 && per_million_ > 1) per_million_ /= 2;
    uint64_t steps = 1;
    while (steps < kFarthest && !random_.happens(per_million_)) steps++;
    return steps;
  }
  TaskId choose(const Moment& moment) override {
    if (prefix_.not_followed()) return prefix_.choose(moment);
    // Right after an event is right before a step.
    if (moment.reason == Reason::kAfter && !random_.happens(per_million_)) return moment.current;
    if (moment.reason == Reason::kEvent && !random_.happens(at_event_)) return moment.current;
    if (moment.reason == Reason::kYields && leaves_hints_ && random_.happens(500'000))
      return moment.current;
    if (moment.sleeping_count && random_.below(kSeldom) == 0)
      return moment.sleeping[random_.below(moment.sleeping_count)];
    const Candidates candidates(moment);
    return candidates.at(random_.below(candidates.count));
  }

 private:
  static constexpr uint64_t kFarthest = 4096;  // that many draws at once
  static constexpr uint64_t kSeldom = 4;       // a sleeper is chosen
  static constexpr uint64_t kStops = 10'000;
  List prefix_;
  bool halves_ = false, leaves_hints_ = false;
  uint64_t stops_ = 0;
  Random random_;
  uint64_t per_million_ = 0, at_event_ = 0;
};

// Burckhardt, Kothari, Musuvathi, Nagarakatte: A randomized scheduler with probabilistic guarantees
// of finding bugs, ASPLOS 2010. Each task has a random priority, and the highest one goes on; at
// d-1 random steps of k the task that is about to make it falls below all others. A bug of depth d,
// in a program of n tasks and k steps, is found with a probability of at least 1/(n k^(d-1)).
//
// A task that stands aside, or has made very many steps in a row, would be chosen at once again: it
// falls below all others, too.
//
// If the schedule lists switches, their places are the change points, and k is the number of places
// that they were drawn from; who they go to means nothing.
class Pct final : public Strategy {
 public:
  void start(const Schedule& schedule) override {
    random_ = Random(schedule.seed);
    const uint64_t changes = schedule.depth - 1 < kMost ? schedule.depth - 1 : kMost;
    const uint64_t length = schedule.length ? schedule.length : guess();
    listed_.start(schedule);
    count_ = listed_.count() ? 0 : static_cast<uint32_t>(changes);
    for (uint32_t i = 0; i < count_; i++) changes_[i] = 1 + random_.below(length);
    changed_ = kMiddle / 2;
    low_ = kMiddle / 4;
  }
  void begin(TaskId id, uint32_t) override { priority_[id] = kMiddle + (random_.next() >> 2); }
  uint64_t steps_before_stop(TaskId, const Position& at, uint64_t steps) override {
    uint64_t next = listed_.steps_to_next(at);
    for (uint32_t i = 0; i < count_; i++)
      if (changes_[i] > steps && changes_[i] - steps < next) next = changes_[i] - steps;
    return next;
  }
  TaskId choose(const Moment& moment) override {
    bool is_changed = listed_.at(moment.at) && moment.current != kNoTask;
    if (is_changed) priority_[moment.current] = --changed_;
    if (moment.current != kNoTask) {
      for (uint32_t i = 0; i < count_; i++) {
        if (changes_[i] > moment.steps) continue;
        is_changed = true;
        priority_[moment.current] = --changed_;  // below all that have had no change
        changes_[i] = changes_[--count_];
        i--;
      }
      if (!moment.goes_on()) priority_[moment.current] = --low_;
    }
    TaskId best = moment.ready[0];
    for (uint32_t i = 1; i < moment.count; i++)
      if (priority_[moment.ready[i]] > priority_[best]) best = moment.ready[i];
    // Else it would be awake at once each time, and its sleep none.
    for (uint32_t i = 0; is_changed && i < moment.sleeping_count; i++)
      if (priority_[moment.sleeping[i]] > priority_[best]) best = moment.sleeping[i];
    return best;
  }

 private:
  static constexpr uint32_t kMost = 64;
  static constexpr uint64_t kMiddle = uint64_t{1} << 62;
  // Where nobody says how many steps there are: each order of magnitude is as likely.
  uint64_t guess() { return uint64_t{16} << random_.below(14); }

  Random random_;
  Listed listed_;
  uint64_t changes_[kMost] = {};
  uint32_t count_ = 0;
  uint64_t changed_ = 0, low_ = 0;
  uint64_t priority_[kMaxTasks] = {};
};

// Preemptions at a given number of random steps, each to any task that could go on; else a task
// goes on until it cannot. After Musuvathi, Qadeer: Iterative context bounding for systematic
// testing of multithreaded programs, PLDI 2007, who enumerate what is drawn here. A bug that needs
// c preemptions, in a run of k steps with n tasks, is found with a probability of about 1/((k n)^c)
// times that of the choices where a task cannot go on.
class PreemptionBounded final : public Strategy {
 public:
  void start(const Schedule& schedule) override {
    random_ = Random(schedule.seed);
    count_ = static_cast<uint32_t>(schedule.bound < kMost ? schedule.bound : kMost);
    const uint64_t length = schedule.length ? schedule.length : uint64_t{16} << random_.below(14);
    for (uint32_t i = 0; i < count_; i++) places_[i] = 1 + random_.below(length);
  }
  uint64_t steps_before_stop(TaskId, const Position&, uint64_t steps) override {
    uint64_t next = kNoStop;
    for (uint32_t i = 0; i < count_; i++)
      if (places_[i] > steps && places_[i] - steps < next) next = places_[i] - steps;
    return next;
  }
  TaskId choose(const Moment& moment) override {
    bool is_place = false;
    for (uint32_t i = 0; i < count_; i++) {
      if (places_[i] > moment.steps) continue;
      is_place = true;
      places_[i--] = places_[--count_];
    }
    if (moment.goes_on() && !is_place) return moment.current;
    const uint32_t asleep = is_place ? moment.sleeping_count : 0;
    if (moment.count + asleep == 1) return moment.ready[0];
    for (;;) {
      const uint64_t at = random_.below(moment.count + asleep);
      const TaskId id = at < moment.count ? moment.ready[at] : moment.sleeping[at - moment.count];
      if (id != moment.current) return id;
    }
  }

 private:
  static constexpr uint32_t kMost = 64;
  Random random_;
  uint64_t places_[kMost] = {};
  uint32_t count_ = 0;
};

constinit Default g_default;
constinit List g_list;
constinit RandomWalk g_random;
constinit Pct g_pct;
constinit PreemptionBounded g_preemption_bounded;

}  // namespace

Strategy& strategy_for(const Schedule& schedule) {
  Strategy* chosen = &g_default;
  switch (schedule.name) {
    case StrategyName::kList: chosen = &g_list; break;
    case StrategyName::kRandom: chosen = &g_random; break;
    case StrategyName::kPct: chosen = &g_pct; break;
    case StrategyName::kPb: chosen = &g_preemption_bounded; break;
    case StrategyName::kPos: chosen = &pos_strategy(); break;
    case StrategyName::kRace: chosen = &race_strategy(); break;
    case StrategyName::kSurw: chosen = &surw_strategy(); break;
    case StrategyName::kDefault: break;
  }
  chosen->start(schedule);
  return *chosen;
}

}  // namespace weir::order
