// Turn-free (weir check): operations on one object exclude each other by its bucket, and nothing is
// kept of them. Who has to wait looks for a while, then sleeps, and waits in turns at last, where
// signals, time limits and deadlocks are looked at.

#include "control/plan.h"
#include "control/process.h"
#include "order/delay.h"
#include "sync/event.h"
#include "sync/fast_path.h"
#include "sync/object_order.h"
#include "sync/ordered_path.h"
#include "sync/turn.h"
#include "sys/futex.h"
#include "view/view.h"

namespace weir::object {

namespace {

constexpr uint32_t kMaxPoints = 4096;  // in a row: heaps are exchanged in turns

// What may only be done in a turn waits for one.
bool is_turn_free(Task& task) {
  inject_delay(task);
  if (!task.pending && ++task.point.in_row < kMaxPoints) return true;
  task.point.in_row = 0;
  return false;
}

class TurnFree : public OrderedPath {
 public:
  // What the object's last user has mapped is there before it is used.
  bool begin(Task& task, uint64_t object) {
    WEIR_CHECK(!task.point.object);  // invariant 1 of object_order.h; invariant 2 of fast_path.h
    if (!is_turn_free(task)) return false;
    if (view::current().has_to_catch_up(task)) view::current().catch_up(task);
    acquire_bucket(task, object);
    // Signals that another task had sent before it made its last operation on the object are here:
    // they are handled first, as the kernel would have it.
    if (!runtime::lacks_mappings() && !__atomic_load_n(&task.inbox_count, __ATOMIC_ACQUIRE))
      return true;
    release_bucket(task);
    return false;
  }
  void end(Task& task) {
    task.spent.counters.fast_locks++;
    release_bucket(task);
  }
  void give_up(Task& task, const char*) { release_bucket(task); }

  Result try_in_runtime(Task& task, Operation& operation) override {
    Result result = try_in_order(*this, task, operation);
    if (!result.is_made() && operation.patience()) result = try_again(task, operation);
    return result.is_made() ? result : operation.sleep_until_made(task);
  }
  Result try_once(Task& task, Operation& operation) override {
    return operation.may_succeed() ? try_in_order(*this, task, operation) : Result::takes_turn();
  }
  bool may_go(Task& task) override { return is_turn_free(task) && !runtime::lacks_mappings(); }

  bool enter(Task& task, uint64_t object, Logging) override {
    WEIR_CHECK(!task.point.object);  // invariant 1 of object_order.h; invariant 2 of fast_path.h
    acquire_bucket(task, object);
    return true;
  }
  void leave(Task& task) override { release_bucket(task); }

  void count_waiting_at_word(Task& task, int by) override { count_waiting(task, by); }
  bool may_wait_in_turns(const Task& task) override { return has_waiting(task); }
  uint32_t wake_sleepers(const Task& task, uint64_t key, uint32_t count) override {
    return wake_turn_free(task, key, count);
  }
  // The word may lie where its holder only can touch it.
  void wake_word(Task& task, uint32_t* word) override {
    let_kernel_in(task);
    sys::futex_wake(word);
  }
  bool begin_sleep(Task& task, uint64_t object, uint64_t key) override {
    if (!begin(task, object)) return false;
    begin_turn_free_sleep(task, key);
    end(task);
    return true;
  }

 protected:
  ~TurnFree() = default;

  void begin_sleeping(Task& task) override { begin_kernel_sleep(task); }
  void end_sleeping(Task& task) override { end_kernel_sleep(task); }

 private:
  // As soon as it may be made: who has the object mostly gives it back before long. It is looked at
  // less and less often, as each look takes the object's memory from the processor of its user.
  Result try_again(Task& task, Operation& operation) {
    constexpr uint64_t kMaxPause = 16000;  // cycles
    uint64_t now = sys::cycles(), pause = 100;
    for (const uint64_t limit = now + operation.patience();;) {
      if (operation.may_succeed()) {
        const Result result = try_in_order(*this, task, operation);
        // Else another task was faster.
        if (result.is_made() || operation.may_succeed()) return result;
      }
      if (now >= limit) return Result::takes_turn();
      for (const uint64_t next = now + pause; now < next; now = sys::cycles()) sys::cpu_relax();
      if (pause < kMaxPause) pause *= 2;
    }
  }
};

class Plain final : public TurnFree {};

// What orders tasks is told (check/core/happens_before.h) where nobody watches the stack: by
// protection keys that may be the program's.
class Keyed final : public TurnFree {
 public:
  Result try_in_program(Task& task, Operation& operation) override {
    const Result result = try_in_order(*this, task, operation);
    if (result.is_made()) task.recorded.entries++;  // as if it had come in
    return result;
  }
};

constinit Plain g_plain;
constinit Keyed g_keyed;

}  // namespace

}  // namespace weir::object

namespace weir {

FastPath& turn_free_path() { return object::g_plain; }
FastPath& keyed_path() { return object::g_keyed; }

}  // namespace weir
