// The problem. A task's stores are to be seen by the task itself and by nobody else, for a while.
// Programs are not recompiled, and any instruction may load.
//
// The mechanism. One task runs at a time. So a buffered store is made in memory at once, by the
// program's own instruction, and its task goes on with the one memory: it sees its own store,
// however a load overlaps it. What the bytes were before is kept. When the turn goes to another
// task they are put back, in reverse order (hide), and when it returns the stores are made again
// (show). To make a store visible is to forget what the bytes were.
//
// From the first delayed store on each instruction of the task is executed for itself
// (translate::enter_single), so that none of its stores is missed: a buffer is first-in first-out,
// so later stores have to queue behind the first one, those to the stack among them.
//
// Invariants
// 1. While a task has the turn, memory has all its stores; while it does not, none that is in its
//    buffer. (checked in hide and show)
// 2. Stores become visible in the order in which they were made: all of a buffer at once, or the
//    oldest. (not checkable: it is about what others may see)
// 3. No task is in the runtime for an event with a store in its buffer. (checked in drain_others)
//
// What is less than x86-TSO allows, so that nothing is found that cannot be: all that is buffered
// becomes visible at one moment, which comes while the task itself has the turn. Stores to memory
// that other processes may see are not delayed, since these would see them made and taken back.

#include "order/serial/stores/store_buffer.h"

#include "base/bytes.h"
#include "code/decode/decoder.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "order/serial/run.h"
#include "order/serial/stores/delays.h"
#include "sys/maps.h"
#include "sys/report.h"

namespace weir::order::serial::stores {

namespace {

constexpr uint32_t kWindows = 16;  // tasks that delay at a time
constexpr uint32_t kStores = 64;   // in a buffer; processors have as many
constexpr uint32_t kLargest = 64;  // bytes of a store: the widest vector
constexpr uint32_t kMaxDelayed = 1u << 12;
constexpr uint32_t kRanges = 8;

struct Store {
  uint64_t address;
  uint32_t size;
  uint8_t before[kLargest], now[kLargest];
};

// A task that delays its stores.
struct Window {
  bool is_open;
  bool is_hidden;
  bool loads_elsewhere;  // the instruction that is looked at
  bool takes_other;
  TaskId task;
  uint64_t left;   // steps
  uint32_t loads;  // as Delay's, to go
  uint32_t record;
  uint32_t first, count;  // of `stores`, a ring
  uint32_t looked_count;
  Store looked[Instruction::kMaxOperands];  // what the next instruction stores
  Store stores[kStores];

