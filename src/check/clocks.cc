// Vector clocks of tasks and of what orders them (check/core/happens_before.h).
//
// Invariants
// 1. A task's clock is changed only by its own task, and only grows; others read it without a lock.
//    A late reader reads more: more is ordered, never less. (checked in learn_entries)
// 2. A task's epoch ends at the first check after a release, and after another task may have joined
//    it through memory (join_slots): that task does not know what this one does afterwards. It also
//    ends whenever the task learns something: a task that knows the epoch knows what its task knew
//    in it. (not checkable: what another has learnt through memory nobody sees)
// 3. An epoch of a slot is never made twice, because the slots' counters are in State. Each epoch
//    is one task's, but a later one of the same slot need not know of it. Only a task that knows
//    exactly the epoch that another is in is sure to know all that the other knows. (checked in
//    step)

#include "base/atomic_enum.h"
#include "base/hash.h"
#include "check/budget.h"
#include "check/core/access_rules.h"
#include "check/core/beginnings.h"
#include "check/core/enforce_by_key.h"
#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "check/core/order_by_calls.h"
#include "check/core/state.h"
#include "sys/report.h"

namespace weir::happens {

bool g_checked = false;
bool g_knows_blocks = false;
bool g_notifies_blocks = false;
bool g_replayed = false;
bool g_serial = false;
Calls g_calls = Calls::kPlain;
bool g_makes_thread = false;
bool g_makes_detached = false;

}  // namespace weir::happens

