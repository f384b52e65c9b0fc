// Within the checked View: what all processes know, in control memory.
// Implemented in check/.
#pragma once

#include "base/atomic_enum.h"
#include "base/vector_clock.h"
#include "check/core/check.h"
#include "check/core/descriptors.h"
#include "check/core/hazard_state.h"
#include "check/core/objects.h"
#include "check/core/whereabouts.h"
#include "check/findings/findings.h"
#include "control/control.h"
#include "memory/backing.h"
#include "memory/windows.h"
#include "sys/spinlock.h"

namespace weir::view::checked {

// The number of entries in a vector clock. The first task has one entry, and the others share the
// rest by their numbers. Tasks that share an entry count as one task, which is ordered with itself.
// That may hide a race, and never invents one. The same holds for objects that share a clock.
inline constexpr uint32_t kSlots = 64;
inline constexpr uint32_t kSyncClocks = 1 << 14;
inline constexpr uint32_t kMaxHeld = 16;  // locks that a task is known to hold
inline constexpr uint32_t kLocksets = 1 << 12;
// Pages that are open to several tasks at once, and untrapped.
inline constexpr uint32_t kMaxOpen = 1 << 16;
inline constexpr uint32_t kAllocations = 1 << 20;
inline constexpr uint32_t kMaxBorrowed = 256;
inline constexpr uint32_t kMaxCachedBlocks = 64;
inline constexpr uint32_t kStreamBuffers = 64;
inline constexpr uint32_t kSiteCounts = 1 << 14;
inline constexpr uint32_t kMaxKeyBorrowed = 8;
inline constexpr uint32_t kFirstLooks = 16;
inline constexpr uint32_t kMaxOpened = 64;  // objects that a task has open by their locks

// Where memory lies: what is spent on checking is counted by it. Blocks of the heap are small or
// large; mappings of the program's are large.
enum class Place : uint8_t { kUnknown, kStatic, kStack, kSmall, kLarge };
inline constexpr uint32_t kPlaces = 5;

using Clock = VectorClock<kSlots>;

struct alignas(64) SyncClock {
  SpinLock lock;
  uint64_t creation;  // + 1, of the task that released it last, if that knew all that had been
                      // released before; else 0
  Epoch epoch;        // of that task, then; not set: nothing has been released
  uint64_t runners;   // slots of tasks that have begun the routine of that pthread_once_t
  Clock clock;
  uint64_t calls_creation;  // as `creation`, of `calls`
  Clock calls;              // what is known there by calls (order_by_calls.cc)
};

// Who was told last that the block was its own (malloc).
struct Allocation {
  uint64_t start, size;
  uint32_t context;  // findings
  uint32_t number;   // task
};

// Memory of the program's that it gave to a stream: what the C library does there is its own
// affair.
struct StreamBuffer {
  uint64_t stream, start, size;
};

struct Lockset {
  uint32_t count;
  uint32_t key;  // 0: not in use
  uint64_t locks[findings::kMaxLocks];
};

struct Opened {
  uint32_t object;  // check/core/objects.h
  uint32_t left;    // unlocks at which it stays open
  uint64_t lock;
  uint64_t since;  // cycles: when its access was checked
};

struct KeyFound {  // of a name, by protection keys
  uint64_t name;
  uint64_t found;  // the hash's generation * 256 + the key
};
inline constexpr uint32_t kLockKeys = 8;

struct PriorAccess {  // the other side
  uint64_t address, size;
  uint32_t kind, number, context, lockset;
};

// The access before which a task stands. Guarded by: lock.
struct PendingAccess {
  SpinLock lock;
  uint32_t is_there;
  uint32_t has_collided;  // futex: another stands before one that conflicts with it
  PriorAccess prior;
};

struct ThreadState {  // of a task, by its id
  Clock now;
  Clock calls;  // what it knows by calls; its own entry is not kept (order_by_calls.cc)
  uint32_t slot;
  uint32_t number;            // findings::TaskInfo
  uint64_t creation;          // of the task that this is of
  uint64_t creator_creation;  // of the one that has made it
  uint32_t creator;           // its id
  uint64_t stack;             // where its stack begins, 0: the first task's
  uint64_t stack_start;       // the lowest address that it has for that; `stack` or 0: not known
  uint64_t stack_known;       // by protection keys: from here to there it can be read
  uint32_t held_count;        // more than kMaxHeld are not listed
  uint32_t lockset;           // index + 1, of what is held now; 0: to be looked up
  uint64_t held[kMaxHeld];    // lowest bit: for reading
  uint32_t held_lost;  // more were held since it held none: not all that it holds are among them
  uint64_t shared_pages_with[3];  // slots of tasks with which it has pages open, by Page::open_tag:
                                  // what they do may be known to it at any time
  uint64_t lost_pages_with;  // the same, of pages that it has lost and may still touch. Guarded by:
                             // the lock of its losses
  uint64_t closed_seen;      // State::closings, when it dropped its pages last
  uint32_t in_program;  // it may touch what it has mapped; else it drops what it has lost before it
                        // can. Guarded by: the lock of its losses
  uint64_t slept_at;    // cycles: when it began to wait; 0: it does not
  uint32_t next_open;   // in State::open: of which pages it gives up some after a wait
  uint32_t first_looks;  // at its accesses to open pages that it has not, before it gets them
  uint32_t is_suspect;   // the access that is looked at is ordered, but no lock orders it
  uint32_t is_joined;    // another has joined `now` without a release: the epoch is to end
  uint64_t joined_at;    // the epoch that began when it learnt something last: since then only its
                         // own entry of `now` has changed
  uint64_t is_over;      // the task has ended
  uint32_t has_begun;    // Begun (beginnings.h)
  uint32_t borrowed_count;
  uint32_t library_orders;
  uint64_t checked_count;  // in a replay: how many accesses of its were checked
  uint64_t next_page;  // where its last new pages end: if it goes on there, it gets several at once
  uint32_t window;     // as many
  uint64_t ended_seen[kSlots];      // State::ended_count, as far as it has been joined
  uint64_t borrowed[kMaxBorrowed];  // pages that it has for a moment
  static constexpr uint32_t kFreshRuns = 4;
  uint32_t fresh_run;   // the one that was begun last
  uint32_t run_length;  // of the one that it is in
  FreshRun fresh_runs[kFreshRuns];
  static constexpr uint32_t kRecent = 8;
  RecentContext recent[kRecent];
  FoundLately found;  // objects
  uint64_t opened_count;
  Opened opened[kMaxOpened];
  uint32_t cached_count, cached_pages;
  uint32_t cache_misses;  // protection keys: blocks that it has had to get elsewhere, and has not
                          // made up for
  uint32_t cached[kMaxCachedBlocks];  // objects: blocks that it has given back and still has
                                      // mapped, the newest last
  PendingAccess pending_access;
  uint32_t work_calls;  // where OpenMP's runtime hands out work (interpose/openmp.cc)
  OpenMpPlace openmp;
  Spin spin;

