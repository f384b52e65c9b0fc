// Replayed: operations on each object come in the order that the recording has
// (sync/object_order.h).

#include <errno.h>

#include "channel/wait.h"
#include "control/control.h"
#include "record/stream.h"
#include "sync/fast_path.h"
#include "sync/object_order.h"
#include "sync/object_points.h"
#include "sync/ordered_path.h"
#include "sys/futex.h"
#include "sys/report.h"

namespace weir::object {

namespace {

using channel::Point;
using channel::PointKind;

constexpr uint64_t kLooks = 200;
constexpr uint64_t kLookAgain = 1'000'000;  // nanoseconds

[[noreturn]] void differs(const Task& task, const Point& was, const char* now) {
  static const char* const kWas[] = {"another operation on the object that it had last",
                                     "an operation on an object that another task had before",
                                     "an operation that takes a turn",
                                     "an operation that comes after others' turns",
                                     "a turn that comes after others' operations",
                                     "nothing"};
  recording::point_differs(
      task, kWas[was.kind <= PointKind::kEnd ? static_cast<uint32_t>(was.kind) : 0u], now);
}

// The next word; at the stream's end it does not return.
Point peek(Task& task) {
  const uint32_t index = point_stream(task);
  if (!index) recording::ended(task);
  channel::Ring ring = channel::Ring::at(channel::kChannel, index - 1);
  const channel::Entry* entry = recording::peek_in(ring);
  if (!entry) recording::ended(task);
  uint64_t word;
  const auto taken = static_cast<uint32_t>(recording::header().points[index - 1].state);
  if (entry->kind != channel::Kind::kPoints || (taken + 1) * sizeof word > entry->size)
    recording::ended(task);
  copy_bytes(&word, recording::payload(*entry) + taken * sizeof word, sizeof word);
  return channel::decoded_point(word);
}

void take(Task& task) {
  const uint32_t index = point_stream(task);
  channel::Ring ring = channel::Ring::at(channel::kChannel, index - 1);
  const channel::Entry& entry = *recording::peek_in(ring);
  uint64_t& state = recording::header().points[index - 1].state;
  state = static_cast<uint32_t>(state) + 1;
  if (state * sizeof(uint64_t) < entry.size) return;
  state = 0;
  recording::take_from(ring, entry);
}

// False: the point that the task is at was as expected. True: `point` is the first word of it.
bool is_told(Task& task, Point& point) {
  point = peek(task);
  uint64_t& state = recording::header().points[point_stream(task) - 1].state;
  if (point.skip > state >> 32) {
    state += uint64_t{1} << 32;
    return false;
  }
  if (point.kind == PointKind::kEnd) recording::ended(task);
  if (point.kind != PointKind::kExpected) return true;
  take(task);
  return false;
}

// Who does what is waited for counts `calls` and wakes, where there are `sleepers`.
template <typename Ready>
void wait_until(const Task& task, Ready ready, uint32_t* sleepers, uint32_t* calls) {
  for (uint64_t i = 0; i < kLooks; i++) {
    if (ready()) return;
    sys::cpu_relax();
  }
  uint64_t stands_since = 0;
  __atomic_fetch_add(sleepers, 1u, __ATOMIC_SEQ_CST);
  for (;;) {
    const uint32_t seen = __atomic_load_n(calls, __ATOMIC_SEQ_CST);
    if (ready()) break;
    const long result = sys::futex_wait(calls, seen, kLookAgain);
    if (result != -ETIMEDOUT) continue;
    recording::look_round(task, stands_since);
  }
  __atomic_fetch_sub(sleepers, 1u, __ATOMIC_SEQ_CST);
}

void call(uint32_t& sleepers, uint32_t& calls) {
  if (!__atomic_load_n(&sleepers, __ATOMIC_SEQ_CST)) return;
  __atomic_fetch_add(&calls, 1u, __ATOMIC_SEQ_CST);
  sys::futex_wake(&calls, 0x7fffffff);
}

// Waits until it is the task's, as it was recorded.
void lock_bucket(Task& task, uint32_t index, const Point* told) {
  Bucket& bucket = objects().buckets[index];
  if (told) {
    const auto wanted = static_cast<uint32_t>(told->value);
    const auto behind = [&] {
      return static_cast<int32_t>(
          wanted - static_cast<uint32_t>(__atomic_load_n(&bucket.number, __ATOMIC_ACQUIRE)));
    };
    if (told->kind != PointKind::kNumber ||
        told->value >> channel::kPointNumberBits != (index & kBucketMask)) {
      differs(task, *told, "an operation on another object");
    }
    wait_until(
        task, [&] { return behind() <= 0; }, &bucket.sleepers, &bucket.calls);
    if (behind() < 0) differs(task, *told, "the object has had more operations");
  }
  bucket.lock.lock();
  if (!told && bucket.last != task.id + 1)
    differs(task, {PointKind::kExpected, false, 0, 0},
            "an operation on an object that another task had before");
  task.point.object = index + 1;
}

bool begin_operation(Task& task, uint64_t address) {
  Point point;
  bool told = is_told(task, point);
  if (told && point.kind == PointKind::kTurn) {
    take(task);
    return false;
  }
  if (told && point.kind == PointKind::kAfter) {
    take(task);
    wait_until(
        task,
        [&] { return __atomic_load_n(&shared().order.decisions, __ATOMIC_ACQUIRE) >= point.value; },
        &shared().order.turn_sleepers, &shared().order.turn_calls);
    told = point.more;
    if (told) point = peek(task);
    if (told && point.kind == PointKind::kEnd) recording::ended(task);
  }
  if (told) take(task);
  lock_bucket(task, index_of(address), told ? &point : nullptr);
  return true;
}

void pass_and_wake(Task& task, Bucket& bucket) {
  pass_bucket(task, bucket);
  // Against wait_until: either it sees the number, or we see that it sleeps.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  call(bucket.sleepers, bucket.calls);
}

class Replayed final : public OrderedPath {
 public:
  bool begin(Task& task, uint64_t object) {
    WEIR_CHECK(!task.point.object);  // invariant 1 of object_order.h; invariant 2 of fast_path.h
    return begin_operation(task, object);
  }
  void end(Task& task) {
    Counter& counter = count_operation(task);
    pass_and_wake(task, bucket_of(task));
    call(counter.sleepers, counter.calls);
  }
  [[noreturn]] void give_up(Task& task, const char* why) {
    recording::point_differs(task, "an operation that takes no turn", why);
  }

