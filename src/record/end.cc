// A recorded process's end: what is kept of it, and what a replay waits for before it ends too.
#include <signal.h>
#include <sys/wait.h>

#include "channel/wait.h"
#include "control/control.h"
#include "control/process.h"
#include "record/divergence_stack.h"
#include "record/input.h"
#include "record/pause.h"
#include "record/stream.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/signal.h"

namespace weir::recording {

using channel::Entry;
using channel::Header;
using channel::Kind;
using channel::Ring;

namespace {

constexpr uint32_t kNobody = kMaxTasks;

// All that was recorded of a process has been taken; with a task `except`, all that its other tasks
// were told. `taken`: how much has been, of the streams that are not at their end.
bool is_used_up(uint32_t process, uint32_t except = kNobody, uint64_t* taken = nullptr) {
  const Header& h = header();
  const uint32_t slots = __atomic_load_n(&h.slots, __ATOMIC_ACQUIRE);
  bool used_up = true;
  for (uint32_t i = 0; i < slots && i < channel::kMaxStreams; i++) {
    if (h.slot[i].process != process || channel::is_points(h.slot[i].task)) continue;
    if (except != kNobody && (h.slot[i].task == except || h.slot[i].task == channel::kOrderTask))
      continue;
    const uint64_t used = Ring::at(channel::kChannel, i).used();
    if (channel::is_closed(h.slot[i]) && !used) continue;
    used_up = false;
    if (taken) *taken += __atomic_load_n(&h.slot[i].tail, __ATOMIC_ACQUIRE);
  }
  return used_up;
}

// The signal that the task is sending, which the program does not handle and of which it dies: the
// last that it did. 0: something else.
int last_signal(const Task& task) {
  if (!task.frame) return 0;
  const Frame& f = *task.frame;
  uint64_t signal = 0;
  switch (f.rax) {
    case SYS_kill:
    case SYS_tkill:
    case SYS_rt_sigqueueinfo: signal = f.rsi; break;
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo: signal = f.rdx; break;
    default: return 0;
  }
  if (signal == 0 || signal >= sys::kFirstRealTime ||
      sys::is_ignored_by_default(static_cast<int>(signal)))
    return 0;
  return shared().signals.actions[signal].handler ? 0 : static_cast<int>(signal);
}

// Nobody computes, and nobody is at the end of what is recorded of it: whoever is waited for does
// not come.
bool stands(const Task& waiter) {
  const Shared& s = shared();
  const Header& h = header();
  if (__atomic_load_n(&h.at_end, __ATOMIC_ACQUIRE) || h.stop.progress || h.stop.pid) return false;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    if (&task != &waiter && task.order.state == TaskState::kRunning && !task.in_runtime)
      return false;
  }
  return true;
}

}  // namespace

void ended(Task& task) {
  uint32_t never = 0;
  __atomic_store_n(&header().pid[task.recorded.ordinal], -1,
                   __ATOMIC_RELEASE);  // nobody need wait for its end
  note_end();
  if (const int signal =
          is_looked_at()
              ? last_signal(task)
              : 0) {  // the debugger stops where the program died; else the command ends it
    const uint64_t none = 0;
    sys::raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&none), 0, sizeof none);
    sys::raw(SYS_tgkill, sys::raw(SYS_getpid), sys::raw(SYS_gettid), signal);
  }
  for (;;) {
    sys::futex_wait(&never, 0, 1'000'000'000);
    end_if_gone();
  }
}

void end_unrecorded(Task& task) {
  if (task.recorded.ordinal == 0) ended(task);  // the command ends it as the recording did
  leave(0);
}

void let_others_arrive(const Task& task) {
  constexpr uint64_t kMaxWaitNs = 3'000'000'000;
  if (!input::replaying()) return;
  Looking looking;
  uint64_t since = sys::monotonic_ns(), before = 0;
  for (uint64_t taken = 0; !is_used_up(task.recorded.ordinal, task.id, &taken); taken = 0) {
    if (taken != before) since = sys::monotonic_ns();
    if (sys::monotonic_ns() - since > kMaxWaitNs) return;
    before = taken;
    looking.sleep();
  }
}

void let_other_execute(const Task& task) {
  constexpr uint64_t kMaxWaitNs = 5'000'000'000;
  const Shared& s = shared();
  if (!g_tasks_active) return;
  const auto goes_on = [&](TaskId i, uint64_t& sum) {
    const Task& other = s.tasks[i];
    if (&other == &task || other.order.state == TaskState::kFree) return false;
    sum += progress_of(other);
    return other.order.state == TaskState::kRunning && !other.in_runtime;
  };
  Looking looking;
  uint64_t since = sys::monotonic_ns(), before = 0;
  while (sys::monotonic_ns() - since < kMaxWaitNs) {
    uint64_t sum = 0;
    bool computes = false;
    for (TaskId i = 0; i < s.order.high_task; i++) computes |= goes_on(i, sum);
    if (computes || sum != before) since = sys::monotonic_ns();
    before = sum;
    looking.sleep();
  }
}

bool compares_end(Task& task) {
  if (!input::replaying()) return true;
  const Entry* recorded = peek(task);
  return recorded && recorded->kind == Kind::kEnd && !channel::is_death(*recorded) &&
         reinterpret_cast<const channel::End*>(payload(*recorded))->memory;
}

