// Numbers that the runtime keeps (What), and looks at what comes next in a replay.

#include "control/control.h"
#include "record/input.h"
#include "record/stream.h"

namespace weir::input {

using channel::Entry;
using channel::Kind;

int64_t log_number(What what, int64_t now) {
  if (!is_on()) return now;
  Task& task = self();
  if (recording()) {
    recording::put(task, Entry{Kind::kValue, 0, static_cast<uint16_t>(what), 0, 0, 0, now});
    return now;
  }
  const Entry& entry = recording::next(task);
  if (entry.kind != Kind::kValue || entry.number != static_cast<uint16_t>(what))
    recording::diverged(task, entry, "a number", static_cast<int64_t>(what));
  const int64_t then = entry.result;
  recording::take(task, entry);
  return then;
}

bool next_is(What what) {
  Task& task = self();
  const Entry* entry = recording::peek(task);
  return entry && entry->kind == Kind::kValue && entry->number == static_cast<uint16_t>(what) &&
         entry->event == recording::progress_of(task);
}

bool next_is_call(long number) {
  Task& task = self();
  const Entry* entry = recording::peek(task);
  return entry && entry->kind == Kind::kCall && entry->number == number &&
         entry->event == recording::progress_of(task);
}

bool next_is(What what, int64_t value) {
  return next_is(what) && recording::peek(self())->result == value;
}

}  // namespace weir::input