namespace weir::view::checked {

namespace {

SyncClock& sync_of(uint64_t object) {
  constexpr int kTags = 29;  // of names that are no addresses: their upper bits count, too
  const uint64_t hash = mix(object ^ object >> kTags);
  return state().sync[hash >> 40 & (kSyncClocks - 1)];
}

void copy_entries(uint64_t* to, const uint64_t* from, uint32_t slots) {
  for (uint32_t i = 0; i < slots; i++) to[i] = from[i];
}

uint32_t slots_in_use() { return __atomic_load_n(&state().slots, __ATOMIC_ACQUIRE); }

// In a replay what a task knew must not depend on how far it has gone on since.
uint64_t kept() { return happens::g_replayed ? Past::kKept : 64; }

void begin(ThreadState& thread, const Task& task) {
  thread.slot = free_slot(thread, task);
  uint32_t slots = __atomic_load_n(&state().slots, __ATOMIC_RELAXED);
  while (slots <= thread.slot &&
         !__atomic_compare_exchange_n(&state().slots, &slots, thread.slot + 1, false,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
  thread.creation = task.identity.creation;
  thread.held_count = thread.held_lost = thread.lockset = 0;
  for (auto& pages : thread.shared_pages_with) pages = 0;
  thread.lost_pages_with = 0;
  thread.closed_seen = __atomic_load_n(&state().closings, __ATOMIC_ACQUIRE);
  thread.borrowed_count = thread.library_orders = thread.is_joined = thread.is_over =
      thread.has_begun = 0;
  thread.cached_count = thread.cached_pages = thread.opened_count = thread.next_page = 0;
  thread.window = thread.checked_count = thread.work_calls = 0;
  thread.has_all_keys = 1;  // its thread begins in the runtime
  thread.stop_asked = thread.stands = thread.key_borrowed_count = thread.cache_misses =
      thread.is_register_old = 0;
  thread.open_names = {};
  thread.openmp = {};
  thread.in_program = 1;
  thread.pending_access.is_there = thread.spin.repeats = 0;
  thread.slept_at = thread.next_open = 0;
  thread.first_looks = kFirstLooks;
  for (uint64_t& seen : thread.ended_seen) seen = 0;
  Past& past = state().past[thread.slot];
  const SpinGuard guard(past.lock);  // of a task that ended: what it knew is in State::ended
  past.known[past.count++ % kept()] = {state().slot_clock[thread.slot].clock + 1, thread.now};
}

}  // namespace

void step(ThreadState& thread) {
  const uint64_t next =
      __atomic_add_fetch(&state().slot_clock[thread.slot].clock, 1, __ATOMIC_RELAXED);
  WEIR_DEBUG_CHECK(next > thread.now.clock[thread.slot]);  // invariant 3 of clocks.cc
  __atomic_store_n(&thread.now.clock[thread.slot], next, __ATOMIC_RELEASE);
}

namespace {

void learn_entries(ThreadState& thread, const uint64_t* clock, uint32_t slots) {
  WEIR_DEBUG_CHECK(&thread == &thread_of(self()));  // invariant 1 of clocks.cc
  bool is_new = false;
  for (uint32_t i = 0; i < slots; i++)
    is_new |= clock[i] > thread.now.clock[i];  // of its own slot: from another task of that
  if (!is_new) return;
  for (uint32_t i = 0; i < slots;
       i++) {  // its own entry is its epoch at any moment (is_in_known_epoch)
    if (i != thread.slot && clock[i] > thread.now.clock[i]) thread.now.clock[i] = clock[i];
  }
  step(thread);
  thread.joined_at = thread.now.clock[thread.slot];
  Past& past = state().past[thread.slot];
  const SpinGuard guard(past.lock);
  Past::Known& known = past.known[past.count++ % kept()];
  known.from = thread.joined_at;
  copy_entries(known.clock.clock, thread.now.clock, slots_in_use());
  if (thread.library_orders) know_by_calls(thread);  // what the C library does there is its call
}

}  // namespace

void acquire_clock(ThreadState& thread, const Clock& other) {
  learn_entries(thread, other.clock, slots_in_use());
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

void join_epoch(ThreadState& thread, const Epoch& epoch) {
  if (!epoch.is_set() || epoch.task == thread.slot || thread.now.knows(epoch)) return;
  acquire_clock(thread, clock_at(epoch));
}

namespace {

// At its next look.
void end_epoch(ThreadState& thread) {
  if (!__atomic_load_n(&thread.is_joined, __ATOMIC_RELAXED))
    __atomic_store_n(&thread.is_joined, 1u, __ATOMIC_RELEASE);
}

bool is_in_known_epoch(const ThreadState& thread, const ThreadState& other) {
  return thread.slot != other.slot &&
         __atomic_load_n(&other.now.clock[other.slot], __ATOMIC_ACQUIRE) ==
             thread.now.clock[other.slot];
}

// Its epoch is read first: what it knew when that began is in the entries that are read then,
// whatever it learns meanwhile.
void learn_live(ThreadState& thread, const ThreadState& other) {
  const uint64_t epoch = __atomic_load_n(&other.now.clock[other.slot], __ATOMIC_ACQUIRE);
  const uint32_t slots = slots_in_use();
  uint64_t known[kSlots];
  for (uint32_t i = 0; i < slots; i++)
    known[i] = __atomic_load_n(&other.now.clock[i], __ATOMIC_RELAXED);
  known[other.slot] = epoch;
  learn_entries(thread, known, slots);
}

}  // namespace

void join_slots(ThreadState& thread, uint64_t slots) {
  slots &= ~(uint64_t{1} << thread.slot);
  if (!slots) return;
  State& s = state();
  for (uint64_t rest = slots; rest; rest &= rest - 1) {
    const int slot = __builtin_ctzll(rest);
    const uint64_t count = __atomic_load_n(&s.ended_count[slot], __ATOMIC_ACQUIRE);
    if (thread.ended_seen[slot] == count) continue;
    thread.ended_seen[slot] = count;
    acquire_clock(thread, s.ended[slot]);
  }
  const uint32_t limit = shared().order.high_task;
  for (uint32_t i = 0; i < limit; i++) {
    ThreadState& other = s.threads[i];
    if (&other == &thread || !(slots >> other.slot & 1)) continue;
    end_epoch(other);  // before: what it does after it sees this may seem to be known, or not
    if (is_in_known_epoch(thread, other)) continue;
    learn_live(thread, other);
  }
}

void join_holders(ThreadState& thread) {
  uint64_t slots = __atomic_load_n(&thread.lost_pages_with, __ATOMIC_RELAXED);
  for (const uint64_t& shared_pages_with : thread.shared_pages_with)
    slots |= __atomic_load_n(&shared_pages_with, __ATOMIC_RELAXED);
  join_slots(thread, slots);
}

void end_joined_epoch(ThreadState& thread) {
  if (!__atomic_load_n(&thread.is_joined, __ATOMIC_ACQUIRE)) return;
  __atomic_store_n(&thread.is_joined, 0u, __ATOMIC_RELEASE);
  step(thread);
}

bool is_alone(const ThreadState& thread) {
  if (!happens::g_checked) return true;
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    const ThreadState& other = state().threads[i];
    if (&other != &thread && s.tasks[i].order.state != TaskState::kFree &&
        !__atomic_load_n(&other.is_over, __ATOMIC_ACQUIRE))
      return false;
  }
  for (TaskId slot = 0; slot < kSlots; slot++) {
    if (slot != thread.slot && !thread.now.knows({state().over[slot], slot})) return false;
  }
  return true;
}

}  // namespace weir::view::checked

namespace weir::happens {

using namespace view::checked;

namespace {

// All that has been released there is known to the task. Under its lock.
bool knows_all(const ThreadState& thread, const SyncClock& sync) {
  if (!sync.epoch.is_set() || sync.creation == thread.creation + 1) return true;
  return sync.creation && sync.epoch.task != thread.slot &&
         sync.epoch.clock == thread.now.clock[sync.epoch.task];
}

}  // namespace

void on_acquire(uint64_t object) {
  SyncClock& sync = sync_of(object);
  if (!__atomic_load_n(&sync.epoch.clock, __ATOMIC_RELAXED))
    return;  // whoever has released it since orders nothing that has happened
  ThreadState& thread = thread_of(self());
  uint64_t known[kSlots];
  uint32_t slots;
  {
    const SpinGuard guard(sync.lock);
    acquire_by_calls(thread, sync);
    if (knows_all(thread, sync)) return;
    slots = slots_in_use();
    copy_entries(known, sync.clock.clock, slots);
  }
  learn_entries(thread, known, slots);
}

void on_release(uint64_t object) {
  ThreadState& thread = thread_of(self());
  join_holders(thread);
  SyncClock& sync = sync_of(object);
  {
    const SpinGuard guard(sync.lock);
    release_by_calls(thread, sync);
    bool knows = knows_all(thread, sync);
    if (sync.creation == thread.creation + 1 && sync.epoch.is_set() &&
        sync.epoch.clock >= thread.joined_at) {
      sync.clock.clock[thread.slot] = thread.now.clock[thread.slot];  // all else is there
    } else {
      const uint32_t slots = slots_in_use();
      if (!knows) knows = sync.clock.join(thread.now, slots);
      else copy_entries(sync.clock.clock, thread.now.clock, slots);
    }
    sync.creation = knows ? thread.creation + 1 : 0;
    sync.epoch = thread.now.epoch(thread.slot);
  }
  end_epoch(thread);
}

// Readers are not ordered by each other: what they release goes to writers only, by a name of its
// own.
constexpr uint64_t kReaders = 1;

void on_lock(uint64_t lock, bool is_shared) {
  ThreadState& thread = thread_of(self());
  on_acquire(lock);
  if (!is_shared) on_acquire(lock + kReaders);
  if (thread.held_count < kMaxHeld) thread.held[thread.held_count] = lock | is_shared;
  else thread.held_lost = 1;
  thread.held_count++;
  thread.lockset = 0;
  access_rules().on_locks_changed(self());
}

void on_unlock(uint64_t lock) {
  ThreadState& thread = thread_of(self());
  bool is_shared = false, is_held = false;
  for (uint32_t i = thread.held_count; i-- > 0;) {
    if (i >= kMaxHeld || (thread.held[i] & ~uint64_t{1}) != lock) continue;
    is_held = true;
    is_shared = thread.held[i] & 1;
    for (uint32_t k = i + 1; k < thread.held_count && k < kMaxHeld; k++)
      thread.held[k - 1] = thread.held[k];
    break;
  }
  // The first task may have taken it before there were others.
  if (!is_held && !thread.held_lost && thread.number != 0) return;
  if (is_held || thread.held_count > kMaxHeld) thread.held_count--;
  if (!thread.held_count) thread.held_lost = 0;
  thread.lockset = 0;
  if (thread.opened_count) close_by_lock(thread, lock);
  access_rules().on_locks_changed(self());
  on_release(is_shared ? lock + kReaders : lock);
}

void begin_once(uint64_t control) {
  ThreadState& thread = thread_of(self());
  SyncClock& sync = sync_of(control);
  uint64_t before;
  {
    const SpinGuard guard(sync.lock);
    before = sync.runners;
    sync.runners |= uint64_t{1} << thread.slot;
  }
  join_slots(thread, before);
  know_by_calls(thread);
}

void create(Task& creator, Task& task) {
  if (!g_checked) return;
  ThreadState& from = thread_of(creator);
  ThreadState& to = thread_of(task);
  join_holders(from);
  to.now = from.now;
  begin(to, task);
  begin_order_by_calls(to, from);
  step(to);
  to.joined_at = to.now.clock[to.slot];
  step(from);
  to.stack = to.stack_known = to.stack_start = 0;
  to.creator = creator.id;
  to.creator_creation = creator.identity.creation;
  to.number = note_task(task, &from);
  hazards::on_thread(to.number, task.frame->shown, g_makes_thread && !g_makes_detached);
  if (creator.frame) access_rules().expose_frames(creator, from, creator.frame->rsp);
  // A helper of the C library's own: what it does inside orders whoever asked for its work.
  to.library_orders = !g_makes_thread && creator.frame && is_ignored(creator.frame->shown);
}

void begin_stack(const Task& task, uint64_t start, uint64_t limit, uint64_t descriptor) {
  constexpr uint64_t kMax = 1 << 30, kDescriptor = 4096;
  if (!g_checked || limit - start > kMax) return;
  const bool is_below_own_data = descriptor >= limit && descriptor - limit < kMax;
  ThreadState& thread = thread_of(task);
  thread.stack = is_below_own_data ? page_up(descriptor + 1) : page_up(limit);
  thread.stack_start = start < limit ? start : 0;  // else nobody has said how deep it is
  if (is_below_own_data) limit = descriptor + kDescriptor;
  renew(start, limit - start);
  if (!g_serial) renew_pages(start, limit - start);
  if (found().hazards) hazards::forget(start, limit - start);
}

void end(Task& task, uint64_t handle) {
  if (!g_checked) return;
  ThreadState& thread = thread_of(task);
  WEIR_CHECK(!thread.pending_access.is_there);  // invariant 1 of collisions.cc
  State& s = state();
  const uint64_t last = thread.now.clock[thread.slot];
  hazards::on_thread_end(thread.number);
  if (handle) on_release(handle);
  tell_end(handle);
  on_release(kEnds);
  const SpinGuard guard(s.findings_lock);
  if (s.over[thread.slot] < last) s.over[thread.slot] = last;
  retire_cached(thread);
  __atomic_store_n(&thread.is_over, 1u, __ATOMIC_RELEASE);
  s.ended[thread.slot].join(thread.now);
  __atomic_store_n(&s.ended_count[thread.slot], s.ended_count[thread.slot] + 1, __ATOMIC_RELEASE);
}

uint32_t& library_orders() { return thread_of(self()).library_orders; }

bool has_borrowed() { return access_rules().has_borrowed(thread_of(self())); }

void leave() {
  if (has_to_leave()) access_rules().leave(self(), thread_of(self()));
}

void end_library_call() {
  if (g_checked && !library_orders()) know_by_calls(thread_of(self()));
  access_rules().end_library_call();
}

constinit uint64_t g_closed_pages[kClosedPages]{};

void open_objects() { access_rules().open_objects(); }

void close_objects() { access_rules().close_objects(); }

void on_allocated(uint64_t start, uint64_t size, uint64_t usable, uint64_t where, uint64_t stack,
                  uint64_t frame) {
  const hazards::Caller caller{where, stack, frame};
  note_block(start, size, hazards::site_of(caller));
  if (!g_checked) return;
  if (hazards::has_handlers()) hazards::before_unsafe(findings::UnsafeCall::kHeap, 0, caller);
  renew(start, usable);
  if (!g_serial) note_place(start, usable);
}

void on_stream_buffer(const void* stream, const void* buffer, uint64_t size) {
  note_stream_buffer(reinterpret_cast<uint64_t>(stream), reinterpret_cast<uint64_t>(buffer),
                     buffer ? size : 0);
}

void on_freed(uint64_t start, uint64_t size, uint64_t where, uint64_t stack, uint64_t frame) {
  const hazards::Caller caller{where, stack, frame};
  const AccessSite site = hazards::site_of(caller);
  if (g_checked && hazards::has_handlers())
    hazards::before_unsafe(findings::UnsafeCall::kHeap, 0, caller);
  end_declared(start, size, &site);
  if (g_checked && found().hazards) hazards::forget(start, size);
  if (!g_checked || is_call_of_library(where) || (is_ignored(where) && is_of_library(start)))
    return;
  constexpr uint64_t kMax = 64 << 10;  // of a large block its beginning stands for all
  on_range(self(), site, {start, size < kMax ? size : kMax, findings::kWrite | findings::kFree});
}

void on_library(uint64_t start, uint64_t size, bool writes, uint64_t where, uint64_t stack,
                uint64_t frame) {
  if (!g_checked || is_call_of_library(where)) return;
  on_range(self(), hazards::site_of({where, stack, frame}),
           {start, size, (writes ? findings::kWrite : findings::kRead) | findings::kByLibrary});
}

bool is_untrapped(uint64_t start, uint64_t size, bool writes) {
  return access_rules().is_untrapped(start, size, writes);
}

void share_stack(uint64_t argument) { access_rules().share_stack(argument); }

void await_creator(const Task& task) { access_rules().await_creator(task); }

}  // namespace weir::happens

namespace weir::view::checked {

static bool g_first_is_noted = false;

bool has_begun_first() { return g_first_is_noted; }

void begin_first(Task& task) {
  ThreadState& thread = thread_of(task);
  begin(thread, task);
  thread.has_begun = kInProgram;
  step(thread);
  thread.joined_at = thread.now.clock[thread.slot];
  if (!g_first_is_noted) thread.number = note_task(task, nullptr);  // else it was, for a report
  g_first_is_noted = true;
}

}  // namespace weir::view::checked
