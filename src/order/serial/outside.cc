#include "order/serial/outside.h"

#include "base/atomic_enum.h"
#include "base/bytes.h"
#include "order/serial/ready.h"
#include "order/serial/run.h"
#include "sys/futex.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"

namespace weir::order::serial {
namespace {

// So long somebody may be on the way, where processors are few. Nanoseconds. Who computes in the
// kernel is waited for no more than a few times.
constexpr uint64_t kOnTheWay = 1'000'000'000, kShortly = 1'000'000;
// The end of a child process comes from outside; but a child of the program's own mostly ends soon,
// and by itself. So long the others wait for that, and so often in a run where it does not come.
constexpr uint64_t kForChild = 300'000'000;
constexpr uint32_t kMostInVain = 4;

// Whether the task runs, or would if it had a processor, or waits for a disk: it is no sleep that
// another task could end.
bool is_on_the_way(const Task& task) {
  char text[512];
  const int tid = __atomic_load_n(&task.identity.tid, __ATOMIC_ACQUIRE);
  const long length = sys::read_thread_file(tid, "/stat", text);
  // "TID (NAME) STATE ...": a name may have any bytes.
  for (long at = length - 3; at > 0; at--)
    if (text[at] == ')') return text[at + 2] == 'R' || text[at + 2] == 'D';
  return false;
}

bool is_outside(const Task& task) {
  return load_enum<__ATOMIC_ACQUIRE>(task.order.state) == TaskState::kOutside &&
         !__atomic_load_n(&task.order.comes, __ATOMIC_ACQUIRE);
}

bool waits_for_child(const Task& task) {
  const char* const what = __atomic_load_n(&task.order.wait_what, __ATOMIC_RELAXED);
  return what && equal_strings(what, "child process");
}

// Looks at once, then ever more seldom.
class Pause {
 public:
  void take() {
    constexpr uint32_t kYields = 20;
    constexpr long kLongest = 200'000;
    if (count_++ < kYields) {
      sys::raw(SYS_sched_yield);
      return;
    }
    if (time_.nanoseconds < kLongest) time_.nanoseconds *= 2;
    sys::raw(SYS_nanosleep, reinterpret_cast<long>(&time_), 0);
  }

 private:
  uint32_t count_ = 0;
  sys::Timespec time_{0, 5'000};
};

void await(const Task& task) {
  const bool is_patient = __atomic_load_n(&g_run.waits_in_vain, __ATOMIC_RELAXED) < kMostInVain;
  const bool is_for_child = waits_for_child(task) && is_patient;
  const uint64_t patience = is_for_child ? kForChild : is_patient ? kOnTheWay : kShortly;
  const uint64_t begin = sys::monotonic_ns();
  for (Pause pause; is_outside(task) && (is_for_child || is_on_the_way(task)); pause.take()) {
    if (sys::monotonic_ns() - begin < patience) continue;
    __atomic_fetch_add(&g_run.waits_in_vain, 1u, __ATOMIC_RELAXED);
    return;
  }
}

}  // namespace

void note_unsettled() { g_run.is_unsettled = true; }

void settle(const Shared& s) {
  if (!g_run.is_unsettled) return;
  g_run.is_unsettled = false;
  settle_all(s);
}

// Not noted when it begins the event: the turn may go to others before the call, which may be made
// only after the task has waited.
void settle_after(const Shared& s, Track& track) {
  if (track.may_wake) note_unsettled();
  settle(s);
}

void settle_all(const Shared& s) {
  if (replays()) return;  // nobody comes back but by the recording
  for (TaskId i = 0; i < s.order.high_task; i++)
    if (is_outside(s.tasks[i])) await(s.tasks[i]);
}

}  // namespace weir::order::serial
