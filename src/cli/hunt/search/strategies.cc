#include "cli/hunt/search/strategies.h"

#include "control/schedule_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace weir::cli::hunt {
namespace {

constexpr double kMemory = 0.98;      // what a run counts for an arm's worth, as long as later ones
constexpr double kLeastWorth = 0.05;  // each arm goes on being tried
constexpr size_t kMaxSweep = 4000;    // lanes; more would take all of a usual budget
constexpr size_t kMaxGaps = 20'000;
constexpr size_t kMaxKept = 200;
constexpr size_t kMaxLocations = 200;
constexpr size_t kEnoughAlone = 200;  // switches that directed tries alone, before it mixes
constexpr size_t kMaxSwitches = 12;   // of a mutated schedule

// Spreads 0 to count - 1 over themselves: a step near the golden section that has no factor in
// common with count.
uint64_t spread(uint64_t i, uint64_t count) {
  uint64_t step = std::max<uint64_t>(count * 61 / 100, 1);
  const auto divisor = [](uint64_t a, uint64_t b) {
    while (b) a = std::exchange(b, a % b);
    return a;
  };
  while (divisor(step, count) != 1) step++;
  return i * step % count;
}

}  // namespace

Strategies::Strategies(const StrategyOptions& options, const Outcome& first)
    : options_(options), random_(options.seed), conflicts_(first.log) {
  for (const LoggedSwitch& one : first.log.switches) {
    numbers_.push_back(one.at.task);
    numbers_.push_back(one.at.to);
  }
  std::ranges::sort(numbers_);
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  if (numbers_.empty()) numbers_.push_back(0);
  events_ = first.log.events;
  const auto wants = [&](const char* kind) {
    return options.strategy == "auto" || options.strategy == kind;
  };
  const auto range = [](uint64_t chosen, uint64_t most) {
    return chosen ? std::pair(chosen, chosen) : std::pair(uint64_t{1}, most);
  };
  add_lanes(first);
  note_places(first);
  note_counts(first.log);
  if (wants("directed") && !conflicts_.places().empty()) {
    add_arm("directed", "directed");
    add_arm("directed, pct", "conflicts");
  }
  if (wants("sweep") && open_ > 0 && (open_ <= kMaxSweep || options.strategy == "sweep"))
    add_arm("sweep", "sweep");
  length_ = std::max<uint64_t>(first.log.steps, 1);
  mean_length_ = static_cast<double>(length_);
  if (is_tso() && wants("delay")) add_arm("delay", "default");
  if (wants("pos")) add_arm("pos", "pos");
  if (wants("surw")) add_arm("surw", "surw");
  if (wants("pct")) {
    const auto [least, most] = range(options.depth, 5);
    for (uint64_t depth = least; depth <= most; depth++)
      add_arm(fmt::format("pct, depth {}", depth), "pct", fmt::format("depth={}", depth));
  }
  if (wants("random")) {
    for (const char* p : {"0.5", "0.1"})
      add_arm(fmt::format("random, {}", p), "random", fmt::format("p={}", p));
  }
  if (wants("race")) add_arm("race", "race");
  if (wants("pb")) {
    const auto [least, most] = range(options.bound, 3);
    for (uint64_t bound = least; bound <= most; bound++)
      add_arm(fmt::format("pb, bound {}", bound), "pb", fmt::format("bound={}", bound));
  }
  if (wants("mutate")) add_arm("mutate", "mutate");
  choose_memory(first.log);
  if (wants("states") && memory_ && !is_tso()) add_arm("states", "states");
}

void Strategies::add_lanes(const Outcome& first) {
  std::map<uint32_t, uint64_t> events;
  for (const LoggedSwitch& one : first.log.switches)
    events[one.at.task] = std::max(events[one.at.task], one.at.events);
  Switches places;
  for (const auto& [task, most] : events) {
    for (uint64_t event = 0; event <= most; event++) {
      for (const auto& [other, unused] : events) {
        if (other != task) places.push_back({task, event, 0, other});
      }
    }
  }
  for (size_t i = 0; i < places.size(); i++) lanes_.push_back({places[spread(i, places.size())]});
  open_ = lanes_.size();
  add_rounds(events);
}

// All threads but the last stop after as many events. Two do so by one switch.
void Strategies::add_rounds(const std::map<uint32_t, uint64_t>& events) {
  constexpr uint64_t kMostEvents = 32;
  constexpr size_t kLeastSwitches = 2;
  for (uint64_t event = 1; event <= kMostEvents; event++) {
    Switches round;
    for (auto one = events.upper_bound(0); one != events.end(); ++one) {
      if (one->second < event) continue;
      if (!round.empty()) round.back().to = one->first;
      round.push_back({one->first, event, 0, 0});
    }
    if (round.size() <= kLeastSwitches) return;
    round.pop_back();
    rounds_.push_back(std::move(round));
  }
}

