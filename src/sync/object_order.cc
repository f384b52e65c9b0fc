// Points, kept and met again. Recording and replaying differ in what they do at each; both count on
// the same slots.
//
// What was kept last of a task's points lies in memory that the command sees (trace::OpenPoints),
// like its last turns.

#include "sync/object_order.h"

#include "control/control.h"
#include "record/channel/wait.h"
#include "record/input.h"
#include "record/stream.h"
#include "sync/event.h"
#include "sync/object_slots.h"
#include "sync/turn.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "view/view.h"

namespace weir::object {

bool g_ordered = false;
bool g_kept = false;

namespace {

using trace::OpenPoints;
using trace::Point;
using trace::PointKind;

constexpr uint32_t kSlotMask = 0xfff;  // of its index, as kept
constexpr uint32_t kMostInRow = 256;
constexpr uint32_t kMostApart = 4096;  // not kept: heaps are exchanged in turns
constexpr uint64_t kFar = 200'000;     // cycles
constexpr uint32_t kRoom = 4;          // words that a point may need while a slot is held
constexpr uint64_t kLooks = 200;
constexpr uint64_t kLookAgain = 1'000'000;  // nanoseconds

uint32_t index_of(uint64_t address) {
  return static_cast<uint32_t>((address >> 6) * 0x9E3779B97F4A7C15 >> (64 - kSlotBits));
}

// --- recording

uint32_t stream(const Task& task) {
  uint32_t& known = shared().recording.point_streams[task.id];
  if (!recording::find_stream(task.id | trace::kPointsOf, known)) return 0;
  return known;
}

OpenPoints& open_of(const Task& task) { return recording::header().points[stream(task) - 1]; }

// The steps are in this order: whenever it is killed, each word is in the entry or here, and
// `first` says which it is where it is in both.
void make_entry(const Task& task, OpenPoints& open) {
  const auto count = static_cast<uint32_t>(open.state);
  const auto size = static_cast<uint32_t>(count * sizeof(uint64_t));
  trace::Ring ring = trace::Ring::at(trace::kTrace, stream(task) - 1);
  const trace::Entry entry{trace::Kind::kPoints,
                           0,
                           0,
                           size,
                           0,
                           recording::place_of(task),
                           static_cast<int64_t>(open.first)};
  recording::put_into(ring, entry, open.word, size, nullptr);
  __atomic_store_n(&open.state, open.state >> 32 << 32, __ATOMIC_RELEASE);
  open.first += count;
}

OpenPoints& with_room(const Task& task) {
  OpenPoints& open = open_of(task);
  if (static_cast<uint32_t>(open.state) + kRoom > OpenPoints::kMost) make_entry(task, open);
  return open;
}

void put(OpenPoints& open, PointKind kind, uint64_t value, bool more = false) {
  const uint64_t state = open.state;
  const auto count = static_cast<uint32_t>(state);
  open.word[count] = trace::encoded({kind, more, static_cast<uint32_t>(state >> 32), value});
  __atomic_store_n(&open.state, uint64_t{count} + 1, __ATOMIC_RELEASE);
}

void count_expected(OpenPoints& open) {
  if (open.state >> 32 == trace::kMostSkipped) return put(open, PointKind::kExpected, 0);
  __atomic_store_n(&open.state, open.state + (uint64_t{1} << 32), __ATOMIC_RELEASE);
}

uint64_t number_word(const Task& task, const Slot& slot) {
  return uint64_t{(task.point.object - 1) & kSlotMask} << trace::kPointNumberBits |
         static_cast<uint32_t>(slot.number);
}

// --- replaying

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
  const uint32_t index = stream(task);
  if (!index) recording::ended(task);
  trace::Ring ring = trace::Ring::at(trace::kTrace, index - 1);
  const trace::Entry* entry = recording::peek_in(ring);
  if (!entry) recording::ended(task);
  uint64_t word;
  const auto taken = static_cast<uint32_t>(recording::header().points[index - 1].state);
  if (entry->kind != trace::Kind::kPoints || (taken + 1) * sizeof word > entry->size)
    recording::ended(task);
  copy_bytes(&word, recording::payload(*entry) + taken * sizeof word, sizeof word);
  return trace::decoded_point(word);
}

void take(Task& task) {
  const uint32_t index = stream(task);
  trace::Ring ring = trace::Ring::at(trace::kTrace, index - 1);
  const trace::Entry& entry = *recording::peek_in(ring);
  uint64_t& state = recording::header().points[index - 1].state;
  state = static_cast<uint32_t>(state) + 1;
  if (state * sizeof(uint64_t) < entry.size) return;
  state = 0;
  recording::take_from(ring, entry);
}

// False: the point that the task is at was as expected. True: `point` is the first word of it.
bool is_told(Task& task, Point& point) {
  point = peek(task);
  uint64_t& state = recording::header().points[stream(task) - 1].state;
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
void take_slot(Task& task, uint32_t index, const Point* told) {
  Slot& slot = objects().slots[index];
  if (told) {
    const auto wanted = static_cast<uint32_t>(told->value);
    const auto behind = [&] {
      return static_cast<int32_t>(
          wanted - static_cast<uint32_t>(__atomic_load_n(&slot.number, __ATOMIC_ACQUIRE)));
    };
    if (told->kind != PointKind::kNumber ||
        told->value >> trace::kPointNumberBits != (index & kSlotMask)) {
      differs(task, *told, "an operation on another object");
    }
    wait_until(
        task, [&] { return behind() <= 0; }, &slot.sleepers, &slot.calls);
    if (behind() < 0) differs(task, *told, "the object has had more operations");
  }
  slot.lock.lock();
  if (!told && slot.last != task.id + 1)
    differs(task, {PointKind::kExpected, false, 0, 0},
            "an operation on an object that another task had before");
  task.point.object = index + 1;
}

bool begin_again(Task& task, uint64_t address) {
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
  take_slot(task, index_of(address), told ? &point : nullptr);
  return true;
}

void give_slot_on(Task& task, Slot& slot) {
  slot.last = task.id + 1;
  __atomic_store_n(&slot.number, slot.number + 1, __ATOMIC_RELEASE);
  task.point.object = 0;
  slot.lock.unlock();
  if (input::replaying()) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);  // against wait_until: either it sees the number, or
                                              // we see that it sleeps
    call(slot.sleepers, slot.calls);
  }
}

