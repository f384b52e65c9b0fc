// The turn of one task: what it has it for (TurnState, control/task_parts.h), how that changes, and
// the one function that gives it away. begin_turn() and end_turn() are in sync/event.cc.
// Implemented in sync/turn.cc and sync/event.cc.
//
// Invariants
// 1. A task's state changes only by the transitions of turn::next_of() below, and only by the task
//    itself. (checked in set_turn_state)
// 2. turn.depth > 0 exactly while the state is not kNone. Program code that goes on with a turn
//    that is kept runs with turn.depth 1. (checked in enter, end_turn, block,
//    release_turn)
// 3. While the state is none of kNone and kCreating the task holds the turn, except in block() and
//    outside_begin(), which pass it on and have it again when they return. (checked in enter,
//    release_turn)
// 4. TaskTurn::held > 0 exactly in the states of a section. (checked in forget_turn)
//
// Why a signal may come at any instruction. The state changes on the runtime's stack or in a
// SoleSection. In both Task::in_runtime is set, so a signal of the program is noted and a probe
// leaves the task alone. What a handler or a preemption interrupts is program code, and there the
// state says all: a gap is released before the handler begins (signal/deliver.cc), and a section
// stays open.
//
// Why a task may be killed at any instruction. The state is the task's own, in one word. Whose turn
// it is, shared().order.turn alone says, which an Order changes under its lock. Another task reads
// of the state only whether it is kCreating (order/probe.cc), to decide whether to send a signal
// that can come too late anyhow. And a task that dies takes the program with it (task/monitor.cc),
// so no task waits for a turn that a dead one has.
#pragma once

#include <stdint.h>

#include "control/task.h"
#include "sys/report.h"

