// The parts of a task's record, by the module that knows what they mean. Each is plain memory that
// all tasks see; Task (control/task.h) is made of them.
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "control/execution_point.h"
#include "control/floor.h"
#include "sys/float_x86_64.h"
#include "sys/signal.h"

namespace weir {

enum class TaskState : uint32_t {
  kFree,     // slot not in use
  kRunning,  // executes program code; a round waits for it
  kArrived,  // stands at an event and wants its turn
  kServed,   // has had its turn in this round, goes on with the next
  kBlocked,  // waits for another task (queue `wait_key`) or for `deadline`
  kOutside,  // sleeps in the kernel for the outside world; no round waits for it
  kReady,    // woken or new: runs from the next round on
};

// What the task has a turn for (sync/turn.h has the transitions). Whether it waits for the turn, or
// has passed it on and waits to have it again, is its TaskState.
enum class TurnState : uint32_t {
  kNone,      // it has no turn
  kHolding,   // one event, in the runtime or in a function of the C library
  kCreating,  // none: it makes a task without a turn (begin_create); turn.depth counts all the same
  // Program code goes on with the turn:
  kSection,          // from the lock of a mutex to its unlock
  kSectionEvent,     // within it: an event that belongs to the section
  kGap,              // from an event to the next, over a short compute gap
  kGapSection,       // within it: from the lock of a mutex to its unlock
  kGapSectionEvent,  // within that: an event that belongs to the section
  kHoldForCreate,    // between two pthread_create (View direct)
  kHoldForJoin,      // the C library's part of pthread_join
  kHoldForEnd,       // from the end of the thread's function to the end of the task
  kHoldForRetry,     // order only: between an operation on a lock of libc's that failed and what it
                     // does about that
  kProgram,          // Order serial: all of program code; an event in it has turn.depth 2
};

struct PendingSignal {
  int32_t signal;
  int32_t unused;
  uint8_t info[128];  // siginfo_t as the kernel wrote it
};

struct SignalNode {  // of a list of signal/queue.h
  uint32_t next;
  uint32_t unused;
  PendingSignal what;
};

struct SignalList {
  uint32_t first, last;
};

// What a task does with its time, each moment in one of them. Counted only where it was asked for
// (control/phase_timer.h).
enum class Phase : uint32_t {
  kProgram,     // program code between events, page faults and calls that are no events included
  kSection,     // program code with a turn that is kept
  kScanning,    // finding the pages that it changed
  kWaiting,     // from its arrival at an event, or its return from the kernel, to its turn
  kPublishing,  // publishing, and bringing the copies that stay up to date
  kTurn,        // the rest of an event
  kResuming,    // from the end of its turn, or its birth, until program code goes on
  kBlocked,     // from giving the turn away to wait for another task until it has the turn again
  kOutside,     // asleep in the kernel for the outside world
};
inline constexpr uint32_t kPhases = 9;

// Layout: 64-bit numbers only, which are added one by one.
struct TaskCounters {
  uint64_t events;         // turns taken
  uint64_t faults;         // copies the kernel made on first write (dirty pages found)
  uint64_t diffs;          // pages with bytes to publish
  uint64_t bytes;          // bytes published
  uint64_t atomics;        // locked instructions executed
  uint64_t fast_locks;     // operations on locks that were no events (sync/biased_lock.h)
  uint64_t syscalls;       // system calls that were events
  uint64_t spins;          // provable spins in which the task waited
  uint64_t serial_cycles;  // holding the turn
  uint64_t scans_saved;    // times that the task's copies were known without looking for them
  uint64_t prefetched;  // pages that were copied before they were written, as they had been written
                        // before
  uint64_t predicted;   // of these, written
  uint64_t moves;       // into the in-place process
  uint64_t transactions;  // stretches of program code that ended with a publication. Counted with
                          // the phases
  uint64_t refreshed;     // copies that stay, made equal to the backing: the page and its twin are
                          // copied each time
  uint64_t handed_over;   // pages copied for tasks that this one made without a turn
  uint64_t transfers;     // View coherent: pages that another task had, at its faults
  uint64_t page_waits;    // of these, those that it had to wait for
  uint64_t processor_ns;  // processor time; set when the task ends
  uint64_t phase_cycles[kPhases];
};

inline constexpr uint32_t kKnownSections = 4;

// What the task is to the kernel and to the program.
struct TaskIdentity {
  int32_t tid;               // the kernel's id of the thread or process that runs this task
  int32_t virtual_tid;       // what gettid answers: deterministic
  uint64_t clear_child_tid;  // program address to clear and wake at exit, 0 if none
  uint64_t robust_list;      // head, as set_robust_list gave it
  uint64_t process;          // index of the process that runs it (isolated)
  uint64_t creation;         // running number of the task since start
  uint64_t random_draws;     // of constant random bytes (constant/random.cc)
  uint64_t start_function;   // program function and argument of the thread; of a creator: those of
                             // the thread it makes
  uint64_t start_argument;
  sys::FloatControl float_control;  // that it begins with
  uint32_t changed;  // of what the kernel has of each thread (priority, processors, ...) the
                     // program has changed something: its process does no other's work afterwards.
                     // Those that it makes have it, too
  // Nanoseconds: the task's CPU time is that of its process and this (isolated)
  int64_t cpu_offset;
  uint32_t in_vfork;  // a vfork child borrows this task's memory: handlers stay native
  uint32_t exiting;   // it called exit, or returned from main
  uint32_t asked_in;  // the program ends: it is to come in where it stands, and to stand aside
  uint64_t environment_room;  // bytes of the variables of a program that it is about to execute
                              // (task/exec/environment.h)
  uint64_t mapping_sequence;  // entries of the mapping record applied
  uint32_t cpuid_faults;      // of the thread that it is, at View direct
};

// When the task may run. Guarded by: the order's lock, except wake_word and where a line says
// otherwise.
struct TaskOrder {
  TaskState state;
  uint32_t spin_cycles;   // how long looking at wake_word has paid (order/rounds)
  uint32_t sleeps;        // looks in vain since one paid
  uint32_t called;        // its turn is near
  uint32_t how;           // by arrival: an order::How, why it wants the turn
  uint32_t what;          // by arrival: the EventKind for which
  uint64_t arrival;       // by arrival: when it began to want it
  uint32_t is_unnoted;    // order only: its arrival is not in the recording yet. Guarded by:
                          // `OrderState::lock`
  uint32_t awaits_turns;  // replaying: it is in kRunning, and stands (order::await_turns)
  uint32_t computes;  // by arrival: it has left its last event, or is new, and has not had the turn
                      // since. Guarded by: the turn
  uint32_t comes;     // order::Outside: what has come to it since the last decision, 0 nothing
                      // (order/external_log.h)
  uint32_t throttled;      // it stands though it could run (order/admission.h)
  uint32_t expected;       // pages that its next interval will change, 0 unknown
  uint64_t clock;          // events and changed pages so far
  uint32_t wake_word;      // futex: 1 = go and look
  uint32_t sleeping;       // 1 while it may sleep on wake_word
  uint64_t wait_key;       // queue it is in while kBlocked, 0 if none
  uint64_t wait_sequence;  // arrival in its queue: FIFO
  uint32_t wait_bits;      // FUTEX_WAIT_BITSET
  uint32_t wait_result;    // 0 woken, else errno
  uint64_t deadline;       // virtual nanoseconds, 0 = none
  uint32_t had_signal;     // signals were pending when the wait began: it ends at once, in order
  uint64_t next_probe;     // round-independent cycle stamp of the next allowed probe
  uint64_t probe_interval;
  uint64_t overdue_since;  // when others first found it overdue, 0 if it was not
  uint32_t probes;         // signals of the probe since then
  uint32_t place_wanted;   // it is to say where it stands: others wait for it for long
  const char* wait_what;   // for diagnosis: "mutex", "futex", ...
  uint64_t wait_address;
  uint32_t waits;          // how often it has begun to wait (block())
  uint32_t kernel_sleeps;  // how often it has begun to sleep in the kernel
  uint64_t interval_key;   // the event after which program code goes on (tape)
};

// The turn that the task holds, and why it keeps it beyond an event. Only the task itself changes
// it.
struct TaskTurn {
  TurnState state;          // written by the task itself only
  uint32_t depth;           // events that it is in, one within the other; a kept turn counts as one
  uint32_t held;            // mutexes of the section that keeps the turn
  uint64_t section;         // its first mutex
  uint64_t broken_section;  // that of a section in which another event came before the unlock
  uint32_t coalesced_events;  // in a turn that is kept
  uint32_t gap;               // index of the ComputeGap that it is in
  uint32_t counted;           // program code that goes on with the turn is counted
  uint32_t long_gap;          // index + 1 of that at the end of which it gave the turn up
  uint32_t last_coalesced;    // of the last turn that was coalesced over gaps
  uint32_t wakes;             // how often it has woken others
  uint32_t wakes_seen;        // ... when the last event of such a turn ended
  uint32_t looks_for_spin;    // blocks that it may still execute to come to the same state again
  uint64_t gap_state;         // hash of registers
  // Operations on objects that need no turn: no other task runs (see kMaxSoleOperations)
  uint32_t sole_operations;
  uint64_t start_word;  // program address: to be looked at before the first publication (see
                        // runtime/dispatch.cc)
};

// What the task does with locks and cancellation between its events. Only the task itself changes
// it, except cancel_asked.
struct TaskLocks {
  uint64_t releases[16];  // locks that it released and others still see held (sync/biased_lock.h)
  uint32_t release_count;
  uint32_t uses;  // in a row of used_object, the last lock of this task's own
  uint64_t used_object;
  uint32_t biased_operations;  // operations on locks since the last publication that were no events
  uint32_t failed_tries;       // trylocks in a row that found a mutex held
  uint32_t tried_in_vain;      // the last one did
  uint32_t failures;           // failed attempts in a row (note_failure)
  uint64_t once;  // program address: innermost pthread_once that has not begun its routine (see
                  // interpose)
  uint32_t cancel_asked;  // pthread_cancel named this task
  uint32_t cancel_wait;   // it waits where that ends the wait
};

// Where the task stands in the order of one object (sync/object_order.h), where operations take no
// turn.
struct TaskPoint {
  // Order only: it operates on an object: the bucket's index + 1 (sync/object_order.h)
  uint32_t object;
  uint32_t in_row;            // in a row that took no turn
  uint64_t at;                // cycles: when the last one was
  uint64_t after;             // turns that had been given before the one that it is at,
  uint64_t known_after;       // and before the last one that a word was kept of
  uint32_t sleeps_turn_free;  // futex: it is among the sleepers of an object's bucket
                              // (sync/object_order.h). This, and the two: guarded by the bucket
  uint32_t next_turn_free;    // + 1: who sleeps after it in that bucket; 0 none
  uint64_t turn_free_key;     // what it sleeps for
};

// View coherent: the pages that the task waits for, holds on to, or was asked for.
struct TaskPages {
  uint64_t waited;          // its number among those who had to wait for a page, while it
                            // does; 0: it need not
  uint64_t awaits;          // the page, and in the lowest bit whether it is to write it
  uint32_t fault_run;       // page faults since its last event that ends such a run, or wait for
                            // a page. Guarded by: the turn
  uint32_t waits_for_page;  // its wait ends by another task only
  uint64_t defers_until;    // and for how long it is not to be stopped for who waits for its pages
                            // (sys::monotonic_ns)
  uint64_t asked_since;     // and since when they wait; 0: nobody does
  uint32_t was_deferred;    // it has asked a task for a page that was in such a run
  uint64_t hot_pages;       // faults for pages for which tasks compete, since it has held on to
                            // them; 0: it does not. Guarded by: the turn
  uint64_t held_since;      // cycles: when it was given the last of these
  uint32_t borrows;         // in the kernel: pages are mapped to which it has no right
  uint32_t sections;        // locks that it holds, and the first ones
  uint64_t section_lock[kKnownSections];
  uint64_t awaits_section;  // the lock that it is to take when the task that keeps the lock's pages
                            // gives them up; 0: none. Guarded by: the turn
  uint32_t
      granted_pages;  // at the beginning of its turn others got pages that they had asked it for
  uint32_t spins_on_pages;  // it provably spins, and waits until a page that it has is taken
  uint32_t holds_call;  // a system call of the program's is being made, whose memory it is to have
                        // when the kernel looks
  uint32_t peeks;  // the runtime reads memory for itself, when the clock or what it knows of a file
                   // says so: no access of the task's
};

// View isolated: the copies that the task has changed.
struct TaskCopies {
  uint64_t dirty_count;    // pages found by the last arrival
  uint64_t changed_count;  // of these, changed
  uint32_t has_run;        // program code, since the last publication
};

// Where a task goes on at an access that it may not make (signal/context/refused_access.h): its
// registers, and where its own instruction is made again.
struct RefusedAccess {
  uint64_t rax, rflags, again;
};

// Signals, as the program believes them. Only the task itself changes it, except inbox, which the
// order's lock guards.
struct TaskSignals {
  uint64_t mask;              // as the program believes it
  uint16_t raised_again[32];  // real-time signals that were noted and are in the kernel's queue
                              // again, by number
  uint64_t handlers[8];       // signal frames of handlers that have begun, on the program's stacks
                              // (trap::is_in_handler)
  uint32_t handler_count;
  int32_t handler_signal;          // of the outermost of them
  uint32_t interrupted;            // a signal arrived for a waiting task
  uint64_t wait_set;               // set that sigwait waits for, 0 if none
  uint32_t wait_given;             // of these one is on its way: the next is another task's
  uint64_t altstack[3];            // the program's own sigaltstack (ss_sp, ss_flags, ss_size)
  uint64_t preempted_rip;          // where an involuntary event began
  PendingSignal* pending_signals;  // set by the first; in memory of the task's own, see kNotedSize
  SignalList inbox;                // sent by other tasks in their turns
  PendingSignal bare;  // raised without its information, for which the kernel has no room; 0: none
  // One of Weir's own signals has met it in the runtime: it may have ended a call of the kernel's.
  uint32_t met_own;
  uint32_t has_wait_mask;
  uint32_t mask_in_doubt;  // a handler has begun: its return sets what its frame says
  uint64_t wait_mask;      // signal mask of a sigsuspend or ppoll that a signal ended
  RefusedAccess refused;
};

inline constexpr unsigned kStampRegisters = 12;

// What the probe has seen of a task that may spin (signal/spin_probe.h).
struct TaskSpin {
  uint32_t stepping;  // single steps of a spin probe are on
  uint32_t spinning;  // the probe proved a spin; the task is on its way to that event
  uint32_t sampled;   // states seen by them (signal/spin_probe.cc), since the event `sampled_event`
  uint32_t repeats;   // of these, seen before
  uint32_t vain_steppings;  // single-stepped without a proof
  // Wait of a spinning task: the bytes its loop reads (signal/spin_probe.cc).
  uint32_t read_count;
  uint64_t limit;       // ... and how long, in virtual nanoseconds; 0: as long as it takes
  uint64_t sampled_at;  // cycles
  uint64_t sampled_event;
  uint64_t samples[16];  // hashes of registers
  struct SpinRead {
    uint64_t address;
    uint32_t size;
    uint32_t pad;
    uint64_t value;
  } read[16];
  // Readings of rdtsc (runtime/time_stamps.h): the last one, since the event `stamp_events`, and at
  // `stamp_place` in a row.
  uint64_t stamp;
  uint64_t stamp_events;
  uint64_t stamp_place;
  uint64_t stamp_registers[kStampRegisters];
  uint32_t stamps;
  uint32_t stamps_here;
};

// Where the task stands in its recording (record/stream.h), while one is made or replayed.
struct TaskRecorded {
  uint64_t entries;       // times that it came into the runtime on its own account, in a recording
  uint64_t deliver_mask;  // recorded: signals blocked when pending ones began to be raised
  uint64_t written;       // hash of what the call that it waits in writes; 0: there is none
  uint64_t raised_once;   // recorded: of these, those that do not queue and have not come yet
  uint32_t stream;        // of a recording: slot + 1 (channel/ring.h), 0: not known yet
  uint32_t ordinal;       // the process that it is a task of, in a recording
  uint32_t shared_memory_sleeps;  // it waits (record/shared_memory.h), so many times over
  uint32_t shared_memory_points;  // places since it took a page of such memory where it may have
                                  // given some
  uint32_t at_point;              // recording: it was stopped at `point`, which is not logged yet
  uint32_t steps_to_point;  // single steps to a point where it can be stopped; 0: none are made
  uint32_t parked;  // real-time signals that were noted and wait for room in the kernel's queue, in
                    // front of pending_signals
  uint32_t settling;    // recorded, replayed: pending signals are raised; no others become pending
  uint32_t has_raised;  // pending signals were raised, and their handlers have run
  uint32_t in_look;     // in a replay that is checked: it is in the runtime for an access only, and
                        // may be asked what it does
  ExecutionPoint point;
};

// The task while the in-place process runs it on the backing (control/in_place_process.h).
struct TaskInPlace {
  uint64_t mask;        // the kernel's of its own process, while it is in the in-place process
                        // (control/in_place_process.h)
  uint32_t mask_holds;  // 1: mask is about to be, 2: it is what the task blocks, whatever
                        // its process does
  uint32_t word;        // futex: 1 = it comes back
  uint32_t sleeps;
  uint32_t away;            // the in-place process runs it
  uint32_t waits_in_place;  // it waits there for its turn
  uint32_t wanted_back;     // a signal waits there, or the program ends
};

// What the task has spent its time on.
struct TaskSpent {
  TaskCounters counters;
  uint64_t phase_since;  // cycles; 0: none has begun
  Phase phase;
  TaskFloor floor;
};

}  // namespace weir
