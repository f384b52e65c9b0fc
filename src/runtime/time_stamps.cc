// A loop that looks at memory and at rdtsc waits for another task, or for its time to be over. All
// that changes in it is what the time stamp is computed into. It is told by its readings: so many
// at one place, without an event between them, with all other registers but two as they were. From
// then on each reading is an event that waits a few rounds, and the time stamp moves on by virtual
// time. So others go on, the loop sees what they have stored, and its budget ends after rounds.
//
// Invariants
// 1. Where a loop becomes events depends on the program's own registers and events only, and what
//    it reads from then on follows from turns: a replay needs no more than the readings before.
//    (not checkable: it is about two runs)
// 2. A task's time stamps never go back. (not checkable: the program keeps none)
// 3. A task does not read time stamps for ever without an event: in a turn that is kept each of
//    them renews the budget. (not checkable: it is about readings to come)

#include "runtime/time_stamps.h"

#include "control/control.h"
#include "order/order.h"
#include "record/input.h"
#include "sync/event.h"
#include "sys/syscall_x86_64.h"

namespace weir::runtime {

namespace {

constexpr uint32_t kReadings = 256;        // at one place
constexpr uint32_t kMostReadings = 65536;  // at all, between two events
constexpr unsigned kMayDiffer = 2;         // registers: what a loop computes of the stamp
constexpr uint32_t kMaxRounds = 8;

// Of the registers that rdtscp does not change.
unsigned note_registers(TaskSpin& spin, const Frame& frame) {
  const uint64_t now[kStampRegisters] = {frame.r15, frame.r14, frame.r13, frame.r12,
                                         frame.r11, frame.r10, frame.r9,  frame.r8,
                                         frame.rdi, frame.rsi, frame.rbp, frame.rbx};
  unsigned different = 0;
  for (unsigned i = 0; i < kStampRegisters; i++) {
    different += spin.stamp_registers[i] != now[i];
    spin.stamp_registers[i] = now[i];
  }
  return different;
}

void make_event(Task& task, uint64_t rounds) {
  begin_turn(EventKind::kSpin);
  block(0, 0, rounds * order::kQuantumNs, "a time stamp, or another task");
  end_turn();
  task.spin.stamp_events = task.spent.counters.events;
  task.spin.stamps = 0;
}

}  // namespace

uint64_t time_stamp(Task& task, const Frame& frame) {
  TaskSpin& spin = task.spin;
  const uint64_t place = frame.rip ^ frame.rsp << 20;
  const bool differs = note_registers(spin, frame) > kMayDiffer || spin.stamp_place != place;
  const bool had_event = spin.stamp_events != task.spent.counters.events;
  if (had_event) {
    spin.stamp_events = task.spent.counters.events;
    spin.stamps = 0;
  }
  if (differs || had_event) {
    spin.stamp_place = place;
    spin.stamps_here = 0;
  }
  if (spin.stamps_here < kReadings) {
    spin.stamps_here++;
    if (++spin.stamps > kMostReadings) make_event(task, 1);
    const auto now = static_cast<uint64_t>(input::log_value(input::What::kClock, sys::cycles));
    return spin.stamp = now > spin.stamp ? now : spin.stamp + 1;
  }
  const uint64_t before = shared().order.virtual_now;
  const uint32_t waits = spin.stamps_here++ - kReadings;
  make_event(task, waits < kMaxRounds ? waits + 1 : kMaxRounds);
  return spin.stamp += shared().order.virtual_now - before;
}

}  // namespace weir::runtime