void Strategies::add_arm(const std::string& name, const std::string& kind,
                         const std::string& more) {
  Arm arm;
  arm.name = name;
  arm.kind = kind;
  arm.more = more;
  arm.takes_length = is_tso() || kind == "pct" || kind == "race" || kind == "pb";
  arms_.push_back(std::move(arm));
}

void Strategies::take_up(const std::string& name, double worth) {
  for (Arm& arm : arms_) {
    if (arm.name == name) arm.worth = std::max(worth, kLeastWorth);
  }
}

bool Strategies::is_exhausted() const {
  return std::ranges::all_of(arms_, [](const Arm& arm) { return arm.is_done; });
}

// In the first run a task may end at once that others make long: a change beyond its length would
// never be tried. Runs that wait in a loop are no measure either.
uint64_t Strategies::mean_length() const {
  constexpr uint64_t kMost = 16;
  return std::clamp(static_cast<uint64_t>(mean_length_), length_, kMost * length_);
}

// By chance, each arm as often as it is worth; but first each one a few times.
size_t Strategies::chosen() {
  // Of the first, three of four are directed: a bug of depth 1 shows there before all others.
  constexpr uint64_t kFirstTurns = 4, kFirstDirected = 300;
  const bool is_directed = arms_[0].kind == "directed" && number_ < kFirstDirected;
  if (is_directed && number_ % 4 == 2) return 1;
  if (is_directed && number_ % 4 < 2 && tried_ < conflicts_.places().size()) return 0;
  const uint64_t turn = number_ % arms_.size();
  if (number_ < kFirstTurns * arms_.size() && !arms_[turn].is_done) return turn;
  // What this many have not shown takes several rare steps.
  constexpr uint64_t kUsual = 1000;
  if (number_ >= kUsual && number_ % 2 != 0 && !reached_.empty()) {
    for (size_t i = 0; i < arms_.size(); i++) {
      if (arms_[i].kind == "states" && !arms_[i].is_done) return i;
    }
  }
  double sum = 0;
  for (const Arm& arm : arms_) sum += arm.is_done ? 0 : arm.worth;
  double at = random_.unit() * sum;
  size_t last = 0;
  for (size_t i = 0; i < arms_.size(); i++) {
    if (arms_[i].is_done) continue;
    last = i;
    if ((at -= arms_[i].worth) < 0) break;
  }
  return last;
}

// The next lane's next place. Every step at first, then every so many: a loop makes them by the
// million.
std::string Strategies::swept(Arm& arm, size_t& lane) {
  constexpr uint64_t kEveryStep = 200, kMostSteps = uint64_t{1} << 32;
  while (lanes_[lane_].is_closed) lane_ = (lane_ + 1) % lanes_.size();
  lane = lane_;
  Switch& next = lanes_[lane_].next;
  const std::string schedule = listed({next}).text();
  next.instructions += next.instructions < kEveryStep ? 1 : next.instructions / 8;
  if (next.instructions > kMostSteps) close(lane);
  lane_ = (lane_ + 1) % lanes_.size();
  arm.is_done = open_ == 0;
  return schedule;
}

void Strategies::close(size_t lane) {
  if (lanes_[lane].is_closed) return;
  lanes_[lane].is_closed = true;
  open_--;
}

void Strategies::note_places(const Outcome& run) {
  for (const LoggedSwitch& one : run.log.switches) {
    const auto known = std::ranges::find_if(gaps_, [&](const Gap& gap) {
      return gap.task == one.at.task && gap.events == one.at.events;
    });
    if (known != gaps_.end()) known->steps = std::max(known->steps, one.at.instructions);
    else if (gaps_.size() < kMaxGaps)
      gaps_.push_back({one.at.task, one.at.events, one.at.instructions});
  }
}

void Strategies::note_counts(const ScheduleLog& log) {
  if (!log.task_steps.empty()) task_steps_ = log.task_steps;
  if (!log.task_events.empty()) task_events_ = log.task_events;
  for (const SharedMemory& memory : log.shared) {
    if (locations_.size() < kMaxLocations || locations_.contains(memory.address))
      locations_[memory.address] = memory.counts;
  }
}

