// Vector clocks of tasks and of what orders them (check/happens_before.h).
//
// Invariants
// 1. A task's clock is changed only by its own task, and only grows; others read it without a lock.
//    A late reader reads more. That orders more than really is, never less. (checked in
//    learn_entries)
// 2. A task's epoch ends at the first check after a release, and after another task may have joined
//    it through memory (join_slots): that task does not know what this one does afterwards. It also
//    ends whenever the task learns something: a task that knows the epoch knows what its task knew
//    in it. (not checkable: what another has learnt through memory nobody sees)
// 3. An epoch of a slot is never made twice, because the slots' counters are in State. Each epoch
//    is one task's, but a later one of the same slot need not know of it. Only a task that knows
//    exactly the epoch that another is in is sure to know all that the other knows. (checked in
//    step)

#include "base/atomic_enum.h"
#include "check/happens_before.h"
#include "check/keys/enforce_by_key.h"
#include "check/state.h"
#include "sys/report.h"

namespace weir::happens {

bool g_checked = false;
bool g_knows_blocks = false;
bool g_tells_blocks = false;
bool g_replayed = false;
Calls g_calls = Calls::kPlain;

}  // namespace weir::happens

namespace weir::view::checked {

namespace {

SyncClock& sync_of(uint64_t object) {
  const uint64_t hash = object * 0x9E3779B97F4A7C15;
  return state().sync[hash >> 40 & (kSyncClocks - 1)];
}

void copy_entries(uint64_t* to, const uint64_t* from, uint32_t slots) {
  for (uint32_t i = 0; i < slots; i++) to[i] = from[i];
}

uint32_t slots_in_use() { return __atomic_load_n(&state().slots, __ATOMIC_ACQUIRE); }

// In a replay what a task knew must not depend on how far it has gone on since.
uint64_t kept() { return happens::g_replayed ? Past::kKept : 64; }

void begin(Watcher& watcher, const Task& task) {
  watcher.slot = task.identity.creation ? 1 + (task.identity.creation - 1) % (kSlots - 1)
                                        : 0;  // the first task lives as long as any
  uint32_t slots = __atomic_load_n(&state().slots, __ATOMIC_RELAXED);
  while (slots <= watcher.slot &&
         !__atomic_compare_exchange_n(&state().slots, &slots, watcher.slot + 1, false,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
  watcher.creation = task.identity.creation;
  watcher.held_count = watcher.held_lost = watcher.lockset = 0;
  watcher.mixes[0] = watcher.mixes[1] = watcher.mixes[2] = watcher.mixes_lost = 0;
  watcher.closed_seen = __atomic_load_n(&state().closings, __ATOMIC_ACQUIRE);
  watcher.lent_count = watcher.library_orders = watcher.is_learnt = 0;
  watcher.is_over = watcher.kept_count = watcher.kept_pages = watcher.opened_count =
      watcher.next_page = watcher.window = watcher.looks = 0;
  watcher.has_all_keys = 1;  // its thread begins in the runtime
  watcher.stop_asked = watcher.stands = watcher.key_lent_count = watcher.kept_lacked =
      watcher.is_register_old = 0;
  watcher.open_names = {};
  watcher.in_program = 1;
  watcher.standing.is_there = 0;
  for (uint64_t& seen : watcher.ended_seen) seen = 0;
  Past& past = state().past[watcher.slot];
  const SpinGuard guard(past.lock);  // of a task that ended: what it knew is in State::ended
  past.known[past.count++ % kept()] = {state().slot_clock[watcher.slot].clock + 1, watcher.now};
}

}  // namespace

void step(Watcher& watcher) {
  const uint64_t next =
      __atomic_add_fetch(&state().slot_clock[watcher.slot].clock, 1, __ATOMIC_RELAXED);
  WEIR_DEBUG_CHECK(next > watcher.now.clock[watcher.slot]);  // invariant 3 of clocks.cc
  __atomic_store_n(&watcher.now.clock[watcher.slot], next, __ATOMIC_RELEASE);
}

namespace {

void learn_entries(Watcher& watcher, const uint64_t* clock, uint32_t slots) {
  WEIR_DEBUG_CHECK(&watcher == &watcher_of(self()));  // invariant 1 of clocks.cc
  bool is_new = false;
  for (uint32_t i = 0; i < slots; i++)
    is_new |= clock[i] > watcher.now.clock[i];  // of its own slot: from another task of that
  if (!is_new) return;
  for (uint32_t i = 0; i < slots;
       i++) {  // its own entry is its epoch at any moment (is_in_known_epoch)
    if (i != watcher.slot && clock[i] > watcher.now.clock[i]) watcher.now.clock[i] = clock[i];
  }
  step(watcher);
  watcher.learnt = watcher.now.clock[watcher.slot];
  Past& past = state().past[watcher.slot];
  const SpinGuard guard(past.lock);
  Past::Known& known = past.known[past.count++ % kept()];
  known.from = watcher.learnt;
  copy_entries(known.clock.clock, watcher.now.clock, slots_in_use());
}

}  // namespace

void learn_clock(Watcher& watcher, const Clock& other) {
  learn_entries(watcher, other.clock, slots_in_use());
}

Clock clock_at(const Epoch& epoch) {
  Past& past = state().past[epoch.task];
  Clock then{};
  {
    const SpinGuard guard(past.lock);
    const uint64_t oldest = past.count > kept() ? past.count - kept() : 0;
    for (uint64_t i = past.count; i-- > oldest;) {
      const Past::Known& known = past.known[i % kept()];
      if (known.from > epoch.clock && i > oldest)
        continue;  // what is not kept any more was less than the oldest that is
      then = known.clock;
      break;
    }
  }
  then.clock[epoch.task] = epoch.clock;
  return then;
}

void join_epoch(Watcher& watcher, const Epoch& epoch) {
  if (!epoch.is_set() || epoch.task == watcher.slot || watcher.now.knows(epoch)) return;
  learn_clock(watcher, clock_at(epoch));
}

namespace {

// At its next look.
void end_epoch(Watcher& watcher) {
  if (!__atomic_load_n(&watcher.is_learnt, __ATOMIC_RELAXED))
    __atomic_store_n(&watcher.is_learnt, 1u, __ATOMIC_RELEASE);
}

bool is_in_known_epoch(const Watcher& watcher, const Watcher& other) {
  return watcher.slot != other.slot &&
         __atomic_load_n(&other.now.clock[other.slot], __ATOMIC_ACQUIRE) ==
             watcher.now.clock[other.slot];
}

// Its epoch is read first: what it knew when that began is in the entries that are read then,
// whatever it learns meanwhile.
void learn_live(Watcher& watcher, const Watcher& other) {
  const uint64_t epoch = __atomic_load_n(&other.now.clock[other.slot], __ATOMIC_ACQUIRE);
  const uint32_t slots = slots_in_use();
  uint64_t known[kSlots];
  for (uint32_t i = 0; i < slots; i++)
    known[i] = __atomic_load_n(&other.now.clock[i], __ATOMIC_RELAXED);
  known[other.slot] = epoch;
  learn_entries(watcher, known, slots);
}

}  // namespace

void join_slots(Watcher& watcher, uint64_t slots) {
  slots &= ~(uint64_t{1} << watcher.slot);
  if (!slots) return;
  State& s = state();
  for (uint64_t rest = slots; rest; rest &= rest - 1) {
    const int slot = __builtin_ctzll(rest);
    const uint64_t count = __atomic_load_n(&s.ended_count[slot], __ATOMIC_ACQUIRE);
    if (watcher.ended_seen[slot] == count) continue;
    watcher.ended_seen[slot] = count;
    learn_clock(watcher, s.ended[slot]);
  }
  const uint32_t limit = shared().order.high_task;
  for (uint32_t i = 0; i < limit; i++) {
    Watcher& other = s.watchers[i];
    if (&other == &watcher || !(slots >> other.slot & 1)) continue;
    end_epoch(other);  // before: what it does after it sees this may seem to be known, or not
    if (is_in_known_epoch(watcher, other)) continue;
    learn_live(watcher, other);
  }
}

void mix(Watcher& watcher) {
  uint64_t slots = __atomic_load_n(&watcher.mixes_lost, __ATOMIC_RELAXED);
  for (const uint64_t& mixes : watcher.mixes) slots |= __atomic_load_n(&mixes, __ATOMIC_RELAXED);
  join_slots(watcher, slots);
}

void meet_learners(Watcher& watcher) {
  if (!__atomic_load_n(&watcher.is_learnt, __ATOMIC_ACQUIRE)) return;
  __atomic_store_n(&watcher.is_learnt, 0u, __ATOMIC_RELEASE);
  step(watcher);
}

bool is_alone(const Watcher& watcher) {
  if (!happens::g_checked) return true;
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    const Watcher& other = state().watchers[i];
    if (&other != &watcher && s.tasks[i].order.state != TaskState::kFree &&
        !__atomic_load_n(&other.is_over, __ATOMIC_ACQUIRE))
      return false;
  }
  for (TaskId slot = 0; slot < kSlots; slot++) {
    if (slot != watcher.slot && !watcher.now.knows({state().over[slot], slot})) return false;
  }
  return true;
}

uint32_t lockset_of(Watcher& watcher) {
  if (!watcher.held_count) return 0;
  if (watcher.lockset) return watcher.lockset;
  Lockset wanted{};
  wanted.count = watcher.held_count;
  uint64_t hash = watcher.held_count;
  for (uint32_t i = 0; i < watcher.held_count && i < findings::kMostLocks && i < kMostHeld; i++) {
    wanted.locks[i] = watcher.held[i];
    hash = (hash ^ watcher.held[i]) * 0x9E3779B97F4A7C15;
  }
  wanted.key = static_cast<uint32_t>(hash >> 32) | 1;
  State& s = state();
  const SpinGuard guard(s.findings_lock);
  for (uint32_t i = 0; i < kLocksets; i++) {
    const uint32_t at = (wanted.key + i) % kLocksets;
    if (s.locksets[at].key == 0) s.locksets[at] = wanted;
    if (s.locksets[at].key != wanted.key || s.locksets[at].count != wanted.count) continue;
    watcher.lockset = at + 1;
    return watcher.lockset;
  }
  return 0;
}

}  // namespace weir::view::checked

namespace weir::happens {

using namespace view::checked;

namespace {

// All that has been released there is known to the task. Under its lock.
bool knows_all(const Watcher& watcher, const SyncClock& sync) {
  if (!sync.epoch.is_set() || sync.creation == watcher.creation + 1) return true;
  return sync.creation && sync.epoch.task != watcher.slot &&
         sync.epoch.clock == watcher.now.clock[sync.epoch.task];
}

}  // namespace

void on_acquire(uint64_t object) {
  SyncClock& sync = sync_of(object);
  if (!__atomic_load_n(&sync.epoch.clock, __ATOMIC_RELAXED))
    return;  // whoever has released it since orders nothing that has happened
  Watcher& watcher = watcher_of(self());
  uint64_t known[kSlots];
  uint32_t slots;
  {
    const SpinGuard guard(sync.lock);
    if (knows_all(watcher, sync)) return;
    slots = slots_in_use();
    copy_entries(known, sync.clock.clock, slots);
  }
  learn_entries(watcher, known, slots);
}

void on_release(uint64_t object) {
  Watcher& watcher = watcher_of(self());
  mix(watcher);
  SyncClock& sync = sync_of(object);
  {
    const SpinGuard guard(sync.lock);
    bool knows = knows_all(watcher, sync);
    if (sync.creation == watcher.creation + 1 && sync.epoch.is_set() &&
        sync.epoch.clock >= watcher.learnt) {
      sync.clock.clock[watcher.slot] = watcher.now.clock[watcher.slot];  // all else is there
    } else {
      const uint32_t slots = slots_in_use();
      if (!knows) knows = sync.clock.join(watcher.now, slots);
      else copy_entries(sync.clock.clock, watcher.now.clock, slots);
    }
    sync.creation = knows ? watcher.creation + 1 : 0;
    sync.epoch = watcher.now.epoch(watcher.slot);
  }
  end_epoch(watcher);
}

// Readers are not ordered by each other: what they release goes to writers only, by a name of its
// own.
constexpr uint64_t kReaders = 1;

void on_lock(uint64_t lock, bool is_shared) {
  Watcher& watcher = watcher_of(self());
  on_acquire(lock);
  if (!is_shared) on_acquire(lock + kReaders);
  if (watcher.held_count < kMostHeld) watcher.held[watcher.held_count] = lock | is_shared;
  else watcher.held_lost = 1;
  watcher.held_count++;
  watcher.lockset = 0;
  if (keys::g_on) keys::update(self());
}

void on_unlock(uint64_t lock) {
  Watcher& watcher = watcher_of(self());
  bool is_shared = false;
  for (uint32_t i = watcher.held_count; i-- > 0;) {
    if (i >= kMostHeld || (watcher.held[i] & ~uint64_t{1}) != lock) continue;
    is_shared = watcher.held[i] & 1;
    for (uint32_t k = i + 1; k < watcher.held_count && k < kMostHeld; k++)
      watcher.held[k - 1] = watcher.held[k];
    break;
  }
  if (watcher.held_count) watcher.held_count--;
  if (!watcher.held_count) watcher.held_lost = 0;
  watcher.lockset = 0;
  if (watcher.opened_count) close_by_lock(watcher, lock);
  if (keys::g_on) keys::update(self());
  on_release(is_shared ? lock + kReaders : lock);
}

void begin_once(uint64_t control) {
  Watcher& watcher = watcher_of(self());
  SyncClock& sync = sync_of(control);
  uint64_t before;
  {
    const SpinGuard guard(sync.lock);
    before = sync.runners;
    sync.runners |= uint64_t{1} << watcher.slot;
  }
  join_slots(watcher, before);
}

void create(Task& creator, Task& task) {
  if (!g_checked) return;
  Watcher& from = watcher_of(creator);
  Watcher& to = watcher_of(task);
  mix(from);
  to.now = from.now;
  begin(to, task);
  step(to);
  to.learnt = to.now.clock[to.slot];
  step(from);
  to.stack = to.stack_known = 0;
  to.number = note_task(task, &from);
}

void begin_stack(uint64_t start, uint64_t limit, uint64_t thread) {
  constexpr uint64_t kMost = 1 << 30, kDescriptor = 4096;
  if (!g_checked || limit - start > kMost) return;
  if (thread >= limit && thread - limit < kMost) limit = thread + kDescriptor;
  renew(start, limit - start);
  renew_pages(start, limit - start);
}

void end(Task& task, uint64_t thread) {
  if (!g_checked) return;
  Watcher& watcher = watcher_of(task);
  WEIR_CHECK(!watcher.standing.is_there);  // invariant 1 of collisions.cc
  State& s = state();
  const uint64_t last = watcher.now.clock[watcher.slot];
  if (thread) on_release(thread);
  const SpinGuard guard(s.findings_lock);
  if (s.over[watcher.slot] < last) s.over[watcher.slot] = last;
  give_kept(watcher);
  __atomic_store_n(&watcher.is_over, 1u, __ATOMIC_RELEASE);
  s.ended[watcher.slot].join(watcher.now);
  __atomic_store_n(&s.ended_count[watcher.slot], s.ended_count[watcher.slot] + 1, __ATOMIC_RELEASE);
}

uint32_t& library_orders() { return watcher_of(self()).library_orders; }

bool has_lent() {
  const Watcher& watcher = watcher_of(self());
  return watcher.lent_count != 0 || (keys::g_on && keys::has_to_close(watcher));
}

void leave() {
  if (!has_to_leave()) return;
  if (keys::g_on) keys::close(self());
  else settle(self(), watcher_of(self()));
}

void end_library_call() {
  if (keys::g_on && has_to_leave())
    weir_upcall([](long, long, long) -> long { return 0; }, 0, 0, 0);
}

constinit uint64_t g_closed_pages[kClosedPages]{};

void open_objects() {
  if (keys::g_on) keys::open(self());
}

void close_objects() {
  if (!keys::g_on) return;
  if (keys::is_open(self())) keys::close(self());
  else if (watcher_of(self()).is_register_old) keys::update(self());
}

namespace {

Spot caller(uint64_t where, uint64_t stack, uint64_t frame) {
  Spot spot{};
  spot.general[4] = stack;
  spot.general[5] = frame;
  spot.rip = where;
  spot.is_call = true;
  return spot;
}

}  // namespace

void on_allocated(uint64_t start, uint64_t size, uint64_t usable, uint64_t where, uint64_t stack,
                  uint64_t frame) {
  note_block(start, size, caller(where, stack, frame));
  if (g_checked) renew(start, usable);
}

void on_stream_buffer(const void* stream, const void* buffer, uint64_t size) {
  note_stream_buffer(reinterpret_cast<uint64_t>(stream), reinterpret_cast<uint64_t>(buffer),
                     buffer ? size : 0);
}

void on_freed(uint64_t start, uint64_t size, uint64_t where, uint64_t stack, uint64_t frame) {
  const Spot spot = caller(where, stack, frame);
  end_declared(start, size, &spot);
  if (!g_checked || is_ignored(where)) return;
  constexpr uint64_t kMost = 64 << 10;  // of a large block its beginning stands for all
  on_range(self(), spot, {start, size < kMost ? size : kMost, findings::kWrite | findings::kFree});
}

void on_library(uint64_t start, uint64_t size, bool writes, uint64_t where, uint64_t stack,
                uint64_t frame) {
  if (!g_checked || is_ignored(where)) return;
  on_range(self(), caller(where, stack, frame),
           {start, size, (writes ? findings::kWrite : findings::kRead) | findings::kByLibrary});
}

// Without locks: what is taken from the task meanwhile it has until it comes to an event, as if it
// had touched it before.
bool is_unseen(uint64_t start, uint64_t size, bool writes) {
  if (keys::g_on) {
    if (start / ObjectTable::kZone == (start + size) / ObjectTable::kZone)
      return watcher_of(self()).found.around(objects(), start).start >= start + size;
    const uint32_t index = objects().find_above(start);
    return !index || objects().at(index).start >= start + size;
  }
  const Watcher& watcher = watcher_of(self());
  const uint64_t bit = bit_of(watcher);
  for (uint64_t at = page_down(start); at < start + size; at += kPageSize) {
    const uint64_t shared_view = page::shared_view_of(at);
    if (shared_view == at) continue;
    const Page& page = page_at(at, shared_view);
    if (!(__atomic_load_n(&page.holders, __ATOMIC_RELAXED) & bit)) return false;
    const Mode mode = load_enum<__ATOMIC_RELAXED>(page.mode);
    if (mode == Mode::kPrivate || mode == Mode::kOpen || (mode == Mode::kReadBy && !writes))
      continue;
    if (mode != Mode::kDeclared || !is_let_in(watcher, page, writes)) return false;
  }
  return true;
}

}  // namespace weir::happens

namespace weir::view::checked {

void begin_first(Task& task) {
  Watcher& watcher = watcher_of(task);
  begin(watcher, task);
  step(watcher);
  watcher.learnt = watcher.now.clock[watcher.slot];
  if (!found().tasks) watcher.number = note_task(task, nullptr);  // else it was, for a report
}

}  // namespace weir::view::checked
