#include "cli/hunt/search/shrink.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace weir::cli::hunt {
namespace {

using Clock = std::chrono::steady_clock;

class Shrinking {
 public:
  Shrinking(Runner& runner, const Judge& judge, const std::string& signature,
            const ShrinkOptions& options, const Others& others,
            const std::function<void(size_t, uint64_t)>& watch)
      : runner_(runner),
        judge_(judge),
        signature_(signature),
        options_(options),
        others_(others),
        watch_(watch) {}

  Shrunk of(const Outcome& failing) {
    if (failing.log.list.empty()) {
      shrunk_.refusal = "the run left no list of its switches";
      return std::move(shrunk_);
    }
    keys_ = parsed_schedule(failing.log.list);
    const Switches all = keys_.switches;
    shrunk_.before = all.size();
    if (!first_failing({all})) {
      shrunk_.refusal = "its switches, listed, do not make it fail alike";
      return std::move(shrunk_);
    }
    drop(kCoarse);
    replace_by_others("directed", kFew, 6);
    replace_by_others("sweep", kFew, 6);
    drop(SIZE_MAX);
    replace_by_others("directed", 1, 10);
    if (shrunk_.switches.size() > 1) replace_by_one();
    for (size_t i = 0; i < shrunk_.switches.size() && !is_spent(); i++) move_later(i);
    drop_each();  // a switch that has moved may make another needless
    shrunk_.is_whole = !is_spent();
    return std::move(shrunk_);
  }

 private:
  static constexpr size_t kCoarse = 8;  // parts of a list, before other schedules are tried
  static constexpr size_t kFew = 4;     // switches

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool is_spent() const { return shrunk_.runs >= options_.runs || seconds() > options_.seconds; }

  // Switches that were not made do not matter.
  void take(Switches switches, Outcome run) {
    if (run.log.not_followed > 0 && !run.log.list.empty()) {
      Switches made = parsed_schedule(run.log.list).switches;
      if (made.size() < switches.size()) {
        switches = std::move(made);
        run.schedule = listed(switches, keys_).text();
      }
    }
    shrunk_.switches = std::move(switches);
    shrunk_.run = std::move(run);
  }

  // Which of the candidates fails alike, the first of them; its run is the result from now on. As
  // many at once as there are slots.
  std::optional<size_t> first_failing(const std::vector<Switches>& candidates,
                                      bool must_follow = false) {
    for (size_t start = 0; start < candidates.size(); start += runner_.slots()) {
      if (start > 0 && is_spent()) return std::nullopt;
      std::vector<std::string> texts;
      for (size_t i = start; i < std::min(start + runner_.slots(), candidates.size()); i++)
        texts.push_back(listed(candidates[i], keys_).text());
      std::vector<Outcome> runs = runner_.all(texts);
      shrunk_.runs += runs.size();
      for (size_t i = 0; i < runs.size(); i++) {
        if (!judge_.fails_so(runs[i], signature_)) continue;
        if (must_follow && runs[i].log.not_followed > 0) continue;
        take(candidates[start + i], std::move(runs[i]));
        if (watch_) watch_(shrunk_.switches.size(), shrunk_.runs);
        return start + i;
      }
    }
    if (watch_) watch_(shrunk_.switches.size(), shrunk_.runs);
    return std::nullopt;
  }

  // Schedules of a strategy that makes few switches, for that part of the budget, until no more
  // than `enough` are left.
  void replace_by_others(const char* strategy, size_t enough, unsigned part) {
    if (!others_.first || shrunk_.switches.size() <= enough) return;
    StrategyOptions chosen = others_.strategies;
    chosen.strategy = strategy;
    Strategies few(chosen, *others_.first);
    if (few.arms().empty()) return;
    const uint64_t most_runs = shrunk_.runs + options_.runs / part;
    const double most_seconds = seconds() + options_.seconds / part;
    while (shrunk_.switches.size() > enough && shrunk_.runs < most_runs &&
           seconds() < most_seconds && !is_spent()) {
      std::vector<Strategies::Proposal> proposals;
      std::vector<std::string> texts;
      while (texts.size() < runner_.slots() && !few.is_exhausted()) {
        proposals.push_back(few.next());
        texts.push_back(proposals.back().schedule);
      }
      if (texts.empty()) return;
      std::vector<Outcome> runs = runner_.all(texts);
      shrunk_.runs += runs.size();
      for (size_t i = 0; i < runs.size(); i++) {
        const bool fails = judge_.fails_so(runs[i], signature_);
        few.learn(proposals[i], runs[i], 0, fails);
        if (fails) take_if_fewer(runs[i]);
      }
      if (watch_) watch_(shrunk_.switches.size(), shrunk_.runs);
    }
  }

