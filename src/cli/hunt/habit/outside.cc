// Streams are compared entry by entry, each as far as its first difference. If there a task asks
// for something else, that follows from what came before, in another stream perhaps. If it asks
// the same and the answer is another one, that is a cause; so is a signal that comes at another
// place. Else what comes from outside between two decisions is compared: signals, and returns from
// the kernel. Answers that are others in each run and are seldom looked at (ids of processes, times
// of files), and signals that the program has sent, are named only if there is nothing else.
#include "cli/hunt/habit/outside.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "channel/ring.h"
#include "effects/effects.h"
#include "recording/directory.h"
#include "recording/stream.h"

namespace weir::cli::hunt {
namespace {

// Of each run others.
constexpr std::array kOtherEachTime = {SYS_getpid,
                                       SYS_gettid,
                                       SYS_getppid,
                                       SYS_set_tid_address,
                                       SYS_clone,
                                       SYS_clone3,
                                       SYS_fork,
                                       SYS_vfork,
                                       SYS_wait4,
                                       SYS_waitid,
                                       SYS_fstat,
                                       SYS_newfstatat,
                                       SYS_statx,
                                       SYS_stat,
                                       SYS_lstat,
                                       SYS_times,
                                       SYS_getrusage,
                                       SYS_sysinfo,
                                       SYS_sched_getaffinity};

struct Cause {
  std::string words;
  bool is_likely = false;
};

struct Stream {
  explicit Stream(const recording::Recording& of, const recording::StreamFile& file)
      : reader(
            recording::File::reading(file.path), of.manifest.recording, file.key,
            scan(recording::File::reading(file.path), of.manifest.recording, file.key).good_size) {}
  // The next of these kinds.
  const channel::Entry* next(std::initializer_list<channel::Kind> kinds) {
    for (const channel::Entry* entry; (entry = reader.peek()) != nullptr; reader.take())
      if (std::ranges::find(kinds, entry->kind) != kinds.end()) return entry;
    return nullptr;
  }
  // The next call, memory that one has filled, or signal.
  const channel::Entry* next() {
    return next({channel::Kind::kCall, channel::Kind::kMemory, channel::Kind::kSignal});
  }
  recording::StreamReader reader;
};

bool has_same_bytes(const channel::Entry& one, const channel::Entry& other) {
  return one.size == other.size && memcmp(&one + 1, &other + 1, one.size) == 0;
}

std::string who(const recording::Key& key) {
  const std::string process = key.process ? fmt::format(" of process {}", key.process) : "";
  return (key.task ? fmt::format("thread T{}", key.task) : std::string("the main thread")) +
         process;
}

bool is_signal(const channel::Entry* entry) {
  return entry && entry->kind == channel::Kind::kSignal;
}

// A timer's, or one of the kernel's: no thread of the program has sent it.
bool is_from_outside(const channel::Entry& signal) {
  siginfo_t from{};
  memcpy(&from, &signal + 1, std::min<size_t>(signal.size, sizeof from));
  return from.si_code != SI_TKILL && from.si_code != SI_USER && from.si_code != SI_QUEUE;
}

// One of the two is a signal. Nothing: it came at the same place.
Cause compared_signals(const channel::Entry* one, const channel::Entry* other,
                       const std::string& to) {
  const bool are_both = is_signal(one) && is_signal(other) && one->number == other->number;
  if (are_both && one->event == other->event) return {};
  const channel::Entry& signal = is_signal(one) ? *one : *other;
  const std::string came = fmt::format("{} came to {}", recording::signal_name(signal.number), to);
  const bool is_likely = is_from_outside(signal);
  if (!are_both) return {came + " at another place", is_likely};
  return {fmt::format("{} after {} of its events the first time, after {} now", came, one->event,
                      other->event),
          is_likely};
}

// Nothing: both are the same, or differ in what they ask.
Cause compared(Stream one, Stream other) {
  uint32_t call = 0;
  Cause unlikely;
  const auto note = [&](Cause cause) {
    if (unlikely.words.empty()) unlikely = std::move(cause);
  };
  for (;; one.reader.take(), other.reader.take()) {
    const channel::Entry* const first = one.next();
    const channel::Entry* const second = other.next();
    if (is_signal(first) || is_signal(second)) {
      Cause cause = compared_signals(first, second, who(one.reader.key()));
      if (cause.is_likely) return cause;
      const bool is_same = cause.words.empty();
      note(std::move(cause));
      if (is_same) continue;
      return unlikely;
    }
    if (!first || !second || first->kind != second->kind) return unlikely;
    if (first->kind == channel::Kind::kCall) {
      call = first->number;
      if (first->number != second->number || first->check != second->check) return unlikely;
    }
    const bool is_same = first->kind == channel::Kind::kCall ? first->result == second->result
                                                             : has_same_bytes(*first, *second);
    if (is_same) continue;
    const char* const name = effects::name_of(call);
    const std::string by = fmt::format("{}() by {}", name ? name : fmt::format("call {}", call),
                                       who(one.reader.key()));
    const bool is_likely =
        std::ranges::find(kOtherEachTime, static_cast<long>(call)) == kOtherEachTime.end();
    Cause cause{
        first->kind == channel::Kind::kMemory
            ? by + " gave other bytes"
            : fmt::format("{} gave {} the first time, {} now", by, first->result, second->result),
        is_likely};
    if (is_likely) return cause;
    note(std::move(cause));  // what follows from it, the program asks otherwise
  }
}

// What comes from outside between two decisions: the first that came between others. Empty: none.
std::string compared_orders(const recording::Recording& one, const recording::StreamFile& file,
                            Stream first, Stream second) {
  using channel::OrderKind;
  for (;; first.reader.take(), second.reader.take()) {
    const channel::Entry* const a = first.next({channel::Kind::kOrder});
    const channel::Entry* const b = second.next({channel::Kind::kOrder});
    if (!a || !b) return "";
    const bool is_same = a->number == b->number && a->check == b->check;
    if (is_same && a->result == b->result) continue;
    if (!is_same) return "";
    recording::Key key = file.key;
    key.task = a->check;
    std::string what;
    if (static_cast<OrderKind>(a->number) == OrderKind::kReturns) {
      what = who(key) + " came back from the kernel";
    } else if (static_cast<OrderKind>(a->number) == OrderKind::kSignal) {
      what = "a signal came to " + who(key);
      const auto its = std::ranges::find(one.streams, key, &recording::StreamFile::key);
      if (its != one.streams.end()) {
        Stream stream(one, *its);
        if (const channel::Entry* const signal = stream.next({channel::Kind::kSignal}))
          what = fmt::format("{} came to {}", recording::signal_name(signal->number), who(key));
      }
    } else {
      return "";  // that time passes, or that nobody goes on, follows from other things
    }
    return fmt::format("{} after {} turns the first time, {} now", what, a->result, b->result);
  }
}

}  // namespace

std::string other_answer(const Program& program, KeepOptions options, const std::string& schedule) {
  const WorkFolder folder;
  std::string recordings[2];
  for (std::string& recording : recordings) {
    options.directory = folder.path() + (&recording == recordings ? "/1" : "/2");
    recording = keep_recording(program, options, schedule, {}, [](const Outcome&) {
                  return true;
                }).directory;
    if (recording.empty()) return "";
  }
  try {
    return other_answer(recordings[0], recordings[1]);
  } catch (const recording::Damage&) { return ""; }
}

std::string other_answer(const std::string& first, const std::string& second) {
  const recording::Recording one(first), other(second);
  std::string unlikely, of_order;
  for (const recording::StreamFile& file : one.streams) {
    const bool is_order = file.key.task == recording::kOrderStream;
    if (!is_order && channel::is_points(file.key.task)) continue;
    const auto same = std::ranges::find(other.streams, file.key, &recording::StreamFile::key);
    if (same == other.streams.end()) continue;
    if (is_order) {
      if (of_order.empty())
        of_order = compared_orders(one, file, Stream(one, file), Stream(other, *same));
      continue;
    }
    const Cause cause = compared(Stream(one, file), Stream(other, *same));
    if (cause.is_likely) return cause.words;
    if (unlikely.empty()) unlikely = cause.words;
  }
  return of_order.empty() ? unlikely : of_order;
}

}  // namespace weir::cli::hunt
