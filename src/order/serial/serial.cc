// Invariants (guarded by OrderState::lock)
// 1. The task that has the turn, and no other, is kRunning. A task that could go on is kArrived.
//    (checked in give)
// 2. Nobody has the turn only while no task is kArrived. (checked in decide)
// 3. What is decided follows from the strategy, from positions and from who is ready: no clock is
//    asked. Who comes back from the kernel becomes ready when that happens; it is an input, which
//    a recording keeps (order/external_log.h). (not checkable: it is about two runs)
//
// Virtual time advances by kStepNs a step and kEventNs an event; where nobody can go on, it jumps
// to the earliest deadline at once, unless somebody is in the kernel, who may come back before.

#include "order/serial/serial.h"

#include <errno.h>

#include "control/phase_timer.h"
#include "control/process.h"
#include "order/serial/conflicts.h"
#include "order/serial/outside.h"
#include "order/serial/ready.h"
#include "order/serial/run.h"
#include "order/serial/stores/store_buffer.h"
#include "order/serial/tally.h"
#include "order/serial/trail.h"
#include "order/sleep.h"
#include "order/waiting.h"
#include "sys/report.h"

// A place for a debugger's breakpoint, in a replay: thread `from` stands where the schedule has it
// give the turn to `to`. Nothing else calls it.
extern "C" [[gnu::noinline, gnu::used]] void weir_switch(uint32_t from, uint32_t to) {
  asm volatile("" : : "r"(from), "r"(to) : "memory");
}