  // Protection keys (check/core/enforce_by_key.h).
  KeyFound own_key, lock_key[kLockKeys];
  OpenNames open_names;
  uint32_t is_register_old;  // what it has open has changed since the register was written
  uint32_t has_all_keys;     // its register opens all, until it goes on with program code
  uint32_t stop_asked;       // a rehash has met it in the runtime: it waits on its way out
  uint32_t stands;           // in a signal's handler, until the rehash is over
  uint32_t key_borrowed_count;
  uint32_t key_borrowed[kMaxKeyBorrowed];  // objects that all may write meanwhile
};

// What the tasks of a slot knew in their last epochs: each entry from its own clock on, up to the
// next one's.
struct Past {
  // 64 of them are used if the program is checked while it runs.
  static constexpr uint32_t kKept = 4096;
  struct Known {
    uint64_t from;
    Clock clock;
  };
  SpinLock lock;
  uint64_t count;
  Known known[kKept];  // a ring
};

struct alignas(64) SlotClock {
  uint64_t clock;
};

struct State {
  SlotClock slot_clock[kSlots];
  uint32_t slots;  // in use so far: no clock has an entry from there on. It is grown before there
                   // is one, so who reads a clock reads it afterwards
  Past past[kSlots];
  Clock ended[kSlots];  // what tasks of the slot knew that have ended
  uint64_t ended_count[kSlots];
  uint64_t over[kSlots];    // until when a task that has waited for them all knows them
  int64_t tokens[kPlaces];  // by Place (check/budget.h)
  uint64_t refilled;        // cycles: when they were counted last; 0: never
  uint64_t generation;      // pages that are opened now are closed together; a closing begins
  uint64_t closings;  // that are over: all pages opened in the generations before this number have
                      // been taken from all tasks
  SpinLock open_lock;
  // Pages in `open`; where there is no room for more they stay open (kForEver)
  uint32_t open_count;
  uint32_t open_in[kPlaces];  // of the pages in `open`, by Place
  uint32_t shadows;           // taken so far
  uint32_t free_shadow;       // of a list of those that are free again, index + 1
  // Clocks of accesses that are not kept any more (shadow.cc), of a replay.
  uint32_t dropped;
  SpinLock shadow_lock;
  SpinLock findings_lock;
  uint32_t is_closing;        // one task makes a new generation
  uint32_t pending_accesses;  // tasks in a delay
  uint64_t last_start;        // cycles
  uint32_t starts;            // of tasks that have waited for their creator (start.cc)
  // Cycles: when that was first thought of; that have been lost by it.
  uint64_t delays_began, delayed;
  uint32_t checks_of_site[kSiteCounts];  // by instruction, on pages that several tasks touch
  ThreadState threads[kMaxTasks];
  SyncClock sync[kSyncClocks];
  Lockset locksets[kLocksets];
  uint64_t open[kMaxOpen], closed[kMaxOpen];
  Allocation allocations[kAllocations];
  uint32_t stream_buffers;                     // noted so far
  StreamBuffer stream_buffer[kStreamBuffers];  // the last of them
  uint64_t openmp_names;                       // given so far
  uint32_t trusts_openmp;  // what GNU's runtime does inside orders all the same, from here on
  hazards::HazardState hazards;
  checking::Descriptors descriptors;
};
static_assert(sizeof(State) <= kCheckStateSize);

inline State& state() { return *reinterpret_cast<State*>(kCheckState); }
inline ThreadState& thread_of(const Task& task) { return state().threads[task.id]; }
inline findings::Findings& found() { return *reinterpret_cast<findings::Findings*>(kFindings); }

// --- clocks (clocks.cc)

// What the task may have acquired through memory that nobody looks at is known to it from here on.
void join_holders(ThreadState& thread);
// All that the tasks of these slots know now.
void join_slots(ThreadState& thread, uint64_t slots);
Clock clock_at(const Epoch& epoch);
// What that task knew in that epoch.
void join_epoch(ThreadState& thread, const Epoch& epoch);
// `other` is known from here on, in a new epoch.
void acquire_clock(ThreadState& thread, const Clock& other);
// Begins a new epoch: what the task does from here on is not known to tasks that have joined its
// clock up to here.
void step(ThreadState& thread);
// Others have joined its clock without a release: its epoch ends.
void end_joined_epoch(ThreadState& thread);
uint32_t lockset_of(ThreadState& thread);
void begin_first(Task& task);
bool has_begun_first();  // in this program: another one may have executed it

// --- pages (pages.cc, admit.cc)

enum class Mode : uint8_t {
  kNew,              // nobody has touched it
  kTrapped,          // nobody has it: every access is checked
  kPrivate,          // the owner has it
  kReadBy,           // several tasks may have it for reading
  kSharedUntrapped,  // any task may have it: accesses are not seen
  kDeclared,         // the policies of the objects in it say who may have it
                     // (check/policy/enforce_by_process.cc)
};

inline constexpr uint8_t kForEver = 2;

struct Page {
  static constexpr uint8_t kCountedChecked = 1, kCountedUnchecked = 2;
  static constexpr uint8_t kGivenUnchecked = 4;  // what its owner does there is not looked at
  SpinLock lock;
  Mode mode;
  uint8_t was_written;  // kTrapped: since it is; kDeclared: the backing has it
  uint16_t owner;       // kPrivate; kTrapped: the only one so far
  uint32_t owner_creation;
  uint32_t checked_count;  // accesses checked since it is trapped; kDeclared: the object whose page
                           // it is, 0: of several, or of other memory too
  uint32_t shadow;         // index + 1
  uint8_t toucher_count;   // 0, 1, 2 for more
  uint8_t untrapped_slot;
  uint8_t open_tag : 2;    // kSharedUntrapped: the parity of the generation in which it was opened,
                           // or kForEver
  uint8_t counted : 3;     // in which of the findings' counts it is (check/coverage.h)
  uint8_t taken_over : 3;  // how often another task has come to it while it was private; 7 for more
  Place place;             // atomic
  uint64_t holders;        // slots of tasks that may have it mapped, and touch it untrapped
  uint64_t released;       // slots of tasks that may have stored to it what tells others something
  uint64_t untrapped_clock;  // of untrapped_slot: until when it may have stored there untrapped; 0:
                             // nobody
  uint64_t untrapped;        // slots of other tasks that may have
};
static_assert(sizeof(Page) == 56 && page::windows::kMax * sizeof(Page) <= kWindowPagesSize);

inline Page& page_at_shared_view(uint64_t shared_view) {
  return reinterpret_cast<Page*>(kCheckPages)[(shared_view - kSharedView) / kPageSize];
}
// `shared_view`: where the backing has it.
inline Page& page_at(uint64_t page, uint64_t shared_view) {
  if (page::windows::contains(page))
    return reinterpret_cast<Page*>(kWindowPages)[page::windows::index_of(page)];
  return page_at_shared_view(shared_view);
}
inline Page& page_of(uint64_t page) {
  return page_at(page, page::windows::contains(page) ? 0 : page::shared_view_of(page));
}
// Returns the record of a page that was noted earlier, or null if the page is no longer in the
// backing (because a library was closed, say).
inline Page* find_page(uint64_t page) {
  const uint64_t shared_view = page::windows::contains(page) ? 0 : page::shared_view_of(page);
  return shared_view == page ? nullptr : &page_at(page, shared_view);
}
inline uint64_t bit_of(const ThreadState& thread) { return uint64_t{1} << thread.slot; }
bool is_owner(const Page& page, const Task& task);
void own(Page& page, const Task& task, Mode mode);
// True if the task has the page for reading and writing until another task takes it away.
bool has_for_good(const Page& page, const Task& task, const ThreadState& thread);
// Makes the task a holder; the caller maps the page next. let_in() maps it too. REQUIRES: the
// page's lock, also for let_in().
void hold(uint64_t at, Page& page, ThreadState& thread, bool writes);
void let_in(uint64_t at, Page& page, ThreadState& thread, bool writes);  // it is mapped, too
// The task is no longer a holder of the page. Others may read from now on what it has stored there
// untrapped.
void give_up(Page& page, ThreadState& thread);
// Makes the holders drop the page, which is trapped from here on. `is_common`: tasks other than
// this one use it.
void trap_page(uint64_t at, Page& page, Task& task, const ThreadState& thread, bool is_common);
// The task joins the clocks of tasks that may have stored to the page untrapped and have given it
// up since, because it may read what they stored.
void acquire_untrapped(Page& page, ThreadState& thread);
// Makes the page open to all tasks: each task that has it joins the clocks of all others that have
// it, at any time. After share() and open_page() the caller maps the page.
void share(uint64_t at, Page& page, ThreadState& thread);
// The task touches the page while others have it untrapped: each may learn from the other.
void meet_holders(const Page& page, ThreadState& thread);
void open_page(uint64_t at, Page& page, ThreadState& thread);
void become_open(uint64_t at, Page& page, ThreadState& thread);
// There is no other task, by happens-before: it has made none, or joined all.
bool is_alone(const ThreadState& thread);
// A task has come to a page that its process has not mapped, or not for such an access. Returns
// true if the task has the page now, and false if the page is trapped.
bool admit(Task& task, ThreadState& thread, const AccessSite& site, uint64_t address, bool writes);
// The task is about to get a page that others have untrapped. What it does there first is known: it
// is checked, and noted, before the task may learn anything there.
void look_first(ThreadState& thread, const AccessSite& site, Access access);
// An access, where its pages are trapped.
void on_access(ThreadState& thread, const AccessSite& site, Access access);
// The task has stored these bytes, and was checked: memory of its own to which they lead is
// trapped from here on (escape.cc).
void escape(Task& task, ThreadState& thread, uint64_t address, uint64_t size);
// The task makes another: its stack is trapped from there on, a few pages (escape.cc).
void expose_frames(Task& task, ThreadState& thread, uint64_t stack_pointer);
// The kernel will read the frame of a signal when its handler returns, and would find a page
// closed.
bool is_pinned(const Task& task, uint64_t at);
void drop_page(uint64_t at, ThreadState& thread);
// These holders may read, untrapped, what `by` is about to store: they know what he knows, at their
// next look or release.
void release_to(uint64_t holders, const ThreadState& by);
// Those who sleep are no holders: they drop it before they can touch it.
void lose_sleeping(uint64_t at, Page& page, const ThreadState& by);
// These holders are made to drop it. `is_untrapped`: until they have, `by` touches
// it and is not checked.
void lose(uint64_t at, Page& page, uint64_t holders, const ThreadState& by, bool is_untrapped);
// The task has it, like all its other holders, and may acquire from them at any time.
void open_to(uint64_t at, Page& page, ThreadState& thread);
// What is borrowed, lost or closed is dropped.
void settle(Task& task, ThreadState& thread);
bool has_to_settle(const Task& task);
void close_open();
// Data of the C library and its like (system_libraries.cc).
bool is_trusted(uint64_t address);
bool is_cxx_state(uint64_t address);  // data of libstdc++.so
// `knows_backing`: where their data are in the backing, they are those libraries' all the same.
void find_system_libraries(bool knows_backing);
// Libraries have the names by which the loader knows them. Called before the first thread.
void note_loader();
// What an OpenMP runtime stores may tell others something.
void order_openmp(const AccessSite& site, Access* accesses, uint32_t count);
// A system call's memory is the program's.
bool moves_data(uint32_t call);

// Whether such an access may be what one task tells another by, and the other hears: an atomic
// store, or load. A task hears nothing by an operation whose result it does not look at.
inline bool releases(uint32_t kind) {
  return (kind & findings::kWrite) && (kind & (findings::kAtomic | findings::kMayBeAtomic));
}
inline bool acquires(uint32_t kind) {
  return (kind & findings::kRead) && (kind & (findings::kAtomic | findings::kMayBeAtomic)) &&
         !(kind & findings::kUnread);
}

// --- delays (collisions.cc)

// Whether another task stands before an access that conflicts with this one, which has not been
// made either.
void check_pending(const ThreadState& thread, Access& access, const AccessSite& site);
// Returns true if the task spins: it has made that read before, nothing else that was checked, and
// only waits for another task's store. It sleeps for a moment.
// The slot of a new task that knows what its creator knows.
uint32_t free_slot(const ThreadState& thread, const Task& task);
bool delay_spin(Task& task, ThreadState& thread, const AccessSite& site, const Access& access);

// --- objects with a declared policy (check/policy/enforce_by_process.cc)

// A task is about to make an access within one page, which is kDeclared. Returns true if the task
// has the page. Returns false if the access has been checked and must be made without the page.
// `lacks`: the task is known not to have the page now, even if it was let in.
bool admit_declared(Task& task, ThreadState& thread, const AccessSite& site, Access access,
                    Page& page, bool lacks);
// A page of an object that the task holds: whether the rule book lets it make such an access, as
// far as that can be told without a lock.
bool is_let_in(const ThreadState& thread, const Page& page, bool writes);
void close_by_lock(ThreadState& thread, uint64_t lock);  // it has been unlocked
void begin_declared();                                   // tasks begin
void retire_cached(ThreadState& thread);                 // the task ends
// The memory is another's from here on: its objects are forgotten. `freed`: a block of the heap, by
// the task at that spot, to whom they have to belong.
void end_declared(uint64_t start, uint64_t size, const AccessSite* freed);
bool is_declared(uint64_t address, findings::Object& object);
// True if the address is in a variable of the program that is undeclared, and so private to the
// task that touches it first (check/policy/undeclared.cc).
bool is_untouched(uint64_t address, const AccessSite& site);
bool all_is_declared();  // policies count only as declared, and each variable of the program's is
                         // an object
void report_untouched(const PriorAccess& prior, const ThreadState& thread, Access& access,
                      const AccessSite& site);  // it has been touched by another

// --- shadows (shadow.cc)

// Returns 0 if there is no room for another.
uint32_t take_shadow();
void give_shadow(uint32_t shadow);
// Checks the access against those that these bytes had before; notes it. The bytes lie in the page
// that has the shadow. Guarded by: the page's lock.
void check_access(uint32_t shadow, ThreadState& thread, Access& access, const AccessSite& site);
// The word there was stored to, by nobody's access: a task that looks at it knows what this one
// does.
void tell_by_word(uint32_t shadow, uint64_t offset, const ThreadState& thread);
void forget(uint32_t shadow, uint64_t offset, uint64_t size);
// What tasks of these slots knew when they stored anything there last is known from here on.
void acquire_published(uint32_t shadow, uint64_t slots, ThreadState& thread);
// Whoever may have stored what is there is known from here on.
void acquire_writers_of(uint32_t shadow, uint64_t offset, uint64_t size, ThreadState& thread);

// Clocks of accesses that are not kept any more, of a replay. Returns 0 if there is no room.
uint32_t take_dropped_clock();
Clock& dropped_clock(uint32_t index);

// --- what suggestions are made of (sharing_profile.cc)

inline bool suggests() { return __atomic_load_n(&found().suggests, __ATOMIC_RELAXED); }
// An access that is checked, before what it reads is acquired. Guarded by: the page's lock.
void note_seen(ThreadState& thread, Access& access, const AccessSite& site);
// The memory is given out anew.
void renew_seen(uint64_t start, uint64_t size);

// --- findings (report.cc)

uint32_t context_of(const AccessSite& site);
findings::Object object_at(uint64_t address);
findings::Object undeclared_at(uint64_t address);  // whatever is declared there
// In a block that the C library has taken for itself, or in a stream's buffer.
bool is_of_library(uint64_t address);
// `is_by_memory`: they may be ordered by plain moves.
void report_race(const PriorAccess& prior, const ThreadState& thread, Access& access,
                 const AccessSite& site, findings::Why why, bool is_by_memory = false);
uint32_t note_task(const Task& task, const ThreadState* creator);
// A system call has been made: it may have named a task. (names.cc)
void note_name(long number, long first, long second, long result);
// `fault`: a Fault, or a findings::Misuse. A prior without kind: there is no other side.
void report_policy(const PriorAccess& prior, const ThreadState& thread, Access& access,
                   const AccessSite& site, findings::Why why, uint32_t fault, uint32_t change,
                   const findings::Object& object);

}  // namespace weir::view::checked
