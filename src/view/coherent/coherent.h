// View coherent: one memory, of which each page is at any moment nobody's, read by some tasks, or
// written by one (UPLAY, section 1.1: concurrent read, exclusive write).
//
// A page changes hands in turns only, and a task that is in program code keeps what it has until
// its next turn. So what a task reads follows from the order of turns: whoever repeats that order
// repeats every access, racy or not.
#pragma once

#include "control/task.h"
#include "memory/demand.h"

namespace weir::view::coherent {

// Per process, once it runs tasks: nothing of the store is mapped, and who touches it gets SIGBUS.
// False with a report where the kernel has no userfaultfd for shared memory.
inline bool open_tracking() { return page::demand::open("coherent"); }
inline void close_tracking() { page::demand::close(); }
// Memory that this process has mapped since.
inline void track(uint64_t start, uint64_t size) { page::demand::track(start, size); }

// The address is store memory, and this process tracks it.
inline bool is_ours(uint64_t address) { return page::demand::is_ours(address); }
// The task touched it, in program code or in the runtime: returns when it may. An event, where it
// has no right yet; where the task has the turn it may be passed on meanwhile.
void on_fault(Task& task, uint64_t address, bool writes);
// The kernel, or the runtime by another mapping, is about to read or write it for the task: as if
// the task touched all of it now. What is no store memory, or closed, is passed over.
void touch(uint64_t start, uint64_t size, bool writes);

// The task has the page of the address: what is there changes by it only, until its next turn.
bool may_read(const Task& task, uint64_t address);
// The same, and it may write there, if `writes`.
// Maps those pages of it that the task has a right to, without an event.
void map_again(Task& task, uint64_t start, uint64_t size);
bool has(const Task& task, uint64_t address, bool writes);

// It comes to page faults only, one after the other, and waits for nobody: what others want it
// gives up when it has come to something else, or was stopped for them. Where tasks touch the same
// pages all the time each has them for a while, instead of one access. In turns.
bool keeps_pages(const Task& task);
// Others wait for pages of the task's; at any time.
bool is_asked(const Task& task);
// In the task's own turn: gives what others have asked for. True: there was something.
// `stays_mapped`: it is about to sleep in a call of the kernel's, which may look at its memory;
// unmapped when it is back (catch_up).
bool serve(Task& task, bool stays_mapped = false);
// It has the turn again after it waited: what others took meanwhile is not mapped any more.
void catch_up(Task& task);
// In its turn: the task gives up all that it has.
void hand_out(Task& task, bool stays_mapped = false);
// In its turn: the task has taken a lock, or is about to release the one that it took last.
void enter_section(Task& task, uint64_t lock);
void leave_section(Task& task);
// In a turn: the pages have been emptied in the store (page::zero_pages), and are nobody's.
void forget(uint64_t start, uint64_t size);

// The page may be touched here, whoever has it: where all others stand still, or the task will not
// act on it. Ends with take_home().
inline void lend(uint64_t address) { page::demand::lend(address); }
// The same for all memory: a child borrows the task's address space, and may close descriptors.
inline void lend_all() { page::demand::lend_all(); }
inline void take_home() { page::demand::take_home(); }

}  // namespace weir::view::coherent