namespace weir {

// Task::flags: published again before the turn is passed on.
inline constexpr uint32_t kWritten = 1u << 0;

// TaskTurn::sole_operations: nobody can come.
inline constexpr uint32_t kSoleForGood = 1u << 24;

namespace turn {

constexpr uint32_t bit(TurnState state) { return 1u << static_cast<uint32_t>(state); }
template <typename... States>
constexpr uint32_t any_of(States... states) {
  return (bit(states) | ...);
}

using enum TurnState;

inline constexpr uint32_t kInGap = any_of(kGap, kGapSection, kGapSectionEvent);
inline constexpr uint32_t kInSection = any_of(kSection, kGapSection);
inline constexpr uint32_t kInSectionEvent = any_of(kSectionEvent, kGapSectionEvent);
inline constexpr uint32_t kKeptForCall =
    any_of(kHoldForCreate, kHoldForJoin, kHoldForEnd, kHoldForRetry);

inline bool is_any(const Task& task, uint32_t states) { return bit(task.turn.state) & states; }

// The states that may follow each one.
constexpr uint32_t next_of(TurnState state) {
  switch (state) {
    case kNone: return any_of(kHolding, kCreating);
    case kHolding: return any_of(kNone, kSection, kGap, kProgram) | kKeptForCall;
    case kCreating: return any_of(kNone, kHolding);
    case kSection: return any_of(kNone, kSectionEvent);
    case kSectionEvent: return any_of(kNone, kSection, kHolding);
    case kGap: return any_of(kNone, kGapSection);
    case kGapSection: return any_of(kNone, kGap, kGapSectionEvent);
    case kGapSectionEvent: return any_of(kNone, kGap, kGapSection);
    case kHoldForCreate: return any_of(kNone, kHolding);
    case kHoldForJoin:
    case kHoldForEnd:
    case kHoldForRetry:
    case kProgram: return any_of(kNone);
  }
  return 0;
}
inline constexpr uint32_t kStates = static_cast<uint32_t>(kProgram) + 1;

}  // namespace turn

// REQUIRES: the task is the caller's, and in state `from`.
inline void set_turn_state(Task& task, TurnState from, TurnState to) {
  // Invariant 1 of turn.h.
  WEIR_CHECK(task.turn.state == from && turn::next_of(from) & turn::bit(to));
  task.turn.state = to;
}

// The next event is near: the turn is kept until then, or it is in an event of such a turn.
inline bool is_in_gap(const Task& task) { return turn::is_any(task, turn::kInGap); }
// Program code between two events has the turn, whichever it will come to next.
inline bool has_turn_between_events(const Task& task) {
  return turn::is_any(task, turn::any_of(TurnState::kGap, TurnState::kProgram));
}
// Program code runs between the lock of a mutex and its unlock, with the turn.
inline bool is_in_section(const Task& task) { return turn::is_any(task, turn::kInSection); }
inline bool is_in_section_event(const Task& task) {
  return turn::is_any(task, turn::kInSectionEvent);
}

// The task has got `mutex`; it keeps the turn for the section that begins, or has begun.
inline void enter_section(Task& task, uint64_t mutex) {
  if (task.turn.held++) return;
  task.turn.section = mutex;
  const TurnState before = task.turn.state;
  set_turn_state(task, before,
                 before == TurnState::kGap ? TurnState::kGapSection : TurnState::kSection);
}
// It has released one of the section's mutexes. After the last one the turn is that of an event, or
// of the gap.
inline void leave_section(Task& task) {
  const bool ends = --task.turn.held == 0;
  switch (const TurnState before = task.turn.state) {
    case TurnState::kSectionEvent:
      set_turn_state(task, before, ends ? TurnState::kHolding : TurnState::kSection);
      break;
    case TurnState::kGapSectionEvent:
      set_turn_state(task, before, ends ? TurnState::kGap : TurnState::kGapSection);
      break;
    default:
      if (ends) set_turn_state(task, before, TurnState::kGap);
  }
}
// An event of the section begins, or is over: it nests in the section's turn.
inline void begin_section_event(Task& task) {
  const bool gap = task.turn.state == TurnState::kGapSection;
  set_turn_state(task, task.turn.state,
                 gap ? TurnState::kGapSectionEvent : TurnState::kSectionEvent);
}
inline void end_section_event(Task& task) {
  const bool gap = task.turn.state == TurnState::kGapSectionEvent;
  set_turn_state(task, task.turn.state, gap ? TurnState::kGapSection : TurnState::kSection);
}

// Why a turn is given away.
enum class ReleaseReason : uint32_t {
  kEventIsOver,  // and nothing keeps it
  kOtherEvent,   // program code comes to an event that it is not kept for
  kTaskEnds,
  // What ends only some turns, and is asked whether there is one or not:
  kCallIsOver,     // the function of the C library for which it is kept
  kSectionIsOver,  // in an event of the section
  kNextIsFar,      // program code has executed all that it may before the next event
  kHandlerBegins,  // a handler of the program's runs
  kIsCalledBack,   // from the in-place process
};
inline constexpr uint32_t kReleaseReasons = static_cast<uint32_t>(ReleaseReason::kIsCalledBack) + 1;

namespace turn {

// The states that end for a reason.
constexpr uint32_t ended_by(ReleaseReason why) {
  switch (why) {
    case ReleaseReason::kEventIsOver: return any_of(kHolding, kGap);
    case ReleaseReason::kOtherEvent: return kInSection | kInGap | kKeptForCall;
    case ReleaseReason::kCallIsOver: return kKeptForCall;
    case ReleaseReason::kSectionIsOver: return kInSectionEvent;
    case ReleaseReason::kNextIsFar: return any_of(kGap, kGapSection);
    case ReleaseReason::kHandlerBegins: return any_of(kGap, kGapSection);
    case ReleaseReason::kIsCalledBack: return any_of(kHolding, kGap) | kInSection | kKeptForCall;
    case ReleaseReason::kTaskEnds:
      return any_of(kHolding, kGap, kProgram) | kInSection | kKeptForCall;
  }
  return 0;
}

}  // namespace turn

// Gives the turn away if `why` ends what the task has it for, and else does nothing. Returns when
// the task may run again, except at its end. A section that is not over is broken: its mutex does
// without for a while (interpose/sync/mutex.cc). REQUIRES: turn.depth is 1 if the turn is given
// away; for the first three reasons it is.
void release_turn(Task& task, ReleaseReason why);

// Whatever the task has written through its own mapping. REQUIRES: the turn.
void publish_now(Task& task);

}  // namespace weir