// Not kept: what may only be done in a turn waits for one.
bool counts_apart(Task& task) {
  inject_delay(task);
  if (!task.pending && ++task.point.in_row < kMostApart) return true;
  task.point.in_row = 0;
  return false;
}

// What the object's last user has mapped is there before it is used.
bool begin_apart(Task& task, uint64_t address) {
  if (!counts_apart(task)) return false;
  if (view::current().has_to_catch_up(task)) view::current().catch_up(task);
  const uint32_t index = index_of(address);
  SpinLock& lock = objects().slots[index].lock;
  lock.lock();
  // Signals that another task had sent before it made its last operation on the object are here:
  // they are handled first, as the kernel would have it.
  if (runtime::lacks_mappings() || __atomic_load_n(&task.inbox_count, __ATOMIC_ACQUIRE)) {
    lock.unlock();
    return false;
  }
  task.point.object = index + 1;
  return true;
}

void give_slot_back(Task& task) {
  Slot& slot = slot_of(task);
  task.point.object = 0;
  slot.lock.unlock();
}

}  // namespace

bool may_go_apart(Task& task) { return counts_apart(task) && !runtime::lacks_mappings(); }

bool begin(Task& task, uint64_t address) {
  WEIR_CHECK(!task.point.object);  // invariant 1 of object_order.h
  if (!g_kept) return begin_apart(task, address);
  if (input::replaying()) return begin_again(task, address);
  OpenPoints& open = with_room(task);
  const uint64_t now = sys::cycles();
  const bool takes_turn =
      task.pending || ++task.point.in_row >= kMostInRow || now - task.point.at > kFar;
  task.point.at = now;
  if (takes_turn) {
    task.point.in_row = 0;
    put(open, PointKind::kTurn, 0);
    return false;
  }
  const uint32_t index = index_of(address);
  objects().slots[index].lock.lock();
  task.point.object = index + 1;
  task.point.after = __atomic_load_n(&shared().order.decisions, __ATOMIC_ACQUIRE);
  return true;
}

