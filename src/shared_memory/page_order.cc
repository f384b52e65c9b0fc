// The order in which shared pages change hands, for a replay that is checked. In a replay each task
// has its own memory, with the recorded bytes at the same access, so nothing makes it wait for the
// task that has written them. A checked replay must wait: a task that takes a semaphore before
// another gives it would have learnt nothing from that one.
//
// So tasks count the points where pages may leave them. When a page is taken, the recording has the
// task that had it before, and that task's count. In a checked replay the taker waits for that
// count. A page that changes hands orders the two tasks, by one name for all pages
// (happens::kSharedMemory): in between it may have been another process's, which knows nothing of
// this one's clocks.
//
// Invariants
// 1. A task counts before its pages can go: before it sleeps (so also before the turn in which it
//    unmaps), before it asks for another page, at an event's end, and at a spin. (not checkable: a
//    page may go without its holder seeing it)
// 2. A task that takes a page reads the count afterwards. So all that a replay waits for had
//    happened, when that was recorded, before the waiting task went on: tasks do not wait in a
//    circle. (not checkable: it is about two runs)

#include "shared_memory/page_order.h"

#include "channel/wait.h"
#include "check/core/happens_before.h"
#include "record/input.h"
#include "record/stream.h"
#include "sys/futex.h"
#include "sys/syscall_x86_64.h"

namespace weir::shared_memory {

namespace {

uint64_t& points_of(uint32_t stream) {
  return reinterpret_cast<channel::Holder*>(channel::kChannel + channel::kHoldersAt)[stream].points;
}

}  // namespace

void come_by(Task& task) {
  if (happens::g_replayed) happens::on_release(happens::kSharedMemory);
  const uint32_t stream = recording::stream_number(task);
  if (stream < channel::kMaxStreams)
    __atomic_fetch_add(&points_of(stream), 1u, __ATOMIC_RELEASE);  // after what is told there
}

channel::PreviousHolder previous_holder_of(uint32_t stream) {
  if (!stream) return {};
  const channel::Slot& slot = recording::header().slot[stream - 1];
  return {slot.process, slot.task, __atomic_load_n(&points_of(stream - 1), __ATOMIC_ACQUIRE)};
}

void await_previous_holder(Task& task, const channel::PreviousHolder& previous_holder) {
  constexpr uint32_t kMaxSpins = 200;
  // Of a process that was killed the last entries may be missing.
  constexpr uint64_t kMaxWaitNs = 2'000'000'000;
  channel::Ring ring;
  if (!happens::g_replayed || !previous_holder.points ||
      !recording::ring_of(previous_holder.process, previous_holder.task, ring))
    return;
  const uint64_t& points = points_of(static_cast<uint32_t>(ring.slot - recording::header().slot));
  const auto has_come = [&] {
    return __atomic_load_n(&points, __ATOMIC_ACQUIRE) >= previous_holder.points;
  };
  for (uint32_t i = 0; i < kMaxSpins && !has_come(); i++) sys::cpu_relax();
  recording::Looking looking;
  for (uint64_t ended = 0, stands = 0; !has_come();) {
    looking.sleep();
    if (previous_holder.process == task.recorded.ordinal) recording::look_round(task, stands);
    const bool is_over = channel::is_closed(*ring.slot) && !ring.used();
    if (!is_over) ended = 0;
    else if (!ended) ended = sys::monotonic_ns();
    else if (sys::monotonic_ns() - ended > kMaxWaitNs) break;
  }
  happens::on_acquire(happens::kSharedMemory);
}

}  // namespace weir::shared_memory
