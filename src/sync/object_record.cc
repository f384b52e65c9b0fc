// Recorded: the order of operations on each object is kept (sync/object_order.h).

#include "channel/wait.h"
#include "control/control.h"
#include "order/delay.h"
#include "record/input.h"
#include "record/stream.h"
#include "sync/fast_path.h"
#include "sync/object_order.h"
#include "sync/object_points.h"
#include "sync/ordered_path.h"
#include "sync/turn.h"
#include "sys/report.h"

namespace weir::object {

namespace {

using channel::OpenPoints;
using channel::PointKind;

constexpr uint32_t kMaxInRow = 256;
constexpr uint64_t kFar = 200'000;  // cycles
constexpr uint32_t kRoom = 4;       // words that a point may need while a bucket is held

// The steps are in this order: whenever it is killed, each word is in the entry or here, and
// `first` says which it is where it is in both.
void make_entry(const Task& task, OpenPoints& open) {
  const auto count = static_cast<uint32_t>(open.state);
  const auto size = static_cast<uint32_t>(count * sizeof(uint64_t));
  channel::Ring ring = channel::Ring::at(channel::kChannel, point_stream(task) - 1);
  const channel::Entry entry{
      channel::Kind::kPoints,          0, 0, size, 0, recording::progress_of(task),
      static_cast<int64_t>(open.first)};
  recording::put_into(ring, entry, open.word, size, nullptr);
  __atomic_store_n(&open.state, open.state >> 32 << 32, __ATOMIC_RELEASE);
  open.first += count;
}

OpenPoints& with_room(const Task& task) {
  OpenPoints& open = open_points(task);
  if (static_cast<uint32_t>(open.state) + kRoom > OpenPoints::kMax) make_entry(task, open);
  return open;
}

void put(OpenPoints& open, PointKind kind, uint64_t value, bool more = false) {
  const uint64_t state = open.state;
  const auto count = static_cast<uint32_t>(state);
  open.word[count] = channel::encoded({kind, more, static_cast<uint32_t>(state >> 32), value});
  __atomic_store_n(&open.state, uint64_t{count} + 1, __ATOMIC_RELEASE);
}

void count_expected(OpenPoints& open) {
  if (open.state >> 32 == channel::kMaxSkipped) return put(open, PointKind::kExpected, 0);
  __atomic_store_n(&open.state, open.state + (uint64_t{1} << 32), __ATOMIC_RELEASE);
}

uint64_t number_word(const Task& task, const Bucket& bucket) {
  return uint64_t{(task.point.object - 1) & kBucketMask} << channel::kPointNumberBits |
         static_cast<uint32_t>(bucket.number);
}

// A point at the object whose bucket the task has.
void keep_operation(OpenPoints& open, const Task& task, const Bucket& bucket) {
  if (bucket.last == task.id + 1) {
    count_expected(open);
  } else {
    put(open, PointKind::kNumber, number_word(task, bucket));
  }
}

class Recorded final : public OrderedPath {
 public:
  bool begin(Task& task, uint64_t object) {
    WEIR_CHECK(!task.point.object);  // invariant 1 of object_order.h; invariant 2 of fast_path.h
    inject_delay(task);
    OpenPoints& open = with_room(task);
    const uint64_t now = sys::cycles();
    const bool takes_turn =
        task.pending || ++task.point.in_row >= kMaxInRow || now - task.point.at > kFar;
    task.point.at = now;
    if (takes_turn) {
      task.point.in_row = 0;
      put(open, PointKind::kTurn, 0);
      return false;
    }
    acquire_bucket(task, object);
    task.point.after = __atomic_load_n(&shared().order.decisions, __ATOMIC_ACQUIRE);
    return true;
  }
  void end(Task& task) {
    Bucket& bucket = bucket_of(task);
    OpenPoints& open = open_points(task);
    if (task.point.after != task.point.known_after) {
      const bool is_last = bucket.last == task.id + 1;
      put(open, PointKind::kAfter, task.point.after, !is_last);
      task.point.known_after = task.point.after;
      if (!is_last) put(open, PointKind::kNumber, number_word(task, bucket));
    } else {
      keep_operation(open, task, bucket);
    }
    count_operation(task);
    pass_bucket(task, bucket);
  }
  void give_up(Task& task, const char*) {
    put(open_points(task), PointKind::kTurn, 0);
    task.point.in_row = 0;
    release_bucket(task);
  }

  // A replay tries it in the runtime, which this counts as having entered.
  Result try_in_program(Task& task, Operation& operation) override {
    if (!operation.is_logged()) return Result::takes_turn();
    const Result result = try_in_order(*this, task, operation);
    if (result.is_made()) task.recorded.entries++;
    return result;
  }
  Result try_once(Task& task, Operation& operation) override {
    return try_logged_once(*this, task, operation);
  }

  bool enter(Task& task, uint64_t object, Logging logging) override {
    if (logging == Logging::kUnlogged) return false;
    WEIR_CHECK(!task.point.object);  // invariant 1 of object_order.h; invariant 2 of fast_path.h
    with_room(task);
    acquire_bucket(task, object);
    return true;
  }
  void leave(Task& task) override {
    Bucket& bucket = bucket_of(task);
    keep_operation(open_points(task), task, bucket);
    pass_bucket(task, bucket);
  }

  void on_turn(Task& task) override;

 protected:
  void note_wait(Task& task, bool given_up) override {
    OpenPoints& open = with_room(task);
    if (given_up) return put(open, PointKind::kTurn, 0);
    count_expected(open);
  }
};

// Operations without a turn that others have made since the turn before: this one comes after them.
void Recorded::on_turn(Task& task) {
  OpenPoints* open = &with_room(task);
  const Shared& s = shared();
  bool any = false;
  uint64_t value = 0;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    Counter& counter = objects().counters[i];
    const uint64_t done = __atomic_load_n(&counter.done, __ATOMIC_ACQUIRE);
    if (i == task.id || done == counter.noted) continue;
    counter.noted = done;
    if (any) put(*open, PointKind::kAwait, value, true);
    if (any) open = &with_room(task);
    any = true;
    value = uint64_t{i} << channel::kPointCountBits |
            (done & ((uint64_t{1} << channel::kPointCountBits) - 1));
  }
  if (any) {
    put(*open, PointKind::kAwait, value);
  } else {
    count_expected(*open);
  }
}

constinit Recorded g_recorded;

}  // namespace

}  // namespace weir::object

namespace weir {

FastPath& recorded_path() { return object::g_recorded; }

}  // namespace weir