void end_program(int code, uint64_t memory) {
  Task& task = self();
  const channel::End end{shared().order.schedule_hash, memory};
  Entry entry{Kind::kEnd, 0, channel::kProgramExits, sizeof end, 0, 0, code};
  if (input::recording()) {
    put(task, entry, &end);
    return;
  }
  const Entry& recorded = next(task);
  if (recorded.kind != Kind::kEnd || channel::is_death(recorded) || recorded.result != code)
    diverged(task, recorded, "the program ended with", code);
  const auto& was = *reinterpret_cast<const channel::End*>(payload(recorded));
  if (was.schedule != end.schedule)
    report("the replay differs from the recording: at its end the schedule's hash is %x, was %x",
           end.schedule, was.schedule);
  if (was.memory && end.memory && was.memory != end.memory)
    report("the replay differs from the recording: at its end the memory's hash is %x, was %x",
           end.memory, was.memory);
  const bool same =
      was.schedule == end.schedule && (!was.memory || !end.memory || was.memory == end.memory);
  take(task, recorded);
  if (!same) end_different();
}

namespace {

// The program dies of the first task's fault alone. The others wait for that.
bool is_first_to_die(const Task& task) {
  if (task.identity.in_vfork) return true;  // it dies alone
  return !__atomic_exchange_n(&shared().recording.is_dying, 1u, __ATOMIC_ACQ_REL);
}

[[noreturn]] void wait_for_death() {
  uint32_t never = 0;
  for (;;) {
    sys::futex_wait(&never, 0, 1'000'000'000);
    end_if_gone();
  }
}

// Dies of another thing than is recorded, or elsewhere.
[[noreturn]] void died_otherwise(const Task& task, const Entry& recorded, int signal,
                                 const channel::Death& now) {
  const auto& was = *reinterpret_cast<const channel::Death*>(payload(recorded));
  report("the replay differs from the recording in process %u, task %u, event %u:",
         uint64_t{task.recorded.ordinal}, uint64_t{task.id}, uint64_t{progress_of(task)});
  report("  recorded: it dies of signal %d at %x, address %x", recorded.result, was.rip,
         was.address);
  report("  now: it dies of signal %d at %x, address %x", int64_t{signal}, now.rip, now.address);
  note_place(task);
  end_different();
}

// Replaying: the next entry has to be this death.
void take_death(Task& task, uint16_t number, int signal, const channel::Death& now) {
  const Entry& recorded = next(task);
  if (!channel::is_death(recorded) || recorded.number != number)
    diverged(task, recorded, "the program dies of signal", signal);
  if (recorded.result != signal ||
      !(*reinterpret_cast<const channel::Death*>(payload(recorded)) == now))
    died_otherwise(task, recorded, signal, now);
  take(task, recorded);
}

}  // namespace

void end_by_fault(Task& task, int signal, const channel::Death& death) {
  if (input::recording()) {
    if (!is_first_to_die(task)) wait_for_death();
    put(task, {Kind::kEnd, 0, channel::kProgramFaults, sizeof death, 0, 0, signal}, &death);
    return;
  }
  if (is_task()) let_others_arrive(task);
  take_death(task, channel::kProgramFaults, signal, death);
}

void note_deadly(Task& task, int signal, const channel::Death& call) {
  if (input::recording()) {
    put(task, {Kind::kEnd, 0, channel::kProgramSends, sizeof call, 0, 0, signal}, &call);
    return;
  }
  const Entry* recorded = peek(task);
  if (recorded && channel::is_death(*recorded))
    take_death(task, channel::kProgramSends, signal, call);
}

void look_round(const Task& task, uint64_t& since) {
  constexpr uint64_t kMaxWaitNs = 10'000'000'000;
  const Header& h = header();
  if (channel::is_gone(h) || channel::is_dead(h)) ended(self());
  const uint64_t now = sys::monotonic_ns();
  if (!stands(task)) {
    since = 0;
  } else if (!since) {
    since = now;
  } else if (now - since > kMaxWaitNs) {
    point_differs(task, "others come before it here", "they do not come");
  }
}

void note_child(int pid, uint32_t ordinal) {
  Shared& s = shared();
  s.recording.children[s.recording.child_count++ % kRecordedChildren] = {pid, ordinal};
}

void await_child(int pid, int signal) {
  const uint64_t patience = signal && !sys::is_own_end(signal) ? 1'000'000'000 : 10'000'000'000;
  Shared& s = shared();
  for (auto& child : s.recording.children) {
    if (child.pid != pid) continue;
    child.pid = 0;
    const int32_t& real = header().pid[child.ordinal];
    Looking looking;
    uint64_t since = 0;
    for (int now; (now = __atomic_load_n(&real, __ATOMIC_ACQUIRE)) >= 0;) {
      if (now > 0) {
        if (!has_monitor())
          sys::raw(SYS_wait4, now, 0, WNOHANG | __WALL, 0);  // else the monitor does
        if (sys::raw(SYS_kill, now, 0) != 0) return;
        if (!is_used_up(child.ordinal)) since = 0;
        else if (!since) since = sys::monotonic_ns();
        else if (sys::monotonic_ns() - since > patience) sys::raw(SYS_kill, now, SIGKILL);
      }
      looking.sleep();
    }
    return;
  }
}

}  // namespace weir::recording
