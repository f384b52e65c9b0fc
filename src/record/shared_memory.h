// Memory that processes share (mappings with MAP_SHARED, System V segments), in a recording at a
// View that has pages.
// Implemented in shared_memory/.
//
// A page of it belongs at any moment to one task of one process of the recording
// (channel/shared_page_table.h), and no other task touches it. What a task finds in a page
// that it is given is logged, like what a read() returns. So no order between processes is logged.
// In a replay each task has such memory of its own, and gets the same bytes at the same access.
//
// Invariants
// 1. A task that computes keeps its pages until its next event, where it gives up those that were
//    requested. A task that waits loses its page to whoever needs it. The recording has where a
//    page goes, and in a replay it goes there too. (checked in give_if_asked)
// 2. A task that waits for a page has given up its claims to all others. So pages cause no
//    deadlock. (not checkable: nobody sees all who wait; a circle would stand still)
// 3. Nothing here depends on the Order, and the Order depends on nothing here. (not checkable: it
//    is about what the code includes)
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "control/task.h"

namespace weir::shared_memory {

extern bool g_active;  // this process has, or had, such memory

// The program touched it. False: it is none, or the fault is the program's own.
bool on_fault(Task& task, uint64_t address, bool writes);
// The kernel is about to access the memory, or the runtime at a time of its own. This counts as if
// the program touched all of it now. `reads`: a replay compares what is found there.
void touch(Task& task, uint64_t start, uint64_t size, bool reads);
// Protections of program memory were set anew: all pages but the task's are closed.
void close_again();
// Counts pages that were taken.
uint64_t taken();
// Lets the kernel see the words of a futex until the call is over, whichever task has their pages.
void lend(uint64_t first, uint64_t second);
void end_lending();
// A system call is about to be made, its memory being touched; and is over. What is changed
// meanwhile by a process that is not recorded is found by looking, as far as the task has few pages
// of files.
void begin_call();
void end_call(Task& task);

// The task waits from here on, for whatever; and does no more. REQUIRES: nothing of such memory is
// touched between the two.
void begin_sleep(Task& task);
void end_sleep(Task& task);
class SleepScope {
 public:
  explicit SleepScope(Task& task) : task_(task), active_(g_active) {
    if (active_) begin_sleep(task_);
  }
  ~SleepScope() {
    if (active_) end_sleep(task_);
  }
  SleepScope(const SleepScope&) = delete;
  SleepScope& operator=(const SleepScope&) = delete;

 private:
  Task& task_;
  bool active_;
};
// A child borrows the task's address space, with a record of its own, and is about to; and has
// given it back.
void begin_borrowing(Task& task);
void end_borrowing(Task& task);
// The task computes, and others wait for what it has, or did so here when it was recorded: it is to
// be seen whether it spins (signal/spin_probe.cc).
bool is_awaited(Task& task);
// give_if_asked() for a task in a provable spin, at a point that every run passes.
void give_at_spin(Task& task);
// At the end of an event: gives what others have asked for.
void give_if_asked(Task& task);

// mmap for shared memory. Returns true if it is such memory; then `result` is the call's result.
// `descriptor`: if the memory is anonymous and other processes of this program must map it too.
// They do so by repeat().
bool map(long address, uint64_t size, int protection, long flags, int descriptor, uint64_t offset,
         long& result);
// In another process of the program, the same mapping.
bool repeat(Range range, int protection, int descriptor, uint64_t offset);
// A segment that the kernel has attached there (not in a replay); in another process of the program
// `segment` is.
void attach(Range range, int protection, bool replaces);
bool repeat_attach(Range range, int protection, long segment);
uint64_t size_at(uint64_t address);
Range mapping_at(uint64_t address);
bool overlaps(uint64_t start, uint64_t size);
// The program has mapped something else there, or nothing; has changed the protection; or has moved
// it.
void on_unmap(uint64_t start, uint64_t size);
void on_protect(uint64_t start, uint64_t size, int protection);
void on_move(Range from, Range to);
// The program is about to change these bytes of the file by a call: pages of it that the task has
// mapped, and another has, come to the task as if it touched them.
void before_file_change(Task& task, long descriptor, Range bytes);
// Recording: the program has written to the file, or has changed its length.
void on_file_change(Task& task, long descriptor);
// The task gives what it has there: it has been changed by other means.
void give_range(uint64_t start, uint64_t size);

// A forked child, or a task that begins in this process, has none of the pages that were mapped
// here.
void begin_process(Task& task);
// The task ends, or its process executes another program: whatever it has is nobody's.
void leave(Task& task);
// The process ends: the kernel marks the robust locks that it holds.
void exit(Task& task);

}  // namespace weir::shared_memory