// The keys of surw: what counts, and how often each task did it in an earlier run. Mostly one
// location that several tasks touch, as long as any is known; else, or now and then, the events or
// all steps.
std::string Strategies::counted() {
  const uint64_t what = random_.below(8);
  if (what < 5 && !locations_.empty()) {
    const auto one = std::next(locations_.begin(), long(random_.below(locations_.size())));
    return fmt::format(",at={:#x},counts={}", one->first, one->second);
  }
  const bool by_event = what % 2;
  const std::string& counts = by_event ? task_events_ : task_steps_;
  return (by_event ? ",at=0x0" : "") + (counts.empty() ? "" : ",counts=" + counts);
}

// Where most of the words lie that tasks share: of variables and heap blocks, not of stacks and
// libraries.
void Strategies::choose_memory(const ScheduleLog& first) {
  constexpr uint64_t kMostBytes = 512, kLibraries = uint64_t{0x6000} << 32;
  std::vector<uint64_t> words;  // by address
  for (const LoggedAccess& one : first.accesses) {
    if (one.address < kLibraries && (words.empty() || words.back() != one.address))
      words.push_back(one.address);
  }
  size_t best = 0;
  for (size_t i = 0, end = 0; i < words.size(); i++) {
    while (end < words.size() && words[end] + 8 <= words[i] + kMostBytes) end++;
    if (end - i <= best) continue;
    best = end - i;
    memory_ = words[i];
    memory_size_ = words[end - 1] + 8 - words[i];
  }
}

// With what the memory held for the first time in this run the walk may go on another time.
void Strategies::note_states(const Outcome& run) {
  constexpr size_t kMostSwitches = 400;
  bool is_new = false;
  for (const auto& [switches, hash] : run.log.states) is_new |= states_.insert(hash).second;
  if (is_new) keep(reached_, run, kMostSwitches);
}

std::string Strategies::continued(uint64_t seed) {
  static constexpr const char* kOften[] = {"0.5", "0.25", "0.1", "0.06"};
  Schedule schedule;
  schedule.name = "random";
  schedule.keys = {{"seed", std::to_string(seed)},
                   {"p", kOften[random_.below(4)]},
                   {"state", fmt::format("{:#x}", memory_)},
                   {"size", std::to_string(memory_size_)}};
  constexpr uint64_t kFromStart = 5;  // each fifth
  if (!reached_.empty() && random_.below(kFromStart)) {
    const Switches& base = seldom_used(reached_, 4);
    const size_t all = base.size();
    const size_t kept = random_.below(2) ? all : random_.below(all + 1);
    schedule.switches = {base.begin(), base.begin() + static_cast<long>(kept)};
  }
  return schedule.text();
}

uint32_t Strategies::some_task() { return numbers_[random_.below(numbers_.size())]; }

// Where some task is known to have been, mostly.
Switch Strategies::random_place() {
  Switch one;
  one.to = some_task();
  const Switches& places = conflicts_.places();
  if (!places.empty() && random_.below(2)) return places[random_.below(places.size())];
  if (!gaps_.empty() && random_.below(8)) {
    const Gap& gap = gaps_[random_.below(gaps_.size())];
    one.task = gap.task;
    one.events = gap.events;
    one.instructions = random_.below(gap.steps + 2);
  } else {
    one.task = some_task();
    one.events = random_.below(events_ / numbers_.size() + 2);
    one.instructions = random_.below(uint64_t{1} << random_.below(12));
  }
  return one;
}

// Each once, then two and more.
std::string Strategies::directed() {
  constexpr uint64_t kMost = 6, kOneIn = 3;
  const Switches& places = conflicts_.places();
  if (round_ < rounds_.size() && ++directed_ % kOneIn == 0)
    return listed(rounds_[round_++], of_memory()).text();
  if (tried_ < places.size() && (tried_ < kEnoughAlone || random_.below(2)))
    return listed({places[tried_++]}).text();
  Switches some = conflicts_.some(random_, 2 + random_.below(kMost - 1));
  if (is_tso() && random_.below(2)) some.push_back(delayed(places[random_.below(places.size())]));
  return listed(std::move(some), of_memory()).text();
}

// Change points at places that matter.
std::string Strategies::prioritized(uint64_t seed) {
  constexpr uint64_t kMost = 4;
  const uint64_t changes = options_.depth > 1 ? options_.depth - 1 : 1 + random_.below(kMost);
  Schedule schedule;
  schedule.name = "pct";
  schedule.keys = {{"seed", std::to_string(seed)}};
  schedule.switches = conflicts_.some(random_, changes);
  if (is_tso())
    schedule.keys.insert(schedule.keys.end(), {{"length", std::to_string(length_)},
                                               {"memory", "tso"},
                                               {"delays", std::to_string(1 + random_.below(4))}});
  return schedule.text();
}

Switch Strategies::random_switch() {
  const Switch one = random_place();
  return is_tso() && random_.below(3) == 0 ? delayed(one) : one;
}

