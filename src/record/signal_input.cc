// Signals as what comes from outside: kept with the place where the task had come to, and taken
// from there.
#include "base/bytes.h"
#include "record/input.h"
#include "record/stream.h"
#include "sys/futex.h"

namespace weir::input {

using channel::Entry;
using channel::Kind;

void note_waiting_signal(const Task& task, int signal) {
  channel::WaitingSignal& waiting = recording::header().waiting;
  uint64_t none = 0;
  if (!recording() || !__atomic_compare_exchange_n(&waiting.since, &none, ~uint64_t{0}, false,
                                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return;
  waiting.signal = signal;
  waiting.process = task.recorded.ordinal;
  waiting.task = task.id;
  __atomic_store_n(&waiting.since, sys::monotonic_ns(), __ATOMIC_RELEASE);
}

void note_signals_taken(const Task& task) {
  if (!recording()) return;
  channel::WaitingSignal& waiting = recording::header().waiting;
  if (waiting.process == task.recorded.ordinal && waiting.task == task.id)
    __atomic_store_n(&waiting.since, uint64_t{0}, __ATOMIC_RELEASE);
}

void keep_signal(Task& task, int signal, const void* info) {
  recording::put(task, Entry{Kind::kSignal, 0, static_cast<uint16_t>(signal), 128, 0, 0, 0}, info);
}

void log_point(Task& task, const ExecutionPoint& point) {
  recording::put(task, Entry{Kind::kExecutionPoint, 0, 0, sizeof point, 0, 0, 0}, &point);
}

const ExecutionPoint* next_point(Task& task) {
  if (!replaying()) return nullptr;
  const Entry* entry = recording::peek(task);
  if (!entry || entry->kind != Kind::kExecutionPoint ||
      entry->event != recording::progress_of(task) || entry->size != sizeof(ExecutionPoint))
    return nullptr;
  return reinterpret_cast<const ExecutionPoint*>(recording::payload(*entry));
}

void take_point(Task& task) { recording::take(task, *recording::peek(task)); }

int take_signal(Task& task, void* info) {
  const Entry* entry = recording::peek(task);
  if (!entry || entry->kind != Kind::kSignal || entry->event != recording::progress_of(task))
    return 0;
  const int signal = entry->number;
  copy_bytes(info, recording::payload(*entry), 128);
  recording::take(task, *entry);
  return signal;
}

}  // namespace weir::input
