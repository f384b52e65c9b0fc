// What is found beside races, in words: each kind by a name for programs, which is its rule in JSON
// and SARIF and what suppressions know, and by one for people.
#include "cli/races/hazards.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>

#include "cli/common/failure.h"
#include "cli/races/race_reader.h"
#include "cli/races/report.h"

namespace weir::cli {
namespace {

using findings::Hazard;

struct Words {
  Hazard hazard;
  const char *option, *rule, *kind, *kinds, *because;
};

constexpr Words kWords[] = {
    {Hazard::kLockOrder, "lock-order", "lock-order-inversion", "lock-order inversion",
     "lock-order inversions",
     "threads take these locks in orders that contradict each other: if they come at the same "
     "time, each waits for the other for ever"},
    {Hazard::kLifetime, "lifetime", "lifetime", "use against begin or end",
     "uses against begin or end",
     "nothing orders the two: in another schedule the object is used when it is not initialized, "
     "or "
     "not any more"},
    {Hazard::kDeadlock, "deadlock", "deadlock", "deadlock", "deadlocks",
     "each of these threads waits for another one, or for what nobody does: none can go on, so the "
     "program was ended"},
    {Hazard::kDescriptor, "descriptor", "descriptor", "close against use", "closes against use",
     "nothing orders the two: in another schedule the number is used when it is closed, or stands "
     "for another file"},
    {Hazard::kThreadUnsafe, "thread-unsafe", "thread-unsafe-call", "thread-unsafe call",
     "thread-unsafe calls",
     "both change what the C library keeps for all threads, and nothing orders the two: what one "
     "thread has got there the other overwrites"},
    {Hazard::kThreadLeak, "thread-leak", "thread-leak", "thread leak", "thread leaks",
     "the thread has ended, and nobody has joined or detached it: what it had is never given back"},
    {Hazard::kUnsafeCall, "signal-unsafe", "signal-unsafe-call", "unsafe call in a signal handler",
     "unsafe calls in signal handlers",
     "the handler may come in the middle of the other call, which has changed half of what both "
     "use, or has what the handler then waits for"},
};

// What the user gets who names none.
constexpr uint32_t kDefault =
    findings::bit_of(Hazard::kLockOrder) | findings::bit_of(Hazard::kLifetime) |
    findings::bit_of(Hazard::kDeadlock) | findings::bit_of(Hazard::kDescriptor) |
    findings::bit_of(Hazard::kThreadUnsafe);

// Of what a thread does with an object of synchronization.
const char* words_of(findings::Action action) {
  switch (action) {
    case findings::Action::kUses: return "use";
    case findings::Action::kBegins: return "initialization";
    case findings::Action::kEnds: return "destruction";
    case findings::Action::kLocks: return "wait for a lock";
    case findings::Action::kSleeps: return "wait for a condition";
    case findings::Action::kAwaits: return "wait at a barrier";
    case findings::Action::kTakes: return "wait for a semaphore or spin lock";
    case findings::Action::kJoins: return "wait for a thread or a futex";
    case findings::Action::kInterrupted:
    case findings::Action::kInHandler:
    case findings::Action::kCalls:
    case findings::Action::kNone: break;
  }
  return "call";
}

// Of what a thread does with a descriptor.
std::string words_of_descriptor(findings::Action action, uint64_t number) {
  const char* what = action == findings::Action::kBegins ? "opening"
                     : action == findings::Action::kEnds ? "close"
                                                         : "use";
  return fmt::format("{} of descriptor {}", what, number);
}

// Of what a handler calls, and of what it may interrupt.
std::string words_of_unsafe(findings::Action action, uint64_t named) {
  const auto signal = static_cast<int>(named & ((uint64_t{1} << findings::kUnsafeShift) - 1));
  const char* const short_name = sigabbrev_np(signal);
  const std::string name =
      short_name ? fmt::format("SIG{}", short_name) : fmt::format("SIGRTMIN+{}", signal - SIGRTMIN);
  const char* what = "use of the heap";
  switch (static_cast<findings::UnsafeCall>(named >> findings::kUnsafeShift)) {
    case findings::UnsafeCall::kStreams: what = "use of a stream"; break;
    case findings::UnsafeCall::kLock: what = "wait for a lock"; break;
    case findings::UnsafeCall::kHeap: break;
  }
  return action == findings::Action::kInHandler ? fmt::format("{} in a handler of {}", what, name)
                                                : fmt::format("{} that it may interrupt", what);
}

// Functions of the C library with descriptors of their own, which its own locks order.
bool is_of_library(const Frames& frames) {
  constexpr const char* kOwners[] = {
      "syslog",     "vsyslog",    "__syslog_chk", "__vsyslog_chk", "openlog",    "closelog",
      "getpwent",   "setpwent",   "endpwent",     "getgrent",      "setgrent",   "endgrent",
      "gethostent", "sethostent", "endhostent",   "getservent",    "setservent", "endservent",
      "getutent",   "setutent",   "endutent",     "pututline",     "updwtmp"};
  return std::ranges::any_of(frames, [&](const Frame& frame) {
    return std::ranges::any_of(kOwners, [&](const char* owner) { return frame.function == owner; });
  });
}

std::string listed_options() {
  std::string text;
  for (const Words& one : kWords) text += std::string(one.option) + ", ";
  return text;
}

const Words& words_of(Hazard hazard) {
  for (const Words& one : kWords) {
    if (one.hazard == hazard) return one;
  }
  return kWords[0];
}

}  // namespace

uint32_t hazards_of(const std::vector<std::string>& names) {
  uint32_t bits = 0;
  for (const std::string& name : names) {
    if (name == "none") continue;
    if (name == "default") {
      bits |= kDefault;
      continue;
    }
    const bool is_all = name == "all";
    bool is_known = is_all;
    for (const Words& one : kWords) {
      if (!is_all && name != one.option) continue;
      bits |= findings::bit_of(one.hazard);
      is_known = true;
    }
    if (!is_known)
      throw Failure(kWeirFailed, fmt::format("--hazards {}: it may be {}default, all or none", name,
                                             listed_options()));
  }
  return bits;
}

const char* hazard_kind(const std::string& rule, bool is_one) {
  for (const Words& one : kWords) {
    if (rule == one.rule) return is_one ? one.kind : one.kinds;
  }
  return is_one ? "hazard" : "hazards";
}

ReportedRace RaceReader::read_hazard(const findings::Race& race) {
  const auto hazard = static_cast<Hazard>(std::min(race.fault, findings::kHazards - 1));
  const Words& words = words_of(hazard);
  ReportedRace result;
  result.why = race.why;
  result.rule = words.rule;
  result.because = words.because;
  result.count = race.count + 1;
  const auto call_of = [](const findings::Side& noted) -> const findings::SharingCall& {
    return findings::kSharing[std::min<uint64_t>(noted.address, findings::kSharingCalls - 1)];
  };
  if (hazard == Hazard::kThreadUnsafe &&
      !(call_of(race.sides[0]).changes & call_of(race.sides[1]).changes))
    result.because =
        "one changes what the C library keeps for all threads, and the other looks at it; nothing "
        "orders the two";
  const auto read = [&](const findings::Side& noted) {
    ReportedSide made = side(noted);
    made.exists = noted.kind != 0;
    made.size = 0;
    const auto action =
        static_cast<findings::Action>(std::min<uint64_t>(noted.size, findings::kActions - 1));
    if (hazard != Hazard::kLockOrder) made.wanted.words = words_of(action);
    if (hazard == Hazard::kDescriptor) {
      made.wanted.words = words_of_descriptor(action, noted.address);
      made.address = 0;
      result.is_of_library |= is_of_library(made.frames);
    } else if (hazard == Hazard::kUnsafeCall) {
      made.wanted.words = words_of_unsafe(action, noted.address);
      made.address = 0;
    } else if (hazard == Hazard::kThreadUnsafe) {
      made.wanted.words = fmt::format("call of {}", call_of(noted).name);
      made.address = 0;
    } else if (hazard == Hazard::kThreadLeak) {
      made.wanted.words = "creation of " + task_words(task(static_cast<uint32_t>(noted.address)));
      made.address = 0;
    }
    const bool is_named = hazard == Hazard::kDeadlock && action != findings::Action::kJoins;
    if (is_named) {
      if (const ReportedLock waited = lock(noted.address); !waited.name.empty())
        made.wanted.words = "wait for " + waited.name;
    }
    if (hazard != Hazard::kLockOrder) return made;
    made.wanted = lock(noted.address);
    made.wanted.words = "lock of " + (made.wanted.name.empty() ? "a lock" : made.wanted.name);
    return made;
  };
  result.is_standstill = hazard == Hazard::kDeadlock;
  result.sides[0] = read(race.sides[0]);
  result.sides[1] = read(race.sides[1]);
  for (const findings::Side& more : findings_.more_sides(race)) result.more.push_back(read(more));
  if (hazard == Hazard::kLifetime) result.object = object(race, race.sides[1].address);
  else if (race.object.start || race.object.kind != findings::ObjectKind::kUnknown)
    result.object = object(race, race.object.start);
  name_lock(result.object.variable);
  if (hazard == Hazard::kLifetime) result.object.variable.type.clear();  // that of its first member
  return result;
}

}  // namespace weir::cli