void end(Task& task) {
  if (!g_kept) {
    task.spent.counters.owned++;
    return give_slot_back(task);
  }
  Slot& slot = slot_of(task);
  if (!input::replaying()) {
    OpenPoints& open = open_of(task);
    const bool is_last = slot.last == task.id + 1;
    if (task.point.after != task.point.known_after) {
      put(open, PointKind::kAfter, task.point.after, !is_last);
      task.point.known_after = task.point.after;
      if (!is_last) put(open, PointKind::kNumber, number_word(task, slot));
    } else if (is_last) {
      count_expected(open);
    } else {
      put(open, PointKind::kNumber, number_word(task, slot));
    }
  }
  Counter& counter = objects().counters[task.id];
  __atomic_store_n(&counter.done, counter.done + 1,
                   __ATOMIC_RELEASE);  // who counts it comes after it
  task.spent.counters.owned++;
  give_slot_on(task, slot);
  if (input::replaying()) call(counter.sleepers, counter.calls);
}

void give_up(Task& task, const char* what) {
  if (!g_kept) return give_slot_back(task);
  if (input::replaying()) recording::point_differs(task, "an operation that takes no turn", what);
  put(open_of(task), PointKind::kTurn, 0);
  task.point.in_row = 0;
  Slot& slot = slot_of(task);
  task.point.object = 0;
  slot.lock.unlock();
}

void note_wait(Task& task, bool interrupted) {
  if (!g_kept || input::replaying()) return;
  OpenPoints& open = with_room(task);
  if (interrupted) return put(open, PointKind::kTurn, 0);
  count_expected(open);
}

bool is_interrupted(Task& task) {
  Point point;
  if (!is_told(task, point)) return false;
  if (point.kind != PointKind::kTurn) differs(task, point, "a wait for another task's operation");
  take(task);
  return true;
}

void enter(Task& task, uint64_t address) {
  WEIR_CHECK(!task.point.object);  // invariant 1 of object_order.h
  const uint32_t index = index_of(address);
  if (!g_kept) {
    objects().slots[index].lock.lock();
    task.point.object = index + 1;
    return;
  }
  if (input::replaying()) {
    Point point;
    const bool told = is_told(task, point);
    if (told) take(task);
    take_slot(task, index, told ? &point : nullptr);
    return;
  }
  with_room(task);
  objects().slots[index].lock.lock();
  task.point.object = index + 1;
}

void leave(Task& task) {
  if (!g_kept) return give_slot_back(task);
  Slot& slot = slot_of(task);
  if (!input::replaying()) {
    OpenPoints& open = open_of(task);
    if (slot.last == task.id + 1) {
      count_expected(open);
    } else {
      put(open, PointKind::kNumber, number_word(task, slot));
    }
  }
  give_slot_on(task, slot);
}

namespace {

void await_others(Task& task) {
  Point point;
  if (!is_told(task, point)) return;
  for (;;) {
    if (point.kind == PointKind::kEnd) recording::ended(task);
    if (point.kind != PointKind::kAwait) differs(task, point, "a turn");
    Counter& counter = objects().counters[point.value >> trace::kPointCountBits];
    constexpr uint32_t kUnused = 64 - trace::kPointCountBits;
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

}  // namespace

void meet_others(Task& task) {
  if (input::replaying()) return await_others(task);
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
    value = uint64_t{i} << trace::kPointCountBits |
            (done & ((uint64_t{1} << trace::kPointCountBits) - 1));
  }
  if (any) {
    put(*open, PointKind::kAwait, value);
  } else {
    count_expected(*open);
  }
}

uint32_t& waiting(const Task& task) { return slot_of(task).waiting; }

}  // namespace weir::object
