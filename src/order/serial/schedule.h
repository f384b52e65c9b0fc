// A schedule as text: `w3:NAME[:key=value[,key=value...]][:SWITCHES]`. SWITCHES: `T.E.I>U`, and
// with memory=tso delays `T.E.I~N`, joined by `+`. docs/internals/serial.md says what each part
// means.
#pragma once

#include <stdint.h>

#include <compare>

namespace weir::order {

// Where a task stands: after its own `event`-th event, and so many steps further.
struct Position {
  uint32_t number;  // of the task, by creation; 0 is the first
  uint64_t event, step;
  auto operator<=>(const Position&) const = default;
};

// At that place the turn goes to `target`; or, if `delay` is not 0, a delay of stores begins, which
// the task's next `delay` steps may see the end of (store_buffer.h).
struct Switch {
  Position at;
  uint32_t target;
  uint64_t delay = 0;
};

enum class StrategyName : uint8_t { kDefault, kList, kRandom, kPct, kPos, kPb, kRace, kSurw };

inline constexpr uint32_t kMaxCounts = 64;  // tasks whose counts a schedule may name

struct Schedule {
  StrategyName name = StrategyName::kDefault;
  uint64_t seed = 1;
  uint64_t depth = 3;           // pct: preemptions are one less
  uint64_t length = 0;          // expected number of steps; 0: not known
  uint64_t bound = 2;           // pb: preemptions
  uint64_t per_million = 0;     // random: of a switch at a step; 0: follows from the seed
  uint64_t fair = 20'000;       // steps that a task makes in a row while others could
  uint64_t look = 0;            // steps of which the log tells what conflicts; it changes nothing
  uint64_t state = 0;           // log what the memory at this address holds at each switch, and
  uint64_t size = 0;            // of how many bytes; it changes nothing
  bool has_all_points = false;  // points=all: accesses relative to the stack pointer count, too
  bool is_tso = false;          // memory=tso: stores may be delayed
  uint64_t delays = 2;          // tso: delays that are drawn, at most; of a list none is
  bool has_location = false;    // surw, at=: what counts are accesses to
  uint64_t location = 0;        // the eight bytes at this address, or, if it is 0, all events
  uint64_t counts[kMaxCounts] = {};  // surw: of each task by number, how often it does what counts
  uint32_t count_count = 0;
  Switch* switches = nullptr;  // sorted by place
  uint32_t switch_count = 0;
  Switch* listed_delays = nullptr;  // likewise
  uint32_t listed_delay_count = 0;
};

const char* name_of(StrategyName name);

// Reads `text` (NUL-terminated; empty: the default) into `schedule`. Switches are put into `room`,
// which has `capacity`. Returns null, or what is wrong with the text, and then in `at` where. Pure.
const char* parse_schedule(const char* text, Schedule& schedule, Switch* room, uint32_t capacity,
                           uint32_t& at);

}  // namespace weir::order
