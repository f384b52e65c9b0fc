// The time, which programs ask for more often than for anything else: one number in the recording,
// instead of a call's answer and the bytes that it wrote.
#include <errno.h>
#include <sys/syscall.h>

#include "memory/program_memory.h"
#include "record/call_digest.h"
#include "record/clock_input.h"
#include "record/input.h"
#include "record/stream.h"

namespace weir::input {

using channel::Entry;
using channel::Kind;

namespace {

// Where the call writes two numbers, seconds and parts of one. 0: it is no such call.
struct Clock {
  long at = 0;
  int64_t unit = 1;  // parts of a second
};

Clock clock_of(const effects::Request& request) {
  switch (request.number) {
    case SYS_clock_gettime: return {request.a[1], 1'000'000'000};
    case SYS_gettimeofday:
      if (request.a[1]) return {};  // a time zone, too
      return {request.a[0], 1'000'000};
    default: return {};
  }
}

}  // namespace

bool put_clock(Task& task, const effects::Request& request, long result) {
  const Clock clock = result == 0 ? clock_of(request) : Clock{};
  int64_t time[2];
  if (!clock.at || trap::from_program(time, clock.at, sizeof time) != 0) return false;
  recording::put(task,
                 Entry{Kind::kValue, 0, static_cast<uint16_t>(What::kClockRead), 0,
                       recording::check_of(task, request, 0), 0, time[0] * clock.unit + time[1]});
  return true;
}

bool take_clock(Task& task, const effects::Request& request) {
  const Clock clock = clock_of(request);
  if (!clock.at) return false;
  const Entry& entry = recording::next(task);
  if (entry.kind != Kind::kValue || entry.number != static_cast<uint16_t>(What::kClockRead))
    return false;
  if (entry.check != recording::check_of(task, request, 0))
    recording::diverged(task, entry, "the time, asked for otherwise", request.number);
  int64_t time[2] = {entry.result / clock.unit, entry.result % clock.unit};
  if (time[1] < 0) {  // before 1970
    time[0]--;
    time[1] += clock.unit;
  }
  if (trap::to_program(clock.at, time, sizeof time) != 0)
    recording::diverged(task, entry, "there is no memory to write to for system call",
                        request.number);
  recording::take(task, entry);
  return true;
}

}  // namespace weir::input
