// Another hash function for protection keys, while the tasks stand: invariant 5 of
// check/keys/enforce_by_key.cc.
#include "check/keys/rehash.h"

#include "base/hash.h"
#include "check/core/enforce_by_key.h"
#include "sys/futex.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked::keys {

uint32_t g_rehashing;

void wait_for_rehash() {
  while (const uint32_t seen = __atomic_load_n(&g_rehashing, __ATOMIC_SEQ_CST))
    sys::futex_wait(&g_rehashing, seen);
}

namespace {

constexpr uint64_t kMaxWaitNs = 50'000'000;  // nanoseconds

bool stands(const TaskState& state, const ThreadState& thread) {
  return state == TaskState::kFree || __atomic_load_n(&thread.is_over, __ATOMIC_ACQUIRE) ||
         __atomic_load_n(&thread.has_all_keys, __ATOMIC_SEQ_CST) ||
         __atomic_load_n(&thread.stands, __ATOMIC_ACQUIRE) ||
         __atomic_load_n(&thread.stop_asked, __ATOMIC_ACQUIRE) == 2;
}

template <typename Act>
void each_task(Act act) {
  Shared& s = shared();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    if (s.tasks[i].order.state != TaskState::kFree) act(s.tasks[i], state().threads[i]);
  }
}

void notify(const Task& task) {
  const int tid = __atomic_load_n(&task.identity.tid, __ATOMIC_ACQUIRE);
  if (tid) sys::raw(SYS_tkill, tid, sys::g_probe_signal);
}

void stop_tasks() {
  each_task([](Task& task, ThreadState& thread) {
    if (stands(task.order.state, thread)) return;
    __atomic_store_n(&thread.stop_asked, 1u, __ATOMIC_SEQ_CST);
    notify(task);
  });
  const uint64_t limit = sys::monotonic_ns() + kMaxWaitNs;
  each_task([&](Task& task, ThreadState& thread) {
    while (!stands(task.order.state, thread) && sys::monotonic_ns() < limit)
      sys::raw(SYS_sched_yield);
  });
}

}  // namespace

void rehash() {
  uint64_t words[2] = {sys::cycles(), mix(sys::cycles())};
  sys::raw(SYS_getrandom, reinterpret_cast<long>(words), sizeof words, 0);
  __atomic_store_n(&g_rehashing, 1u, __ATOMIC_SEQ_CST);
  stop_tasks();
  g_domains.rehash(words[0], words[1]);
  ObjectTable& table = objects();
  for (uint32_t index = table.find_above(0); index;
       index = table.find_above(table.at(index).limit())) {
    Declared& object = table.at(index);
    const SpinGuard guard(object.lock);
    if (object.origin == Origin::kNone || object.is_left) continue;
    if (object.is_freed || object.has_domain() || Domains::is_hashed(object.rules))
      follow_policy(object);
  }
  // Who may have missed it (invariant 5) has the old register.
  bool late[kMaxTasks] = {};
  each_task([&](const Task& task, const ThreadState& thread) {
    late[task.id] = !__atomic_load_n(&thread.stands, __ATOMIC_ACQUIRE) &&
                    !__atomic_load_n(&thread.has_all_keys, __ATOMIC_SEQ_CST);
  });
  __atomic_store_n(&g_rehashing, 0u, __ATOMIC_SEQ_CST);
  sys::futex_wake(&g_rehashing, 0x7fffffff);
  each_task([&](const Task& task, const ThreadState&) {
    if (late[task.id]) notify(task);
  });
}

void stand_if_asked(Task& task, bool in_program) {
  ThreadState& thread = thread_of(task);
  if (!__atomic_load_n(&g_rehashing, __ATOMIC_SEQ_CST)) return;
  if (!in_program) return __atomic_store_n(&thread.stop_asked, 2u, __ATOMIC_RELEASE);
  __atomic_store_n(&thread.stands, 1u, __ATOMIC_RELEASE);
  wait_for_rehash();
  __atomic_store_n(&thread.stop_asked, 0u, __ATOMIC_RELAXED);
  __atomic_store_n(&thread.stands, 0u, __ATOMIC_RELEASE);
}

}  // namespace weir::view::checked::keys
