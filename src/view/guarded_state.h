// Within View guarded: what all processes know, in control memory.
#pragma once

#include "base/vector_clock.h"
#include "page/store.h"
#include "page/windows.h"
#include "sys/spinlock.h"
#include "task/shared.h"
#include "trace/findings.h"
#include "view/guarded.h"

namespace weir::view::guarded {

// Vector clocks have so many entries; a task's is its number modulo that. Tasks that share one are taken for one task that is ordered
// with itself: that may hide a race, and never invents one. The same holds for objects that share a clock.
inline constexpr uint32_t kSlots = 64;
inline constexpr uint32_t kSyncClocks = 1 << 14;
inline constexpr uint32_t kMostHeld = 16;      // locks that a task is known to hold
inline constexpr uint32_t kLocksets = 1 << 12;
inline constexpr uint32_t kMostOpen = 1 << 16;  // pages that are open to several tasks at once, and unseen
inline constexpr uint32_t kAllocations = 1 << 20;
inline constexpr uint32_t kMostLent = 64;
inline constexpr uint32_t kMostOpened = 64;  // objects that a task has open by their locks

using Clock = VectorClock<kSlots>;

struct SyncClock {
  SpinLock lock;
  Clock clock;
};

// Who was told last that the block was its own (malloc).
struct Allocation {
  uint64_t start, size;
  uint32_t context;  // findings
  uint32_t number;   // task
};

struct Lockset {
  uint32_t count;
  uint32_t key;  // 0: not in use
  uint64_t locks[findings::kMostLocks];
};

struct Opened {
  uint32_t object;  // guarded_objects.h
  uint32_t left;    // unlocks at which it stays open
  uint64_t lock;
};

struct Watcher {  // of a task, by its id
  Clock now;
  uint32_t slot;
  uint32_t number;      // findings::TaskInfo
  uint64_t creation;    // of the task that this is of
  uint64_t stack;       // where its stack begins, 0: the first task's
  uint32_t held_count;  // more than kMostHeld are not listed
  uint32_t lockset;     // index + 1, of what is held now; 0: to be looked up
  uint64_t held[kMostHeld];  // lowest bit: for reading
  uint64_t mixes[3];    // slots of tasks with which it has pages open, by Page::open_tag: what they do may be known to it at any time
  uint64_t mixes_lost;  // the same, of pages that it has lost and may still touch. Guarded by: the lock of its losses
  uint64_t closed_seen;  // State::closings, when it dropped its pages last
  uint32_t in_program;  // it may touch what it has mapped; else it drops what it has lost before it can. Guarded by: the lock of its losses
  uint32_t is_learnt;   // another has joined `now` without a release: the epoch is to end
  uint64_t is_over;     // the task has ended
  uint32_t lent_count;
  uint32_t library_orders;
  uint64_t lent[kMostLent];  // pages that it has for a moment
  uint64_t opened_count;
  Opened opened[kMostOpened];
};

// What the tasks of a slot knew in their last epochs: each entry from its own clock on, up to the next one's.
struct Past {
  static constexpr uint32_t kKept = 64;
  struct Known {
    uint64_t from;
    Clock clock;
  };
  SpinLock lock;
  uint64_t count;
  Known known[kKept];  // a ring
};

struct State {
  uint64_t slot_clock[kSlots];
  Past past[kSlots];
  Clock ended[kSlots];  // what tasks of the slot knew that have ended
  uint64_t over[kSlots];  // until when whoever has waited for them all knows them
  int64_t tokens;       // cycles that all tasks together may yet spend looking at accesses
  uint64_t refilled;    // cycles: when they were counted last; 0: never
  uint64_t generation;  // pages that are opened now are closed together; a closing begins
  uint64_t closings;    // that are over: all pages opened in the generations before this number have been taken from all tasks
  SpinLock open_lock;
  uint32_t open_count;  // pages in `open`; where there is no room for more they stay open (kForEver)
  uint32_t closed_count;
  uint32_t shadows;     // taken so far
  uint32_t free_shadow; // of a list of those that are free again, index + 1
  SpinLock shadow_lock;
  SpinLock findings_lock;
  uint32_t is_closing;  // one task makes a new generation
  Watcher watchers[kMaxTasks];
  SyncClock sync[kSyncClocks];
  Lockset locksets[kLocksets];
  uint64_t open[kMostOpen], closed[kMostOpen];
  Allocation allocations[kAllocations];
};
static_assert(sizeof(State) <= kGuardedSize);

inline State& state() { return *reinterpret_cast<State*>(kGuarded); }
inline Watcher& watcher_of(const Task& task) { return state().watchers[task.id]; }
inline findings::Findings& found() { return *reinterpret_cast<findings::Findings*>(kFindings); }

// --- clocks (guarded_clocks.cc)

// What the task may have learnt through memory that nobody looks at is known to it from here on.
void mix(Watcher& watcher);
// All that the tasks of these slots know now.
void join_slots(Watcher& watcher, uint64_t slots);
// What that task knew in that epoch.
void join_epoch(Watcher& watcher, const Epoch& epoch);
// `other` is known from here on, in a new epoch.
void learn_clock(Watcher& watcher, const Clock& other);
// What the task does from here on is not known to who has learnt of it until here.
void step(Watcher& watcher);
// Others have joined its clock without a release: its epoch ends.
void meet_learners(Watcher& watcher);
uint32_t lockset_of(Watcher& watcher);
void begin_first(Task& task);

// --- pages (guarded_pages.cc)

enum class Mode : uint8_t {
  kNew,      // nobody has touched it
  kWatched,  // nobody has it: every access is looked at
  kPrivate,  // the owner has it
  kReadBy,   // several tasks may have it for reading
  kOpen,     // any task may have it: accesses are not seen
  kDeclared, // the policies of the objects in it say who may have it (guarded_declared.cc)
};

inline constexpr uint16_t kForEver = 2;

struct Page {
  SpinLock lock;
  Mode mode;
  uint8_t was_written;   // kWatched: since it is
  uint16_t owner;        // kPrivate; kWatched: the only one so far
  uint32_t owner_creation;
  uint32_t looks;        // accesses looked at since it is watched; kDeclared: the object whose page it is, 0: of several, or of other memory too
  uint32_t shadow;       // index + 1
  uint8_t toucher_count;   // 0, 1, 2 for more
  uint8_t unseen_slot;
  uint16_t open_tag;       // kOpen: the parity of the generation in which it was opened, or kForEver
  uint64_t holders;      // slots of tasks that may have it mapped, and touch it unseen
  uint64_t released;     // slots of tasks that may have stored to it what tells others something
  uint64_t unseen_clock;  // of unseen_slot: until when it may have stored there unseen; 0: nobody
  uint64_t unseen;       // slots of others who may have
};
static_assert(sizeof(Page) == 56 && page::windows::kMost * sizeof(Page) <= kWindowPagesSize);

inline constexpr int64_t kMostTokens = 100'000'000;
inline int64_t tokens() { return __atomic_load_n(&state().tokens, __ATOMIC_RELAXED); }

inline Page& page_at_alias(uint64_t alias) { return reinterpret_cast<Page*>(kGuardedPages)[(alias - kAlias) / kPageSize]; }
inline Page& page_of(uint64_t page) {
  if (page::windows::contains(page)) return reinterpret_cast<Page*>(kWindowPages)[page::windows::index_of(page)];
  return page_at_alias(page::alias_of(page));
}
inline uint64_t bit_of(const Watcher& watcher) { return uint64_t{1} << watcher.slot; }
bool is_owner(const Page& page, const Task& task);
void own(Page& page, const Task& task, Mode mode);
// Maps the page; the task is a holder. Under the page's lock, like the next.
void let_in(uint64_t at, Page& page, Watcher& watcher, bool writes);
// What was stored there unseen, by whoever has given it up since, may be read from here on.
void learn_unseen(Page& page, Watcher& watcher);
void become_open(uint64_t at, Page& page, Watcher& watcher);
// A task has come to a page that its process has not mapped, or not for that. True: it has it now. False: it is watched.
bool enter(Task& task, Watcher& watcher, const Spot& spot, uint64_t address, bool writes);
// An access, where its pages are watched.
void look_at(Watcher& watcher, const Spot& spot, Touch touch);
// If the address lies in the task's own stack: its page is watched from here on.
void expose(Task& task, Watcher& watcher, uint64_t address);
void drop_page(uint64_t at, const Watcher& watcher);
// These holders are made to drop it.
void lose(uint64_t at, Page& page, uint64_t holders, const Watcher& by);
// The task has it, like all its other holders, and may learn from them at any time.
void open_to(uint64_t at, Page& page, Watcher& watcher);
// What is lent, lost or closed is dropped.
void settle(Task& task, Watcher& watcher);
void close_open();
// Data of the C library and its like (guarded.cc).
bool is_trusted(uint64_t address);

// Whether such an access may be what one task tells another by, and the other hears: an atomic store, or load.
inline bool releases(uint32_t kind) { return (kind & findings::kWrite) && (kind & (findings::kAtomic | findings::kMayBeAtomic)); }
inline bool acquires(uint32_t kind) { return (kind & findings::kRead) && (kind & (findings::kAtomic | findings::kMayBeAtomic)); }

struct Prior {  // the other side
  uint64_t address, size;
  uint32_t kind, number, context, lockset;
};

// --- objects with a declared policy (guarded_declared.cc)

// What the task is about to touch lies in one page, which is kDeclared. True: it has the page. False: the access is to be made without; it was looked at.
// `lacks`: it is known not to have it now, even where it was let in.
bool meet_declared(Task& task, Watcher& watcher, const Spot& spot, Touch touch, Page& page, bool lacks);
void close_by_lock(Watcher& watcher, uint64_t lock);  // it has been unlocked
void begin_declared();  // tasks begin
// The memory is another's from here on: its objects are forgotten. `freed`: a block of the heap, by the task at that spot, to whom they have to belong.
void end_declared(uint64_t start, uint64_t size, const Spot* freed);
bool is_declared(uint64_t address, findings::Object& object);
// A variable of the program's, where what is not declared is private to who touches it first (guarded_strict.cc).
bool is_untouched(uint64_t address, const Spot& spot);
void report_untouched(const Prior& prior, const Watcher& watcher, Touch& touch, const Spot& spot);  // it has been touched by another

// --- shadows (guarded_shadow.cc)

// 0: there is no room for another.
uint32_t take_shadow();
void give_shadow(uint32_t shadow);
// Looks at who has touched these bytes before; notes this. The bytes lie in the page that has the shadow. Guarded by: the page's lock.
void look(uint32_t shadow, Watcher& watcher, Touch& touch, const Spot& spot);
void forget(uint32_t shadow, uint64_t offset, uint64_t size);
// Whoever may have stored what is there is known from here on.
void learn_from(uint32_t shadow, uint64_t offset, uint64_t size, Watcher& watcher);

// --- findings (guarded_findings.cc)

uint32_t context_of(const Spot& spot);
findings::Object object_at(uint64_t address);
findings::Object undeclared_at(uint64_t address);  // whatever is declared there
// In a block that the C library has taken for itself: a stream's buffer, ...
bool is_of_library(uint64_t address);
void report_race(const Prior& prior, const Watcher& watcher, Touch& touch, const Spot& spot, findings::Why why);
uint32_t note_task(const Task& task, const Watcher* creator);
// `fault`: a Fault, or a findings::Misuse. A prior without kind: there is no other side.
void report_policy(const Prior& prior, const Watcher& watcher, Touch& touch, const Spot& spot, findings::Why why, uint32_t fault, uint32_t change,
                   const findings::Object& object);

}  // namespace weir::view::guarded