// A store behind that place is delayed.
Switch Strategies::delayed(Switch place) {
  place.to = 0;
  place.delay = uint64_t{8} << random_.below(8);
  return place;
}

Schedule Strategies::of_memory() const {
  Schedule schedule;
  if (is_tso()) schedule.keys.emplace_back("memory", "tso");
  return schedule;
}

std::string Strategies::mutated() {
  Switches switches;
  if (!kept_.empty()) switches = seldom_used(kept_, 2);
  for (uint64_t changes = 1 + random_.below(3); changes; changes--) {
    const size_t at = random_.below(switches.size());
    switch (switches.empty() ? 0 : random_.below(5)) {
      case 0: switches.insert(switches.begin() + static_cast<long>(at), random_switch()); break;
      case 1: switches.erase(switches.begin() + static_cast<long>(at)); break;
      case 2:
        if (switches[at].is_delay()) switches[at] = delayed(switches[at]);
        else switches[at].to = some_task();
        break;
      case 3:
        switches[at].events += random_.below(2) ? 1 : switches[at].events ? uint64_t(-1) : 0;
        switches[at].instructions = 0;
        break;
      default: switches[at].instructions = random_.below(2 * switches[at].instructions + 16); break;
    }
  }
  if (switches.size() > kMaxSwitches) {
    const size_t start = random_.below(switches.size() - kMaxSwitches + 1);
    switches = {switches.begin() + static_cast<long>(start),
                switches.begin() + static_cast<long>(start + kMaxSwitches)};
  }
  if (switches.empty()) switches.push_back(random_switch());
  return listed(std::move(switches), of_memory()).text();
}

Strategies::Proposal Strategies::next() {
  Proposal proposal;
  proposal.arm = chosen();
  number_++;
  Arm& arm = arms_[proposal.arm];
  arm.runs++;
  const uint64_t seed = random_.next() & 0xffffffff;
  if (arm.kind == "directed") {
    proposal.schedule = directed();
  } else if (arm.kind == "conflicts") {
    proposal.schedule = prioritized(seed);
  } else if (arm.kind == "sweep") {
    proposal.schedule = swept(arm, proposal.lane);
  } else if (arm.kind == "states") {
    proposal.schedule = continued(seed);
  } else if (arm.kind == "mutate") {
    proposal.schedule = mutated();
  } else {
    proposal.schedule = fmt::format(WEIR_SCHEDULE_VERSION ":{}:seed={}", arm.kind, seed);
    if (!arm.more.empty()) proposal.schedule += "," + arm.more;
    if (arm.kind == "surw") proposal.schedule += counted();
    if (arm.takes_length)
      proposal.schedule += fmt::format(",length={}", arm.runs % 2 ? length_ : mean_length());
    if (is_tso()) proposal.schedule += fmt::format(",memory=tso,delays={}", 1 + random_.below(4));
  }
  return proposal;
}

void Strategies::learn(const Proposal& proposal, const Outcome& run, uint64_t new_behaviours,
                       bool failed) {
  Arm& arm = arms_[proposal.arm];
  note_places(run);
  note_counts(run.log);
  note_states(run);
  constexpr double kShare = 0.05;
  mean_length_ += kShare * (static_cast<double>(run.log.steps) - mean_length_);
  if (arm.kind == "sweep" && run.log.not_followed > 0) {
    close(proposal.lane);
    arm.is_done = open_ == 0;
  }
  arm.new_behaviours += new_behaviours;
  arm.failures += failed;
  arm.worth = std::max(arm.worth * kMemory +
                           (1 - kMemory) * std::min<double>(static_cast<double>(new_behaviours), 5),
                       kLeastWorth);
  if (new_behaviours) keep(kept_, run, SIZE_MAX);
}

// The run's switches, unless there are none or more than `most`; of many runs, random ones.
void Strategies::keep(std::vector<Kept>& all, const Outcome& run, size_t most) {
  Kept kept{run.log.list.empty() ? Switches() : parsed_schedule(run.log.list).switches};
  if (kept.switches.empty() || kept.switches.size() > most) return;
  if (all.size() < kMaxKept) all.push_back(std::move(kept));
  else all[random_.below(kMaxKept)] = std::move(kept);
}

// The switches of a run that was seldom used: the one that was used least of `of` random ones.
const Switches& Strategies::seldom_used(std::vector<Kept>& all, int of) {
  size_t chosen = random_.below(all.size());
  for (int i = 1; i < of; i++) {
    const size_t other = random_.below(all.size());
    if (all[other].uses < all[chosen].uses) chosen = other;
  }
  all[chosen].uses++;
  return all[chosen].switches;
}

}  // namespace weir::cli::hunt
