#include "order/sleep.h"

#include "control/control.h"
#include "control/process.h"
#include "order/order.h"
#include "sys/futex.h"

namespace weir::order {

void call_in_place_process() {
  InPlaceProcess& e = shared().in_place_process;
  __atomic_store_n(&e.calls, 1u, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&e.sleeps, __ATOMIC_SEQ_CST)) sys::futex_wake(&e.calls);
}

void wake_sleeper(Task& task) {
  // seq_cst: either the sleeper sees the word, or this sees that it sleeps.
  const bool is_called = __atomic_exchange_n(&task.order.wake_word, 1u, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&task.in_place.waits_in_place, __ATOMIC_SEQ_CST)) {
    call_in_place_process();
    return;
  }
  if (is_called) return;  // who set the word wakes it, and it sleeps no more
  if (__atomic_load_n(&task.order.sleeping, __ATOMIC_SEQ_CST))
    sys::futex_wake(&task.order.wake_word);
}

namespace {

// Whether a processor is free for one who looks, beside those who compute and those who look
// already.
bool has_room() {
  const Shared& s = shared();
  return current().busy_tasks(s) + __atomic_load_n(&s.order.lookers, __ATOMIC_RELAXED) <
         runtime::g_processors;
}

class Looking {
 public:
  Looking() { __atomic_fetch_add(&shared().order.lookers, 1u, __ATOMIC_RELAXED); }
  ~Looking() { __atomic_fetch_sub(&shared().order.lookers, 1u, __ATOMIC_RELAXED); }
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;
};

// A task that is woken in the kernel loses tens of microseconds, one that looks at its word none,
// but takes its processor from the one waited for, where there are more of them, or other programs.
// So each task looks for as long as has lately paid; now and then for longer, since all may wait
// long only because all sleep.
bool look(Task& task) {
  constexpr uint32_t kMin = 4'000, kMax = 400'000;  // cycles
  constexpr uint32_t kTries = 64;
  const bool room = has_room();
  if (room && task.order.sleeps++ % kTries == 0) task.order.spin_cycles = kMax;
  const uint64_t limit = task.order.called                       ? kMax
                         : room && task.order.spin_cycles > kMin ? task.order.spin_cycles
                                                                 : kMin;
  const uint64_t begin = sys::cycles();
  const Looking counted;
  do {
    if (__atomic_load_n(&task.order.wake_word, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&task.order.wake_word, 0u, __ATOMIC_SEQ_CST)) {
      if (task.order.called) {
        task.order.called = 0;
        return true;
      }
      task.order.spin_cycles = limit < kMax / 2 ? static_cast<uint32_t>(limit) * 2 : kMax;
      task.order.sleeps = 1;
      return true;
    }
    for (int k = 0; k < 8; k++) sys::cpu_relax();
  } while (sys::cycles() - begin < limit);
  if (!task.order.called) task.order.spin_cycles = static_cast<uint32_t>(limit) * 3 / 4;
  task.order.called = 0;
  return false;
}

}  // namespace

long sleep(Task& task, uint64_t nanoseconds) {
  if (look(task)) return 0;
  __atomic_store_n(&task.order.sleeping, 1u, __ATOMIC_SEQ_CST);
  long result = 0;
  if (!__atomic_load_n(&task.order.wake_word, __ATOMIC_SEQ_CST))
    result = sys::futex_wait(&task.order.wake_word, 0, nanoseconds);
  __atomic_store_n(&task.order.sleeping, 0u, __ATOMIC_SEQ_CST);
  if (__atomic_exchange_n(&task.order.wake_word, 0u, __ATOMIC_SEQ_CST)) return 0;
  return result;
}

bool worth_looking(const uint32_t* word) {
  constexpr uint64_t kMax = 100'000;  // cycles
  const uint64_t begin = sys::cycles();
  while (shared().order.live < runtime::g_processors && sys::cycles() - begin < kMax) {
    if (__atomic_load_n(word, __ATOMIC_RELAXED)) return true;
    for (int k = 0; k < 8; k++) sys::cpu_relax();
  }
  return false;
}

}  // namespace weir::order
