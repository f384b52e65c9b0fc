#include "sync/ordered_path.h"

#include <errno.h>

#include "control/process.h"
#include "sys/futex.h"

namespace weir::object {

bool OrderedPath::gives_up(Task& task, bool is_late, uint64_t&) { return task.pending || is_late; }

// Who waits looks for a moment, where it takes no other task's processor for that, then sleeps in
// the kernel; after a while, or if a signal has come, it waits in turns, where a deadlock is found.
bool OrderedPath::wait_at_word(Task& task, const WordWait& wait) {
  const uint32_t looks = shared().order.live <= runtime::g_processors ? 50 : 0;
  constexpr uint64_t kSleep = 50'000'000;
  if (is_interrupted(task)) return false;
  bool given_up = false, sleeps = false;
  uint64_t since = 0;
  for (uint32_t i = 0; wait.goes_on() && !given_up; i++) {
    if (i < looks) {
      sys::cpu_relax();
      continue;
    }
    if (!sleeps) begin_sleeping(task);
    sleeps = true;
    const uint32_t seen = __atomic_load_n(wait.word, __ATOMIC_ACQUIRE);
    if (!wait.goes_on()) break;
    const long result = sys::futex_wait(wait.word, seen, kSleep);
    given_up = gives_up(task, result == -ETIMEDOUT, since) && wait.goes_on();
  }
  if (sleeps) end_sleeping(task);
  note_wait(task, given_up);
  return !given_up;
}

}  // namespace weir::object