  Result try_in_runtime(Task& task, Operation& operation) override {
    if (!operation.is_logged()) return Result::takes_turn();
    return try_in_order(*this, task, operation);
  }
  Result try_once(Task& task, Operation& operation) override {
    return try_logged_once(*this, task, operation);
  }

  bool enter(Task& task, uint64_t object, Logging logging) override {
    if (logging == Logging::kUnlogged) return false;
    WEIR_CHECK(!task.point.object);  // invariant 1 of object_order.h; invariant 2 of fast_path.h
    Point point;
    const bool told = is_told(task, point);
    if (told) take(task);
    lock_bucket(task, index_of(object), told ? &point : nullptr);
    return true;
  }
  void leave(Task& task) override { pass_and_wake(task, bucket_of(task)); }

  void on_turn(Task& task) override;

 protected:
  bool is_interrupted(Task& task) override;
  bool gives_up(Task& task, bool is_late, uint64_t& since) override {
    if (is_late) recording::look_round(task, since);
    return false;
  }
};

bool Replayed::is_interrupted(Task& task) {
  Point point;
  if (!is_told(task, point)) return false;
  if (point.kind != PointKind::kTurn) differs(task, point, "a wait for another task's operation");
  take(task);
  return true;
}

void Replayed::on_turn(Task& task) {
  Point point;
  if (!is_told(task, point)) return;
  for (;;) {
    if (point.kind == PointKind::kEnd) recording::ended(task);
    if (point.kind != PointKind::kAwait) differs(task, point, "a turn");
    Counter& counter = objects().counters[point.value >> channel::kPointCountBits];
    constexpr uint32_t kUnused = 64 - channel::kPointCountBits;
    const uint64_t wanted = point.value << kUnused;
    const auto is_done = [&] {
      return static_cast<int64_t>((__atomic_load_n(&counter.done, __ATOMIC_ACQUIRE) << kUnused) -
                                  wanted) >= 0;
    };
    take(task);
    wait_until(task, is_done, &counter.sleepers, &counter.calls);
    if (!point.more) return;
    point = peek(task);
  }
}

constinit Replayed g_replayed;

}  // namespace

}  // namespace weir::object

namespace weir {

FastPath& replayed_path() { return object::g_replayed; }

}  // namespace weir