  Store& at(uint32_t index) { return stores[(first + index) % kStores]; }
};

struct {
  bool is_on;
  Delays delays;
  uint8_t window_of[kMaxTasks];  // 1 more than its index; 0: none
  Position begun[kMaxTasks];     // where a delay of the task began last
  bool has_begun[kMaxTasks];
  Window windows[kWindows];
  Delayed delayed[kMaxDelayed];
  uint32_t delayed_count;
  uint64_t listed, followed;
  Range private_memory[kRanges];  // mappings that are known to be private
  uint32_t next_range;
} g;

Window* window_of(const Task& task) {
  const uint8_t index = g.window_of[task.id];
  return index ? &g.windows[index - 1] : nullptr;
}

Position position_of(TaskId id) {
  const Track& track = g_run.tracks[id];
  return {track.number, track.event, track.step};
}

bool read(uint8_t* to, uint64_t address, uint32_t size) {
  return trap::from_program(to, static_cast<long>(address), size) == 0;
}

// Memory that has been unmapped meanwhile holds nothing.
void write(uint64_t address, const uint8_t* bytes, uint32_t size) {
  if (trap::to_program(static_cast<long>(address), bytes, size) != 0) return;
}

void close(Window& window, Cause cause, uint64_t code) {
  if (window.is_hidden) {
    for (uint32_t i = 0; i < window.count; i++) {
      const Store& store = window.at(i);
      write(store.address, store.now, store.size);
    }
  }
  if (window.record != ~0u) {
    Delayed& delayed = g.delayed[window.record];
    delayed.visible_at = position_of(window.task);
    delayed.visible_code = code;
    delayed.visible_after = g_run.changes;
    delayed.cause = cause;
  }
  window.is_open = false;
  g.window_of[window.task] = 0;
}

// The task makes its first store.
void note_first(Window& window, uint64_t code, const Store& store) {
  g.followed++;
  window.record = ~0u;
  if (g.delayed_count == kMaxDelayed) return;
  window.record = g.delayed_count++;
  Delayed& delayed = g.delayed[window.record];
  delayed = {};
  delayed.at = position_of(window.task);
  delayed.steps = window.left;
  delayed.after = g_run.changes;
  delayed.code = code;
  delayed.address = store.address;
  delayed.size = store.size;
}

bool is_private(uint64_t address) {
  for (const Range& range : g.private_memory)
    if (range.contains(address)) return true;
  sys::MapLine line;
  if (!sys::find_map_line(address, &line) || line.shared) return false;
  g.private_memory[g.next_range++ % kRanges] = line.range;
  return true;
}

void forget_mappings() {
  for (Range& range : g.private_memory) range = {};
}

bool overlaps(Window& window, const Access& access) {
  for (uint32_t i = 0; i < window.count; i++) {
    const Store& store = window.at(i);
    if (store.address < access.address + access.size && access.address < store.address + store.size)
      return true;
  }
  return false;
}

bool reaches_into(Window& window, Range range) {
  for (uint32_t i = 0; i < window.count; i++) {
    const Store& store = window.at(i);
    if (range.overlaps({store.address, store.address + store.size})) return true;
  }
  return false;
}

// The stores that were looked at have been made.
void add_stores(Window& window) {
  for (uint32_t i = 0; i < window.looked_count; i++) {
    if (window.count == kStores) {  // the oldest becomes visible
      window.first = (window.first + 1) % kStores;
      window.count--;
    }
    Store& store = window.at(window.count++);
    store = window.looked[i];
    if (!read(store.now, store.address, store.size)) window.count--;
    if (window.record == ~0u) continue;
    Delayed& delayed = g.delayed[window.record];
    if (delayed.stores++ == 0)
      copy_bytes(&delayed.value, store.now, store.size < 8 ? store.size : 8);
  }
  window.looked_count = 0;
}

}  // namespace

void start(const Schedule& schedule) {
  g.is_on = schedule.is_tso;
  if (!g.is_on) return;
  for (uint32_t i = 0; i < kMaxTasks; i++) {
    g.window_of[i] = 0;
    g.has_begun[i] = false;
  }
  for (Window& window : g.windows) window.is_open = false;
  forget_mappings();
  g.delayed_count = 0;
  g.listed = schedule.listed_delay_count;
  g.followed = 0;
  g.delays.start(schedule);
}

bool is_on() { return g.is_on; }

void forget(const Task& task) {
  if (!g.is_on) return;
  if (Window* window = window_of(task)) window->is_open = false;
  g.window_of[task.id] = 0;
  g.has_begun[task.id] = false;
}

uint64_t steps_before(const Task& task) {
  Position at = position_of(task.id);
  const bool is_alone = g_run.ready <= 1;
  if (!g.has_begun[task.id] || g.begun[task.id] != at)
    return g.delays.steps_before(at, g_run.contested, is_alone);
  at.step++;  // here one has begun already
  const uint64_t steps = g.delays.steps_before(at, g_run.contested + 1, is_alone);
  return steps == kNoStop ? steps : steps + 1;
}

bool begin(const Task& task, uint64_t ahead) {
  Position at = position_of(task.id);
  at.step += ahead;
  g.begun[task.id] = at;
  g.has_begun[task.id] = true;
  const Delay delay = g.delays.begin(at, g_run.contested + ahead);
  for (uint32_t i = 0; i < kWindows; i++) {
    Window& window = g.windows[i];
    if (window.is_open) continue;
    g.window_of[task.id] = static_cast<uint8_t>(i + 1);
    window.is_open = true;
    window.is_hidden = window.loads_elsewhere = window.takes_other = false;
    window.task = task.id;
    window.left = delay.steps;
    window.loads = delay.loads;
    window.record = ~0u;
    window.first = window.count = window.looked_count = 0;
    return true;
  }
  return false;
}

bool is_delaying(const Task& task) { return g.is_on && window_of(task); }

bool has_stores(const Task& task) {
  const Window* window = window_of(task);
  return window && window->count > 0;
}

Next look(const Task& task, const Frame& frame, bool is_counted, Cause& cause) {
  Window& window = *window_of(task);
  window.looked_count = 0;
  window.loads_elsewhere = false;
  if (window.left == 0) {
    close(window, Cause::kSteps, frame.rip);
    return Next::kOver;
  }
  const auto drains = [&](Cause why) {
    cause = why;
    window.looked_count = 0;
    return window.count ? Next::kDrain : Next::kNothing;
  };
  if (task.pending) return drains(Cause::kSignal);
  if (page::own_image().contains(frame.rip)) return drains(Cause::kEvent);
  Instruction instruction;
  if (!decode(frame.rip, instruction)) return drains(Cause::kCode);
  if (instruction.is_locked || instruction.is_fence) return drains(Cause::kFence);
  if (instruction.is_syscall) return drains(Cause::kEvent);
  if (instruction.unknown_write) return drains(Cause::kCode);
  const AccessList list = accesses_of(instruction, registers_of(frame), sys::fs_base(), 0);
  bool loads = false;
  for (size_t i = 0; i < list.count; i++) {
    const Access& access = list.accesses[i];
    if (access.read && access.size && !overlaps(window, access)) loads = true;
    if (!access.written || !access.size) continue;
    if (!access.exact || access.size > kLargest) return drains(Cause::kCode);
    if (!window.count && !is_counted) continue;  // not where a delay begins
    if (!is_private(access.address)) return drains(Cause::kCode);
    Store& store = window.looked[window.looked_count++];
    store.address = access.address;
    store.size = static_cast<uint32_t>(access.size);
    if (!read(store.before, store.address, store.size)) return drains(Cause::kCode);
  }
  if (!window.count && !window.looked_count) return Next::kNothing;
  if (!window.count) note_first(window, frame.rip, window.looked[0]);
  window.loads_elsewhere = window.count && loads && is_counted && !instruction.is_branch;
  return Next::kSingle;
}

void forget_look(const Task& task) {
  Window* window = window_of(task);
  if (!window) return;
  window->looked_count = 0;
  window->loads_elsewhere = false;
  if (window->count || window->record == ~0u) return;
  window->record = ~0u;  // its first store was not made after all
  g.delayed_count--;
  g.followed--;
}

void note_steps(const Task& task, uint64_t steps) {
  Window* window = window_of(task);
  if (!window) return;
  add_stores(*window);
  window->left -= steps < window->left ? steps : window->left;
  if (window->loads_elsewhere && window->loads && --window->loads == 0) {
    window->takes_other = true;
    g_run.tracks[task.id].to_go = 0;  // it stops before its next step
  }
  window->loads_elsewhere = false;
}

void drain(const Task& task, Cause cause, uint64_t code) {
  if (!g.is_on) return;
  Window* window = window_of(task);
  if (!window) return;
  add_stores(*window);
  if (window->count || cause == Cause::kSteps) close(*window, cause, code);
}

void drain_others(const Task& task, Cause cause, Range range) {
  if (!g.is_on) return;
  forget_mappings();
  for (Window& window : g.windows) {
    if (!window.is_open || window.task == task.id) continue;
    if (!window.count || !reaches_into(window, range)) continue;
    WEIR_CHECK(window.is_hidden);  // invariant 3 of store_buffer.cc
    close(window, cause, 0);
  }
}

void drain_all(const Task& task, uint64_t code) {
  drain(task, Cause::kSteps, code);
  drain_others(task, Cause::kSteps);
}

void hide(const Task& task) {
  if (!g.is_on) return;
  Window* window = window_of(task);
  if (!window) return;
  WEIR_CHECK(!window->is_hidden);  // invariant 1 of store_buffer.cc
  window->is_hidden = true;
  for (uint32_t i = window->count; i-- > 0;) {
    const Store& store = window->at(i);
    write(store.address, store.before, store.size);
  }
}

void show(const Task& task) {
  if (!g.is_on) return;
  Window* window = window_of(task);
  if (!window) return;            // others have drained it
  WEIR_CHECK(window->is_hidden);  // invariant 1 of store_buffer.cc
  window->is_hidden = false;
  for (uint32_t i = 0; i < window->count; i++) {
    Store& store = window->at(i);
    if (read(store.before, store.address, store.size)) write(store.address, store.now, store.size);
  }
}

bool takes_other(const Task& task) {
  if (!g.is_on) return false;
  Window* window = window_of(task);
  if (!window || !window->takes_other) return false;
  window->takes_other = false;
  return true;
}

TaskId other(const Moment& moment) { return g.delays.other(moment); }

uint32_t delayed_count() { return g.is_on ? g.delayed_count : 0; }
const Delayed& delayed(uint32_t index) { return g.delayed[index]; }
uint64_t not_followed() { return g.is_on && g.listed > g.followed ? g.listed - g.followed : 0; }

}  // namespace weir::order::serial::stores
