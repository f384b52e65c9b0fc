// Who goes on where a task could give the turn away: one class for each strategy of a schedule. A
// strategy knows tasks by their slots (TaskId), decides by its seed and by what it was asked, and
// reads neither a clock nor memory of the program; so a run follows from the schedule.
// Implemented in strategies.cc, memory_strategies.cc and surw.cc.
#pragma once

#include "control/control_parts.h"
#include "order/serial/schedule.h"

namespace weir::order {

inline constexpr uint64_t kNoStop = ~uint64_t{0} >> 1;

// Why it is asked.
enum class Reason : uint8_t {
  kStep,    // the task is about to make a step, all that it was given being made
  kWithin,  // likewise, and the step is what an instruction writes after it has read
  kParted,  // likewise, and the step is the next part of what an instruction writes
  kEvent,   // it stands at an event, which it has not begun
  kAfter,   // it has just made an event
  kYields,  // likewise, and the event says that others are to go on
  kSpins,   // it waits, in a loop, for what another task is to write
  kForced,  // it has made very many steps in a row: another must go on, if one can
  kBlocks,  // it cannot go on: it waits,
  kEnds,    // or has ended
};

inline bool is_within(Reason reason) {
  return reason == Reason::kWithin || reason == Reason::kParted;
}
inline bool is_step(Reason reason) { return reason == Reason::kStep || is_within(reason); }

// What a task is about to do to memory; of an event: the object that it is about.
struct Touch {
  uint64_t address = 0;  // 0: not known
  uint32_t size = 0;
  bool writes = false;
};
inline bool conflict(const Touch& a, const Touch& b) {
  return a.address && b.address && (a.writes || b.writes) && a.address < b.address + b.size &&
         b.address < a.address + a.size;
}

inline bool has(const TaskId* ids, uint32_t count, TaskId id) {
  for (uint32_t i = 0; i < count; i++)
    if (ids[i] == id) return true;
  return false;
}

struct Moment {
  Reason reason;
  Position at;          // of `current`, or of the task that had the turn last
  TaskId current;       // kNoTask where it cannot go on
  uint64_t steps;       // of all tasks so far, made while another could have gone on
  const TaskId* ready;  // who can go on, `current` among them, by rising number
  uint32_t count;       // at least 1
  // Who sleeps for a time that may pass now, since a task can be held up for as long: none is
  // ready, each may be chosen.
  const TaskId* sleeping = nullptr;
  uint32_t sleeping_count = 0;
  Touch next{};  // of `current`, where the strategy asks for it

  bool is_ready(TaskId id) const { return has(ready, count, id); }
  bool is_asleep(TaskId id) const { return has(sleeping, sleeping_count, id); }
  bool goes_on() const {
    return current != kNoTask &&
           (count == 1 || (reason != Reason::kYields && reason != Reason::kForced));
  }
};

// The default schedule, around which lists are written: a task goes on until it cannot; then comes
// the task with the lowest number, or, where it only stands aside, the next one by number.
TaskId default_choice(const Moment& moment);

class Strategy {
 public:
  constexpr Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  virtual void start(const Schedule&) {}
  // A task begins in this slot.
  virtual void begin(TaskId, uint32_t /*number*/) {}
  // The task goes on: how many steps it makes before the strategy is asked again. `at`: where it
  // stands.
  virtual uint64_t steps_before_stop(TaskId, const Position& /*at*/, uint64_t /*steps*/) {
    return kNoStop;
  }
  // One of moment.ready or moment.sleeping. Where moment.goes_on() is false, and another is ready,
  // not the current one; but to yield is a hint, which need not be taken.
  virtual TaskId choose(const Moment& moment) { return default_choice(moment); }
  // It wants Moment::next.
  virtual bool looks_at_memory() const { return false; }
  // Switches of a list that could not be, or were never, made so far.
  virtual uint64_t not_followed() const { return 0; }

 protected:
  ~Strategy() = default;
};

// The ready tasks but the current one, where that has to stand aside.
class Candidates {
 public:
  explicit Candidates(const Moment& moment) : moment_(moment) {
    const bool without = !moment.goes_on() && moment.current != kNoTask && moment.count > 1;
    skipped_ = without ? moment.current : kNoTask;
    count = moment.count - (without ? 1 : 0);
  }
  TaskId at(uint64_t index) const {
    for (uint32_t i = 0; i < moment_.count; i++) {
      if (moment_.ready[i] == skipped_) continue;
      if (index-- == 0) return moment_.ready[i];
    }
    return moment_.ready[0];
  }
  uint32_t count;

 private:
  const Moment& moment_;
  TaskId skipped_;
};

// In memory_strategies.cc and surw.cc: not started.
Strategy& pos_strategy();
Strategy& race_strategy();
Strategy& surw_strategy();

// That of the schedule, started. One for the process.
Strategy& strategy_for(const Schedule& schedule);

}  // namespace weir::order