namespace weir::order {

constinit Serial g_serial;

namespace {

using namespace serial;

constexpr uint64_t kStepNs = 1, kEventNs = 1000;
// So long nobody goes on before a deadlock is told, if a signal could still end it.
constexpr uint64_t kPatienceNs = 1'000'000'000;
// How often a task that waits for its turn looks whether it ever comes, and for how long.
// Nanoseconds.
constexpr uint64_t kLook = 500'000'000;

Track& track_of(const Task& task) { return g_run.tracks[task.id]; }

Position position_of(const Task& task) {
  const Track& track = track_of(task);
  return {track.number, track.event, track.step};
}

void note_change(const Moment& moment, const Task& from, TaskId chosen, uint64_t address,
                 bool is_listed) {
  const int32_t* const looked_at = external_log().looked_at;
  if (is_listed && looked_at && __atomic_load_n(looked_at, __ATOMIC_RELAXED) && &from == &self())
    weir_switch(g_run.tracks[from.id].number, g_run.tracks[chosen].number);
  if (g_run.changes == serial::kMaxChanges) {
    g_run.changes_left_out++;
    return;
  }
  serial::changes()[g_run.changes] = {moment.at, address, g_run.tracks[chosen].number,
                                      moment.reason, is_listed};
  serial::keep_switch(g_run.changes, from, address);
  serial::note_state(is_listed);
  g_run.changes++;
}

// The task has the turn.
void give(Shared& s, Task& task) {
  WEIR_DEBUG_CHECK(s.order.turn == kNoTask);  // invariant 1 of serial.cc
  WEIR_DEBUG_CHECK(task.order.state == TaskState::kArrived);
  task.order.state = TaskState::kRunning;
  s.order.turn = g_run.last = task.id;
  s.order.round++;
  add_to_schedule(s, task, 0xfe);
}

// Who goes on, of those that can; `from` stands at its position for `reason`, and cannot itself if
// `current` is kNoTask. `is_other`: not the current one, if another is ready.
TaskId choose(Shared& s, const Task& from, TaskId current, Reason reason, uint64_t address,
              const Touch& next = {}, bool is_other = false) {
  TaskId ready[kMaxTasks], sleeping[kMaxTasks];
  Moment moment{reason, position_of(from),    current,  g_run.contested,
                ready,  find_ready(s, ready), sleeping, find_sleeping(s, sleeping),
                next};
  g_run.ready = moment.count;
  if (!moment.count) return kNoTask;
  if (current != kNoTask && !moment.is_ready(current)) moment.current = current = kNoTask;
  const TaskId chosen =
      is_other && moment.count > 1 ? stores::other(moment) : g_run.strategy->choose(moment);
  WEIR_CHECK(moment.is_ready(chosen) || moment.is_asleep(chosen));
  if (moment.is_asleep(chosen)) hold_up_for(s, s.tasks[chosen]);
  const bool is_listed = chosen != default_choice(moment);
  if (chosen != current) {
    g_run.switches++;
    // Who has only slept for a moment, and is the next again, has starved the others meanwhile.
    if (chosen != from.id) begin_row(track_of(s.tasks[chosen]));
    track_of(s.tasks[chosen]).spin.restart();
  }
  // A strategy's stop at which nobody else is chosen leaves nothing behind: a list has it not.
  if (chosen != current || !is_step(reason)) wake_loops(s);
  if (is_listed || chosen != current) note_change(moment, from, chosen, address, is_listed);
  return chosen;
}

// Nobody has the turn, and nobody will.
[[noreturn]] void tell_deadlock() {
  serial::end(End::kDeadlock, 0);
  report_waits();
  report("deadlock: the program ends with status 66");
  leave(66);
}

// Nobody has the turn: who has it next. `from`: who had it last.
void decide(Shared& s, const Task& from, Reason reason, uint64_t address) {
  WEIR_DEBUG_CHECK(s.order.turn == kNoTask);
  order::decide(s);
  expire(s);
  if (!has_ready(s) && !has_outside(s) && has_deadline(s)) jump(s);
  if (!next_arrived(s, 0)) {
    if (!has_outside(s) && !has_deadline(s) && !may_be_signalled(s)) tell_deadlock();
    watch_idle(s);
    advance(s);
    return;
  }
  const TaskId next = choose(s, from, kNoTask, reason, address);
  give(s, s.tasks[next]);
  WEIR_DEBUG_CHECK(s.order.turn != kNoTask);  // invariant 2 of serial.cc
  if (next != self().id || &from != &s.tasks[next]) wake_sleeper(s.tasks[next]);
}

void wait_for_turn(Task& task) {
  Shared& s = shared();
  uint64_t round = 0, since = 0;
  int64_t left = 0;
  while (!has_turn(task)) {
    if (sleep(task, kLook) != -ETIMEDOUT || replays()) continue;  // a debugger may hold the others
    const TaskId turn = __atomic_load_n(&s.order.turn, __ATOMIC_RELAXED);
    const uint64_t now = sys::monotonic_ns();
    const int64_t now_left = __atomic_load_n(&count_state().left, __ATOMIC_RELAXED);
    if (turn == kNoTask || s.order.round != round || now_left != left || s.tasks[turn].in_runtime ||
        !since) {
      round = s.order.round;
      left = now_left;
      since = now;
    } else if (now - since > serial::kLongestUncounted) {
      tell_uncounted(s.tasks[turn]);
    }
  }
  settle(s);
}

// Who had the turn last, or if that one is no more the first that could have it. REQUIRES: somebody
// could.
const Task& last_there(Shared& s) {
  const Task& last = s.tasks[g_run.last];
  return last.order.state != TaskState::kFree ? last : *next_arrived(s, 0);
}

// The task's own position moves on: it has made an event, or waits in one.
void count_event(Task& task) {
  Track& track = track_of(task);
  track.event++;
  track.step = 0;
  g_run.events++;
  shared().order.virtual_now += kEventNs;
}

void add_track(const Task& task) {
  Track& track = track_of(task);
  track = Track{};
  track.spin.begin();
  track.number = static_cast<uint32_t>(task.identity.creation);
  g_run.tasks++;
  serial::stores::forget(task);
  g_run.strategy->begin(task.id, track.number);
}

}  // namespace

void Serial::start(Task& task) {
  serial::parse_again();  // a forked child has lost the list
  g_run.steps = g_run.contested = g_run.events = g_run.switches = g_run.tasks = 0;
  for (uint32_t i = 0; i < kMaxCounts; i++) g_run.contested_of[i] = g_run.events_of[i] = 0;
  serial::clear_tallies();
  serial::clear_states();
  serial::stores::start(g_run.schedule);
  g_run.ready = 1;
  g_run.jumped = 0;
  g_run.standstill = 0;
  g_run.is_unsettled = false;
  g_run.waits_in_vain = 0;
  g_run.changes = 0;
  g_run.changes_left_out = 0;
  g_run.strategy = &strategy_for(g_run.schedule);
  shared().order.running = 0;
  shared().order.turn = g_run.last = task.id;
  serial::begin_trail();
  add_track(task);
}

void Serial::take_turn(Task& task, EventKind kind) {
  wait_for_turn(task);
  add_to_schedule(shared(), task, static_cast<uint64_t>(kind));
}

void Serial::note_further(const Task& task, EventKind kind) {
  add_to_schedule(shared(), task, static_cast<uint64_t>(kind));
}

void Serial::pass_turn(Task& task, TaskState next) {
  Shared& s = shared();
  settle_after(s, track_of(task));
  if (next == TaskState::kOutside) note_unsettled();
  SpinGuard guard(s.order.lock);
  count_event(task);
  track_of(task).is_asked = track_of(task).is_at_step = false;
  track_of(task).doublings = 0;
  if (next == TaskState::kFree) serial::stores::forget(task);
  task.order.state = next == TaskState::kServed ? TaskState::kArrived : next;
  s.order.turn = kNoTask;
  decide(s, task,
         next == TaskState::kServed ? Reason::kYields
         : next == TaskState::kFree ? Reason::kEnds
                                    : Reason::kBlocks,
         place_of(task));
}

void Serial::wait_to_run(Task& task) { wait_for_turn(task); }

int Serial::wait_blocked(Task& task) {
  PhaseScope phase(task, Phase::kBlocked);
  Shared& s = shared();
  uint64_t standing = 0;
  while (!has_turn(task)) {
    s.order.lock.lock();
    const bool blocked = task.order.state == TaskState::kBlocked;
    if (blocked && task.pending && !task.order.had_signal && !task.order.comes && !replays())
      come(Outside::kSignal, task);
    const bool watches = blocked && task.flags & kWatchesIdle && s.order.turn == kNoTask;
    const uint64_t deadline = task.order.deadline, now = s.order.virtual_now;
    s.order.lock.unlock();
    if (has_turn(task)) break;
    const uint64_t patience = !watches         ? sys::kForever
                              : !deadline      ? kPatienceNs
                              : deadline > now ? deadline - now
                                               : 1;
    const uint64_t begin = sys::monotonic_ns();
    if (sleep(task, patience) != -ETIMEDOUT) continue;
    SpinGuard guard(s.order.lock);
    if (s.order.turn != kNoTask || next_arrived(s, 0)) continue;
    task.flags &= ~kWatchesIdle;
    if (deadline) {
      come(Outside::kTimeJumps, task);
    } else if (!has_outside(s)) {
      standing += sys::monotonic_ns() - begin;
      if (standing >= kPatienceNs) come(Outside::kStands, task);
    }
  }
  settle(s);
  add_to_schedule(s, task, 0xff);
  return static_cast<int>(task.order.wait_result);
}

void Serial::rejoin(Task& task) {
  Shared& s = shared();
  // A recording keeps the moment, and its replay makes the decision there.
  if (external_log().recording || replays()) {
    SpinGuard guard(s.order.lock);
    if (!replays()) come(Outside::kReturns, task);
  } else {
    {
      SpinGuard guard(s.order.lock);
      task.order.state = TaskState::kArrived;
    }
    // Nobody has the turn: who was woken together with this one is to be there, whoever comes
    // first.
    if (__atomic_load_n(&s.order.turn, __ATOMIC_ACQUIRE) == kNoTask) settle_all(s);
    SpinGuard guard(s.order.lock);
    if (s.order.turn == kNoTask) decide(s, last_there(s), Reason::kBlocks, place_of(last_there(s)));
  }
  wait_for_turn(task);
}

void Serial::add_task(Task& task) {
  Shared& s = shared();
  SpinGuard guard(s.order.lock);
  count_in(s, task, TaskState::kArrived);
  add_track(task);
  serial::keep_start(task);
}

void Serial::kick(Shared& s) {
  if (s.order.turn == kNoTask && next_arrived(s, 0))
    decide(s, last_there(s), Reason::kBlocks, place_of(last_there(s)));
}

void Serial::stand(Shared&) { tell_deadlock(); }

namespace serial {

constinit Run g_run{};

uint64_t cost_so_far() { return g_run.steps + kEventCost * g_run.events; }

void note_steps(Task& task, uint64_t steps) {
  Track& track = track_of(task);
  track.step += steps;
  if (steps && !track.spin.is_on()) g_run.standstill = 0;
  track.in_row += steps;
  track.to_go -= steps < track.to_go ? steps : track.to_go;
  g_run.steps += steps;
  if (g_run.ready > 1) {
    g_run.contested += steps;
    if (track.number < kMaxCounts) g_run.contested_of[track.number] += steps;
  }
  shared().order.virtual_now += steps * kStepNs;
  if (stores::is_on()) stores::note_steps(task, steps);
}

void pass_point(Task& task, Reason reason, uint64_t rip) {
  Shared& s = shared();
  const bool is_other = stores::takes_other(task);
  const bool is_looked_at = g_run.strategy->looks_at_memory() || looks_at_steps();
  const Touch touch = is_looked_at ? touch_of(task, reason, rip) : Touch{};
  Track& track = track_of(task);
  track.is_asked = false;
  track.is_at_step = reason != Reason::kAfter && reason != Reason::kEvent;
  if (g_run.ready > 1) serial::tally(touch, track.number);
  if (looks_at_steps() && track.number && track.number < kMaxTasks) {
    g_run.functions[track.number] = task.identity.start_function;
    if (g_run.function_count <= track.number) g_run.function_count = track.number + 1;
  }
  if (reason == Reason::kAfter) {
    settle_after(s, track);
    count_event(task);
    if (track.yields) {
      reason = Reason::kYields;
      track.spin.note_yield();
    }
    track.yields = false;
  } else if (reason == Reason::kEvent) {
    note_steps(task, 1);  // to begin an event is a step
    keep_event(task, rip);
    if (track.number < kMaxCounts) g_run.events_of[track.number]++;
    look_at_event(position_of(task), touch);
  } else if (reason == Reason::kSpins) {
    count_event(task);  // it begins to wait; the position is one of its own
  }
  if (g_run.memory->step_limit && cost_so_far() >= g_run.memory->step_limit) tell_limit();
  const uint32_t postponed = track.spin.postponed();
  if (track.in_row >= fair_limit(track) && reason != Reason::kYields) {
    reason = Reason::kForced;
    note_forced(track);
    track.spin.hope();
    track.spin.restart();
  }
  if (reason == Reason::kSpins || reason == Reason::kYields) track.doublings = 0;
  if (reason == Reason::kSpins && g_run.memory->step_limit) end_standstill();
  {
    SpinGuard guard(s.order.lock);
    order::decide(s);
    expire(s);
    const bool asks_for_others = reason == Reason::kForced || reason == Reason::kSpins;
    // What all wait for may be a delayed store.
    if (reason == Reason::kSpins && stores::is_on() && !has_ready(s, &task))
      stores::drain_all(task, rip);
    if (asks_for_others && !has_ready(s, &task) && has_deadline(s) && !has_outside(s)) jump(s);
    if (reason == Reason::kSpins) {
      g_run.standstill = has_outside(s) || has_deadline(s) ? 0 : g_run.standstill + 1;
      if (!has_ready(s)) reason = Reason::kForced;  // all do
    }
    const TaskId next = choose(s, task, task.id, reason, rip, touch, is_other);
    if (next == task.id) {
      if (reason == Reason::kForced && g_run.ready == 1 && !has_deadline(s))
        track.spin.stay_postponed(postponed);
      return;
    }
    stores::hide(task);
    task.order.state = TaskState::kArrived;
    s.order.turn = kNoTask;
    give(s, s.tasks[next]);
    wake_sleeper(s.tasks[next]);
  }
  wait_for_turn(task);
  stores::show(task);
}

uint64_t steps_to_go(Task& task) {
  Track& track = track_of(task);
  if (track.is_asked) return track.to_go;
  const auto at_most = [&](uint64_t whole, uint64_t made) {
    const uint64_t rest = whole > made ? whole - made : 0;
    if (rest < track.to_go) track.to_go = rest;
  };
  track.is_asked = true;
  track.to_go = g_run.strategy->steps_before_stop(task.id, position_of(task), g_run.contested);
  at_most(fair_limit(track), track.in_row);
  if (const uint64_t limit = g_run.memory->step_limit) at_most(limit, cost_so_far());
  return track.to_go;
}

void watch(Task& task, const Frame& frame) {
  Track& track = track_of(task);
  SpinWatch& spin = track.spin;
  spin.look_at_entry(track.in_row);
  if (spin.is_on()) {
    if (!spin.has_come_back(frame, track.in_row, task.identity.virtual_tid)) return;
    pass_point(task, Reason::kSpins, frame.rip);
  }
  if (spin.steps_to_look(track.in_row)) return;
  Shared& s = shared();
  {
    SpinGuard guard(s.order.lock);
    order::decide(s);
    expire(s);
    if (!next_arrived(s, 0) && !has_deadline(s)) {
      spin.postpone(track.in_row);
      return;
    }
  }
  spin.start(frame);
}

bool looks_at_each_step(const Task& task) {
  return track_of(task).spin.is_on() || looks_at_steps();
}

void look_at_next_step(Task& task, const Frame& frame) {
  if (SpinWatch& spin = track_of(task).spin; spin.is_on()) spin.note_step(frame);
  if (looks_at_steps()) look_at_step(position_of(task), frame);
}

uint64_t steps_to_look(const Task& task) {
  const Track& track = track_of(task);
  return track.spin.steps_to_look(track.in_row);
}

void note_entry(Task& task) { track_of(task).spin.note_entry(); }

void note_event(Task& task, EventKind kind) {
  SpinWatch& spin = track_of(task).spin;
  spin.wake();
  spin.end_postponing(track_of(task).in_row);
  track_of(task).may_wake = may_wake_sleepers(kind);
  if (spin.is_on() && task.frame) spin.note_event(*task.frame, kind);
}

void note_yield(Task& task) { track_of(task).yields = true; }

namespace {
void (*g_on_end)() = nullptr;
}

void set_on_end(void (*function)()) { g_on_end = function; }

bool is_scheduled_process() { return g_run.process == sys::raw(SYS_getpid); }

void end(End how, int value, const Registers* registers) {
  if (g_run.is_ended || !is_scheduled_process()) return;  // a forked child has no log
  if (g_tasks_active && stores::is_on()) {
    stores::drain(self(), stores::Cause::kEnd, place_of(self()));
    stores::drain_others(self(), stores::Cause::kEnd);
  }
  g_run.is_ended = how != End::kSignal;  // which the program may yet survive
  keep_end(registers);
  if (g_on_end) g_on_end();
  write_log(how, value);
  if (g_run.made_blocks) translate::hand_over(*g_run.made_blocks);
}

}  // namespace serial
}  // namespace weir::order
