#include "order/external_log.h"

#include <errno.h>

#include "order/admission.h"
#include "order/internal.h"
#include "order/waiting.h"

namespace weir::order {

namespace {

ExternalLog g_external_log{};

bool fits(const ExternalEvent& entry, TaskState state) {
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
    case Outside::kStands: current().stand(s); break;
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

void set_external_log(const ExternalLog& external_log) { g_external_log = external_log; }
const ExternalLog& external_log() { return g_external_log; }

void decide(Shared& s) {
  if (s.order.coming) apply_all(s);
  for (ExternalEvent entry; g_external_log.replaying && g_external_log.peek(entry) &&
                            entry.decisions <= s.order.decisions;
       g_external_log.take()) {
    Task& task = s.tasks[entry.task];
    if (fits(entry, task.order.state)) {
      apply(s, entry.kind, task);
    } else if (entry.kind != Outside::kSignal) {  // its wait had ended otherwise by then: so it was
                                                  // when this was recorded
      g_external_log.differs(entry, task.order.state);
    }
  }
  s.order.decisions++;
}

void advance(Shared& s) {
  for (ExternalEvent entry; g_external_log.replaying && is_idle(s);) {
    if (!g_external_log.peek(entry)) {
      g_external_log.ended();
      return;
    }
    if (entry.decisions != s.order.decisions || !fits(entry, s.tasks[entry.task].order.state))
      g_external_log.differs(entry, s.tasks[entry.task].order.state);
    g_external_log.take();
    apply(s, entry.kind, s.tasks[entry.task]);
    if (next_arrived(s, 0)) current().kick(s);
  }
}

void come(Outside kind, Task& task) {
  Shared& s = shared();
  if (g_external_log.recording) {
    g_external_log.put({kind, task.id, s.order.decisions});
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
