#include "order/external_log.h"

#include <errno.h>

#include "order/admission.h"
#include "order/internal.h"
#include "order/waiting.h"

namespace weir::order {

namespace {

Journal g_journal{};

bool fits(const JournalEntry& entry, TaskState state) {
  switch (entry.kind) {
    case Outside::kReturns: return state == TaskState::kOutside;
    case Outside::kSignal: return state == TaskState::kBlocked;
    default: return true;
  }
}

void apply(Shared& s, Outside kind, Task& task) {
  switch (kind) {
    case Outside::kReturns:
      catch_up(task);
      task.order.state = TaskState::kArrived;
      break;
    case Outside::kSignal: finish_wait(task, EINTR); break;
    case Outside::kStands:
      s.order.deadlock_told = 1;
      report_waits();
      break;
    default: jump(s);
  }
}

// Those that have come since the last decision, in the order of their numbers: between two
// decisions it makes no difference.
void apply_all(Shared& s) {
  for (TaskId i = 0; i < s.order.high_task && s.order.coming; i++) {
    Task& task = s.tasks[i];
    if (!task.order.comes) continue;
    s.order.coming--;
    const auto kind = static_cast<Outside>(task.order.comes);
    task.order.comes = 0;
    if (fits({kind, i, 0}, task.order.state)) apply(s, kind, task);
  }
}

}  // namespace

void set_journal(const Journal& journal) { g_journal = journal; }
const Journal& journal() { return g_journal; }

void decide(Shared& s) {
  if (s.order.coming) apply_all(s);
  for (JournalEntry entry;
       g_journal.replaying && g_journal.peek(entry) && entry.decisions <= s.order.decisions;
       g_journal.take()) {
    Task& task = s.tasks[entry.task];
    if (fits(entry, task.order.state)) {
      apply(s, entry.kind, task);
    } else if (entry.kind != Outside::kSignal) {  // its wait had ended otherwise by then: so it was
                                                  // when this was recorded
      g_journal.differs(entry, task.order.state);
    }
  }
  s.order.decisions++;
}

void advance(Shared& s) {
  for (JournalEntry entry; g_journal.replaying && is_idle(s);) {
    if (!g_journal.peek(entry)) {
      g_journal.ended();
      return;
    }
    if (entry.decisions != s.order.decisions || !fits(entry, s.tasks[entry.task].order.state))
      g_journal.differs(entry, s.tasks[entry.task].order.state);
    apply(s, entry.kind, s.tasks[entry.task]);
    g_journal.take();
    if (next_arrived(s, 0)) start_serial(s);
  }
}

void come(Outside kind, Task& task) {
  Shared& s = shared();
  if (g_journal.recording) {
    g_journal.put({kind, task.id, s.order.decisions});
    if (!is_idle(s)) {
      task.order.comes = static_cast<uint32_t>(kind);
      s.order.coming++;
      return;
    }
  }
  apply(s, kind, task);
  if (kind != Outside::kStands) current().kick(s);
}

}  // namespace weir::order
