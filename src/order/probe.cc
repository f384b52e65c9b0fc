#include "order/probe.h"

#include <signal.h>

#include "order/external_log.h"
#include "order/waiting.h"
#include "sys/futex.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::order {

namespace {

constexpr uint64_t kStallNs = 10'000'000'000;
constexpr uint64_t kDebuggedStallNs = 1'000'000'000;
// A task that has nothing that others wait for may compute for so long.
constexpr uint64_t kUnwantedNs = 500'000;

// When the task is to be asked next: it has been found late again.
uint64_t next_probe(Task& task) {
  const Traits& traits = current().traits();
  if (!traits.is_exact) return kPreempt;
  if (task.order.probes++ % kSamplesPerProbe) return traits.next_sample;
  task.order.probe_interval =
      task.order.probe_interval ? task.order.probe_interval * 2 : traits.first_probe;
  if (task.order.probe_interval > kMaxProbeNs) task.order.probe_interval = kMaxProbeNs;
  return task.order.probe_interval;
}

// Others wait for what the task has, or have sent it a signal.
bool is_wanted(const Task& task) {
  return replays() || task.inbox_count ||
         __atomic_load_n(&task.pages.asked_since, __ATOMIC_RELAXED) != 0;
}

}  // namespace

bool is_overdue(const Shared& s, const Task& task) {
  if ((task.in_runtime && !task.recorded.in_look) || is_creating(task)) return false;
  return task.order.state == TaskState::kRunning || s.order.turn == task.id;
}

bool asks_for_all(const Task& task, uint64_t& patience) {
  constexpr uint64_t kMin = 1'000'000, kTimes = 4;
  OrderState& order = shared().order;
  if (replays()) return true;
  const uint32_t asker = __atomic_load_n(&order.asker, __ATOMIC_RELAXED);
  const uint64_t due = sys::cycles() + patience * sys::kCyclesPerNs;
  if (asker && asker != task.id + 1 &&
      __atomic_load_n(&shared().tasks[asker - 1].order.sleeping, __ATOMIC_RELAXED) &&
      __atomic_load_n(&order.asker_due, __ATOMIC_RELAXED) <= due) {
    patience = patience * kTimes < kMin ? kMin : patience * kTimes;
    if (patience > kMaxProbeNs) patience = kMaxProbeNs;
    return false;
  }
  // Where two do so at once, both ask.
  __atomic_store_n(&order.asker_due, due, __ATOMIC_RELAXED);
  __atomic_store_n(&order.asker, task.id + 1, __ATOMIC_RELAXED);
  return true;
}

// Asks tasks that have not arrived for a while what they are doing. Answers when it would ask
// again: soon, or 0.
uint64_t probe(const Task* waiter) {
  Shared& s = shared();
  const Traits& traits = current().traits();
  if (!traits.asks_overdue) return 0;
  uint64_t soon = 0;
  const uint64_t next = traits.next_sample;
  const uint64_t now = sys::monotonic_ns();
  const Task* stalled = nullptr;
  const bool is_debugged = external_log().looked_at && *external_log().looked_at;
  s.order.lock.lock();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Task& task = s.tasks[i];
    if (&task == waiter || !is_overdue(s, task) || task.spin.stepping) continue;
    // Read once: the task forgets it when it arrives, without the lock. Another waiter may have set
    // it after `now`.
    uint64_t overdue_since = __atomic_load_n(&task.order.overdue_since, __ATOMIC_RELAXED);
    if (!overdue_since) {  // its last event may have been just now
      task.order.overdue_since = overdue_since = now;
      task.order.probes = 1;
      if (traits.is_exact) task.order.next_probe = now + next;
    }
    if (traits.asks_for_pages && !is_wanted(task) && now < overdue_since + kUnwantedNs) continue;
    if (now < __atomic_load_n(&task.pages.defers_until, __ATOMIC_RELAXED)) continue;
    if (is_debugged && now < overdue_since + kDebuggedStallNs) continue;  // a debugger may hold it
    if (traits.is_exact && (now < task.order.next_probe ? task.order.next_probe - now <= next
                                                        : task.order.probes % kSamplesPerProbe))
      soon = next;
    if (now < task.order.next_probe) continue;
    task.order.next_probe =
        now + (is_debugged ? kDebuggedStallNs : next_probe(task));  // while it is held they queue
    if (traits.is_exact && !is_debugged && now > overdue_since + kStallNs && !s.order.stall_told) {
      s.order.stall_told = 1;
      stalled = &task;
      __atomic_store_n(&task.order.place_wanted, 1u, __ATOMIC_RELEASE);
    }
    sys::raw(SYS_tkill, task.in_place.away ? s.in_place_process.tid : task.identity.tid,
             sys::g_probe_signal);
  }
  s.order.lock.unlock();
  if (!stalled) return soon;
  report_stall(*stalled, kStallNs / 1'000'000'000);
  return soon;
}

void probe_overdue() {
  uint32_t never = 0;
  for (uint32_t i = 0; i < kSamplesPerProbe && probe(nullptr); i++)
    sys::futex_wait(&never, 0, kNextSampleNs);
}

// Fenced: counted when the phase began, since others may have arrived by now. Unfenced: the turn
// came back at once.
void tick() {
  static uint64_t last_round = 0;
  Shared& s = shared();
  const uint64_t round = __atomic_load_n(&s.order.round, __ATOMIC_RELAXED);
  if (round == last_round && __atomic_load_n(&s.order.running, __ATOMIC_RELAXED) >
                                 (current().traits().is_exact ? 0u : 1u)) {
    probe_overdue();
  }
  last_round = round;
}

}  // namespace weir::order
