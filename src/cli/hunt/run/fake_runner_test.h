// A runner without processes, for tests: a program of some tasks whose failure is a predicate on
// the switches of its schedule.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "cli/hunt/run/runner.h"
#include "cli/hunt/search/random.h"

namespace weir::cli::hunt {

class FakeRunner : public Runner {
 public:
  using Fails = std::function<bool(const Switches&)>;
  explicit FakeRunner(Fails fails, size_t slots = 2) : fails_(std::move(fails)), slots_(slots) {}

  size_t slots() const override { return slots_; }
  size_t running() const override { return waiting_.size(); }
  void start(uint64_t ticket, const std::string& schedule, Begin) override {
    waiting_.emplace_back(ticket, schedule);
  }
  std::pair<uint64_t, Outcome> finished() override {
    const auto [ticket, schedule] = waiting_.front();
    waiting_.pop_front();
    runs++;
    return {ticket, run_of(schedule)};
  }
  void set_step_limit(uint64_t) override {}

  uint64_t runs = 0;
  std::string noise;  // appended to the output of each second run

 private:
  static constexpr uint64_t kTasks = 3, kEvents = 10, kInstructions = 100,
                            kAccess = 7;  // the step that accesses what all tasks do

  Outcome run_of(const std::string& text) {
    const Schedule schedule = parsed_schedule(text);
    Switches switches = schedule.switches;
    if (schedule.name != "list" && schedule.name != "default") {
      Random random(std::stoull(schedule.keys.front().second));
      for (uint64_t i = random.below(12); i; i--) {
        switches.push_back({uint32_t(1 + random.below(kTasks)), random.below(kEvents),
                            random.below(kInstructions), uint32_t(1 + random.below(kTasks))});
      }
    }
    Outcome run;
    run.schedule = text;
    run.log.has_begun = true;
    run.log.tasks = kTasks;
    run.log.events = kTasks * kEvents;
    run.log.steps = run.log.instructions = kTasks * kEvents * kInstructions;
    run.log.list = listed(switches).text();
    const auto log = [&](const Switch& one, const char* reason) {
      run.log.switches.push_back({one, reason, {one.events, "/program", one.events}});
    };
    for (const Switch& one : switches) {
      if (one.events < kEvents && one.instructions < kInstructions) log(one, "preempt");
      else run.log.not_followed++;
    }
    for (uint32_t task = 1; task <= kTasks; task++) log({task, kEvents, 0, task % 3 + 1}, "end");
    for (uint32_t task = 1; task <= kTasks; task++) {
      for (uint64_t event = 0; event < kEvents; event++)
        run.log.accesses.push_back({{task, event, kAccess, 0}, true, 0x1000});
    }
    run.log.end = ScheduleLog::End::kExit;
    run.status = run.log.status = fails_(switches) ? 3 : 0;
    if (!noise.empty() && runs % 2) run.out = noise;
    return run;
  }

  const Fails fails_;
  const size_t slots_;
  std::deque<std::pair<uint64_t, std::string>> waiting_;
};

}  // namespace weir::cli::hunt
