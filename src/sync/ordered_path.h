// What the FastPaths have in common under which operations on one object have an order of their own
// (sync/object_order.h): recorded, replayed, turn-free.
#pragma once

#include "sync/fast_path.h"
#include "sync/object_buckets.h"

namespace weir::object {

class OrderedPath : public FastPath {
 public:
  bool waits_without_turn() const override { return true; }
  void count_waiting(Task& task, int by) override {
    bucket_of(task).waiting += static_cast<uint32_t>(by);
  }
  bool wait_at_word(Task& task, const WordWait& wait) override;

 protected:
  ~OrderedPath() = default;

  // Of wait_at_word(): it is not to be made here.
  virtual bool is_interrupted(Task&) { return false; }
  // The task sleeps, and has slept.
  virtual void begin_sleeping(Task&) {}
  virtual void end_sleeping(Task&) {}
  // It has been woken, or `is_late`. True: it waits no longer. `since`: 0 at first.
  virtual bool gives_up(Task& task, bool is_late, uint64_t& since);
  // It is over, or given up.
  virtual void note_wait(Task&, bool /*given_up*/) {}
};

// Makes the operation in the order of its object. A Path has begin(), end() and give_up() (which
// are those of sync/object_order.h).
template <typename Path>
Result try_in_order(Path& path, Task& task, Operation& operation) {
  if (!path.begin(task, operation.object)) return Result::takes_turn();
  const Result result = operation.make_in_order(task);
  if (!result.is_made()) {
    path.give_up(task, operation.why());
    return result;
  }
  path.end(task);
  return operation.finish(task, result.value());
}

}  // namespace weir::object
