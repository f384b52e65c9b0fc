// Clocks that follow what the program does. All of them show the same time, each with a beginning
// of its own: of CPU time 0.
//
// 1. Time moves on where the program reads it, and where a wait of it ends by its time limit, by
//    that limit. So it follows turns, but not their number: how many there are while a task waits
//    in the kernel, for a child say, is not always the same.
// 2. A loop that waits for a time, and makes no other event, ends.
// 3. A reading is an event: what one task has read is past for every task that goes on from there.
// 4. A program that waits for its child is not younger than the child was when it ended.
// 5. Under Order serial time moves on with the steps that are made, too, as limits do there: who
//    computes until a time has come needs no million readings for a second.

#include <time.h>

#include "constant/constant.h"
#include "constant/place.h"
#include "control/control.h"
#include "control/event.h"
#include "control/plan.h"
#include "sys/futex.h"

namespace weir::constant {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kReading = 1000;                  // nanoseconds
constexpr uint64_t kBooted = 1000 * kSecond;         // before the run began
constexpr uint64_t kFirstCycle = uint64_t{1} << 41;  // behind those of the start (cli/start_tracer)
constexpr uint64_t kTai = 37 * kSecond;

uint64_t beginning_of(int clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM: return options().start * kSecond;
    case CLOCK_TAI: return options().start * kSecond + kTai;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM: return kBooted;
    default: return 0;
  }
}

// Under Order serial: what has passed by steps and events since the last time. REQUIRES: the turn.
void add_steps() {
  if (!plan().is_serial()) return;
  auto& order = shared().order;
  const uint64_t now = order.virtual_now;
  if (now > order.constant_seen) order.constant_now += now - order.constant_seen;
  order.constant_seen = now;
}

}  // namespace

uint64_t moment() {
  const TurnScope turn(EventKind::kSyscall);
  add_steps();
  const uint64_t now = shared().order.constant_now += kReading;
  own_record().elapsed = now;
  return now;
}

uint64_t clock_at(int clock, uint64_t moment) { return beginning_of(clock) + moment; }

uint64_t read_clock(int clock) { return clock_at(clock, moment()); }

uint64_t read_cycles() { return kFirstCycle + moment(); }

void pass(uint64_t begin, uint64_t nanoseconds) {
  const TurnScope turn(EventKind::kSyscall);
  add_steps();
  Shared& s = shared();
  if (s.order.constant_now < begin + nanoseconds) s.order.constant_now = begin + nanoseconds;
  own_record().elapsed = s.order.constant_now;
}

uint64_t on_real_clock(int clock, uint64_t nanoseconds) {
  const uint64_t now = read_clock(clock), real = sys::monotonic_ns(clock);
  if (nanoseconds >= now) return real + (nanoseconds - now);
  return now - nanoseconds < real ? real - (now - nanoseconds) : 0;
}

}  // namespace weir::constant
