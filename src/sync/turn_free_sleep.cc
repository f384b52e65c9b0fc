// If nothing is recorded: sleeps without a turn, in the list of an object's bucket.
#include <errno.h>

#include "control/control.h"
#include "sync/event.h"
#include "sync/object_buckets.h"
#include "sync/object_order.h"
#include "sys/futex.h"

namespace weir::object {

namespace {

// Takes out of the bucket's list up to `count` of whom `goes` says so. How many. Once its word says
// that it is woken, a task may be in another list.
template <typename Goes>
uint32_t take_out(Bucket& bucket, uint32_t count, Goes goes) {
  uint32_t found = 0;
  for (uint32_t* link = &bucket.first_turn_free; *link && found < count;) {
    Task& other = shared().tasks[*link - 1];
    if (!goes(other)) {
      link = &other.point.next_turn_free;
      continue;
    }
    *link = other.point.next_turn_free;
    __atomic_store_n(&other.point.sleeps_turn_free, 0u, __ATOMIC_RELEASE);
    if (&other != &self()) sys::futex_wake(&other.point.sleeps_turn_free);
    found++;
  }
  return found;
}

}  // namespace

void begin_turn_free_sleep(Task& task, uint64_t key) {
  uint32_t* link = &bucket_of(task).first_turn_free;
  while (*link) link = &shared().tasks[*link - 1].point.next_turn_free;
  task.point.turn_free_key = key;
  task.point.next_turn_free = 0;
  __atomic_store_n(&task.point.sleeps_turn_free, 1u, __ATOMIC_RELEASE);
  *link = task.id + 1;
}

bool end_turn_free_sleep(Task& task) {
  return take_out(bucket_of(task), 1, [&](const Task& other) { return &other == &task; }) != 0;
}

uint32_t wake_turn_free(const Task& task, uint64_t key, uint32_t count) {
  return take_out(bucket_of(task), count,
                  [&](const Task& other) { return other.point.turn_free_key == key; });
}

void sleep_turn_free(Task& task, uint64_t nanoseconds, bool is_exact) {
  begin_kernel_sleep(task);
  uint64_t limit = is_exact ? sys::monotonic_ns() + nanoseconds
                            : 0;  // else from the first wake-up on that was for something else:
                                  // mostly there is none, and no clock is asked
  while (__atomic_load_n(&task.point.sleeps_turn_free, __ATOMIC_ACQUIRE) && !task.pending) {
    if (sys::futex_wait(&task.point.sleeps_turn_free, 1, nanoseconds) == -ETIMEDOUT) break;
    if (!__atomic_load_n(&task.point.sleeps_turn_free, __ATOMIC_ACQUIRE)) break;
    const uint64_t now = sys::monotonic_ns();
    if (!limit) limit = now + nanoseconds;
    if (now >= limit) break;
    nanoseconds = limit - now;
  }
  end_kernel_sleep(task);
}

}  // namespace weir::object