  // The run's own list has to fail, too: what is handed over is that list.
  void take_if_fewer(const Outcome& run) {
    if (run.log.list.empty()) return;
    const Schedule made = parsed_schedule(run.log.list);
    if (made.switches.size() >= shrunk_.switches.size()) return;
    const Schedule before = std::exchange(keys_, made);
    if (!first_failing({made.switches}, true)) keys_ = before;
  }

  // ddmin: parts alone, then the rest without a part; smaller parts where neither fails, up to so
  // many of them.
  void drop(size_t most_parts) {
    if (!shrunk_.switches.empty() && first_failing({Switches{}})) return;
    size_t parts = 2;
    while (shrunk_.switches.size() >= 2 && parts <= most_parts && !is_spent()) {
      const Switches now = shrunk_.switches;
      parts = std::min(parts, now.size());
      std::vector<Switches> alone, without;
      for (size_t i = 0; i < parts; i++) {
        const auto from = now.begin() + static_cast<long>(now.size() * i / parts),
                   to = now.begin() + static_cast<long>(now.size() * (i + 1) / parts);
        alone.emplace_back(from, to);
        Switches rest(now.begin(), from);
        rest.insert(rest.end(), to, now.end());
        without.push_back(std::move(rest));
      }
      if (first_failing(alone)) {
        parts = 2;
      } else if (parts > 2 && first_failing(without)) {  // with two, each is the other alone
        parts = std::max<size_t>(parts - 1, 2);
      } else if (parts >= now.size()) {
        break;
      } else {
        parts *= 2;
      }
    }
  }

  void drop_each() {
    for (bool again = true; again && shrunk_.switches.size() > 1 && !is_spent();) {
      std::vector<Switches> candidates;
      for (size_t i = 0; i < shrunk_.switches.size(); i++) {
        Switches fewer = shrunk_.switches;
        fewer.erase(fewer.begin() + static_cast<long>(i));
        candidates.push_back(std::move(fewer));
      }
      again = first_failing(candidates).has_value();
    }
  }

  // Switches that only make up for each other's effects need each other, and no set of them is the
  // smallest. Near one of them there may be one switch that does it alone.
  void replace_by_one() {
    constexpr uint64_t kFar = 40;
    std::set<uint32_t> targets;
    std::set<Switch> near;
    for (const Switch& one : shrunk_.switches) {
      if (!one.is_delay()) targets.insert(one.to);
      targets.insert(one.task);
    }
    for (const Switch& one : shrunk_.switches) {
      const uint64_t first = one.instructions > kFar ? one.instructions - kFar : 0;
      for (uint64_t i = first; i <= one.instructions + 4; i++) {
        for (const uint32_t to : targets) {
          if (to != one.task) near.insert({one.task, one.events, i, to});
        }
      }
    }
    std::vector<Switches> candidates;
    for (const Switch& one : near) candidates.push_back({one});
    if (candidates.size() > (options_.runs - std::min(options_.runs, shrunk_.runs)) / 2) return;
    first_failing(candidates, true);
  }

  bool fails_at(size_t which, uint64_t events, uint64_t instructions) {
    Switches moved = shrunk_.switches;
    moved[which].events = events;
    moved[which].instructions = instructions;
    return first_failing({moved}, true).has_value();
  }

  // Doubles the distance as long as it fails, then halves the step.
  void move_later(size_t which) {
    const uint64_t events = shrunk_.switches[which].events;
    uint64_t good = shrunk_.switches[which].instructions, step = 1;
    while (!is_spent() && step < (uint64_t{1} << 40) && fails_at(which, events, good + step)) {
      good += step;
      step *= 2;
    }
    for (step /= 2; step > 0 && !is_spent(); step /= 2) {
      if (fails_at(which, events, good + step)) good += step;
    }
  }

  Runner& runner_;
  const Judge& judge_;
  const std::string signature_;
  const ShrinkOptions options_;
  const Others others_;
  const std::function<void(size_t, uint64_t)> watch_;
  const Clock::time_point start_ = Clock::now();
  Schedule keys_;
  Shrunk shrunk_;
};

}  // namespace

Shrunk shrink(Runner& runner, const Judge& judge, const std::string& signature,
              const Outcome& failing, const ShrinkOptions& options, const Others& others,
              const std::function<void(size_t switches, uint64_t runs)>& watch) {
  return Shrinking(runner, judge, signature, options, others, watch).of(failing);
}

}  // namespace weir::cli::hunt
