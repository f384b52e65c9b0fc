// Where nothing is kept: sleeps without a turn, in the list of an object's slot.
#include <errno.h>

#include "control/control.h"
#include "sync/event.h"
#include "sync/object_order.h"
#include "sync/object_slots.h"
#include "sys/futex.h"

namespace weir::object {

namespace {

// Takes out of the slot's list up to `count` of whom `goes` says so. How many. Once its word says
// that it is woken, a task may be in another list.
template <typename Goes>
uint32_t take_out(Slot& slot, uint32_t count, Goes goes) {
  uint32_t found = 0;
  for (uint32_t* link = &slot.first_apart; *link && found < count;) {
    Task& other = shared().tasks[*link - 1];
    if (!goes(other)) {
      link = &other.point.next_apart;
      continue;
    }
    *link = other.point.next_apart;
    __atomic_store_n(&other.point.sleeps_apart, 0u, __ATOMIC_RELEASE);
    if (&other != &self()) sys::futex_wake(&other.point.sleeps_apart);
    found++;
  }
  return found;
}

}  // namespace

void begin_sleep_apart(Task& task, uint64_t key) {
  uint32_t* link = &slot_of(task).first_apart;
  while (*link) link = &shared().tasks[*link - 1].point.next_apart;
  task.point.apart_key = key;
  task.point.next_apart = 0;
  __atomic_store_n(&task.point.sleeps_apart, 1u, __ATOMIC_RELEASE);
  *link = task.id + 1;
}

bool end_sleep_apart(Task& task) {
  return take_out(slot_of(task), 1, [&](const Task& other) { return &other == &task; }) != 0;
}

uint32_t wake_apart(const Task& task, uint64_t key, uint32_t count) {
  return take_out(slot_of(task), count,
                  [&](const Task& other) { return other.point.apart_key == key; });
}

void sleep_apart(Task& task, uint64_t nanoseconds, bool is_exact) {
  begin_kernel_sleep(task);
  uint64_t limit = is_exact ? sys::monotonic_ns() + nanoseconds
                            : 0;  // else from the first wake-up on that was for something else:
                                  // mostly there is none, and no clock is asked
  while (__atomic_load_n(&task.point.sleeps_apart, __ATOMIC_ACQUIRE) && !task.pending) {
    if (sys::futex_wait(&task.point.sleeps_apart, 1, nanoseconds) == -ETIMEDOUT) break;
    if (!__atomic_load_n(&task.point.sleeps_apart, __ATOMIC_ACQUIRE)) break;
    const uint64_t now = sys::monotonic_ns();
    if (!limit) limit = now + nanoseconds;
    if (now >= limit) break;
    nanoseconds = limit - now;
  }
  end_kernel_sleep(task);
}

}  // namespace weir::object
