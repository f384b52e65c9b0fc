// View coherent: one memory, of which each page is at any moment nobody's, read by some tasks, or
// written by one (UPLAY, section 1.1: concurrent read, exclusive write).
// Implemented in coherent.cc, holding.cc and lock_prefetch.cc.
//
// A page changes hands only in turns, and a task in program code keeps what it has until its next
// turn. So what a task reads follows from the order of turns. A run that repeats that order repeats
// every access, racy or not.
#pragma once

#include "control/task.h"
#include "memory/demand.h"

namespace weir::view::coherent {

// Called in a process once it runs tasks: from then on nothing of the backing is mapped, and a task
// that touches it gets SIGBUS. Reports and returns false if the kernel has no userfaultfd for
// shared memory.
inline bool open_tracking() { return page::demand::open("coherent"); }
inline void close_tracking() { page::demand::close(); }
// Memory that this process has mapped since.
inline void track(uint64_t start, uint64_t size) { page::demand::track(start, size); }

// The address is memory of the backing, and this process tracks it.
inline bool is_ours(uint64_t address) { return page::demand::is_ours(address); }
// The task has touched the address, in program code or in the runtime. Returns when it may access
// it. This is an event if the task has no right to the page yet. If the task has the turn, that may
// be passed on meanwhile.
void on_fault(Task& task, uint64_t address, bool writes);
// The kernel is about to access the bytes for the task, or the runtime by another mapping. This
// counts as if the task touched all of them now. Passes over what is not in the backing, or is
// closed.
void touch(uint64_t start, uint64_t size, bool writes);

// True if the task has the page of the address: only the task itself changes it, until its next
// turn.
bool may_read(const Task& task, uint64_t address);
// Maps those pages of the range that the task has a right to, without an event.
void map_again(Task& task, uint64_t start, uint64_t size);
// True if the task has the page of the address, for writing if `writes`.
bool has(const Task& task, uint64_t address, bool writes);

// True in a run of page faults without a wait between them, nor another event but calls that do not
// wait. Then the task defers requests for its pages until the run ends, or it is stopped for the
// requesting tasks. So tasks that touch the same pages all the time have each page for a while,
// instead of for one access. In turns.
bool defers_requests(const Task& task);
// True if the task has been given pages that tasks take from each other again and again, and keeps
// them over its events. In turns.
inline bool holds_on(const Task& task) { return task.pages.hot_pages != 0; }
// In such a run. In turns.
bool is_in_run(const Task& task);
inline void end_run(Task& task) { task.pages.fault_run = 0; }
// The time for which it was not to be stopped for who waits for its pages is over. Depends on the
// clock, so the caller records it.
bool has_deferred_long(const Task& task);
// It has held on for long enough, or what it does between its events takes longer than another
// task should wait. Depends on the clock, so the caller records it.
bool has_held_long(const Task& task);
// In turns. If `gives_up`, the task gives up all pages for which tasks compete: the one that has
// asked needs most of them, and gets them without asking.
void end_hold(Task& task, bool gives_up);
// True if other tasks wait for pages of the task; at any time.
bool is_asked(const Task& task);
// In the task's own turn: grants the requested pages. Returns true if there were any.
// `stays_mapped`: the task is about to sleep in a system call, which may access its memory, so the
// pages are unmapped when it is back (catch_up).
bool grant_requests(Task& task, bool stays_mapped = false);
// The task has the turn again after a wait: unmaps the pages that other tasks have taken meanwhile.
void catch_up(Task& task);
// In its turn: the task releases all pages that it has.
void release_all(Task& task, bool stays_mapped = false);
// In its turn: the task has taken a lock, or is about to release the one that it took last.
void enter_section(Task& task, uint64_t lock);
// In its turn: before it takes a lock that is free. If the task that had the lock last keeps the
// pages that are used under it, waits until that one gives them up, and returns true.
bool await_section(Task& task, uint64_t lock);
// Another task does so, or has done so and not come to the lock again.
bool is_section_awaited(const Task& task, uint64_t lock);
void leave_section(Task& task);
// In a turn: the pages have been emptied in the backing (page::zero_pages), and belong to no task.
void forget(uint64_t start, uint64_t size);

// Allows this process to touch the page, whichever task has it. Either all other tasks stand still,
// or the task will not act on what it reads. Ends with return_borrowed().
inline void borrow(uint64_t address) { page::demand::borrow(address); }
// lend() for all memory: a child borrows the task's address space, and may close descriptors.
inline void borrow_all() { page::demand::borrow_all(); }
inline void return_borrowed() { page::demand::return_borrowed(); }

}  // namespace weir::view::coherent
