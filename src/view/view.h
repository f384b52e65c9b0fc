// The View of a run: which memory its tasks see, and when. Callers tell it what happens to a task;
// it acts on memory and never decides who goes first. A function that a View does not override does
// nothing. That is right for one real memory (view/direct.h).
//
// Every function is called on the runtime's stack. "In its turn" means that the task has the turn.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "control/task.h"

namespace weir::view {

class View {
 public:
  constexpr View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // --- processes that run tasks

  // This process runs tasks from now on. False, with a report: the kernel lacks what the View
  // needs.
  [[nodiscard]] virtual bool open_tracking() { return true; }
  // It does not any more: the View gives back the descriptors that it has here.
  virtual void close_tracking() {}
  // This process has mapped [start, start + size) of the backing.
  virtual void track(uint64_t, uint64_t) {}
  // This process is new: nothing is known of its copies.
  virtual void forget_copies() {}

  // --- a task arrives at an event, and has its turn

  // Finds what the task has written since it last published. REQUIRES: no task publishes meanwhile.
  virtual void find_writes(Task&) {}
  // In its turn: makes what find_writes() found visible to all.
  virtual void publish(Task&) {}
  // Takes in what others have published. REQUIRES: the task has nothing left to publish.
  virtual void refresh() {}
  // As refresh(), for the page of the address alone, when nothing else can have changed.
  virtual void refresh_page(uint64_t) {}
  // As refresh(), and no copy is retained.
  virtual void drop_retained_copies() {}
  // In its turn: gives the pages that others have asked for. True if there were any. If
  // `stays_mapped`, the task is about to sleep in the kernel, which may look at its memory.
  virtual bool grant_requests(Task&, bool /*stays_mapped*/ = false) { return false; }
  // At the beginning and at the end of a turn: as grant_requests(), unless the task may keep its
  // pages for now.
  virtual bool grant_requests_unless_deferred(Task&) { return false; }
  // As grant_requests(), before the task sleeps.
  virtual void release_before_sleep(Task&, bool /*stays_mapped*/ = false) {}
  // The task has waited: what others took meanwhile is not mapped any more.
  virtual void catch_up(Task&) {}
  // There is something to catch up with.
  virtual bool has_to_catch_up(const Task&) { return false; }
  // In its turn: the task gives up all pages that it has.
  virtual void release_all(Task&) {}

  // --- tasks begin and end

  // Gives `to`, which runs from now on, all that `from` has written and not published. False if
  // there is too much: nothing was done. REQUIRES: no task publishes meanwhile.
  [[nodiscard]] virtual bool hand_over(Task& /*from*/, const Task& /*to*/) { return true; }
  // The task was not made after all.
  virtual void take_back(const Task& /*to*/) {}
  // The new task takes in what hand_over() gave it.
  virtual void take_over(const Task&) {}
  // The task ends; its process may run another one.
  virtual void leave(Task&) {}

  // --- accesses that are not the program's own

  // The kernel, or the runtime by another mapping, is about to read or write these bytes for the
  // calling task.
  virtual void touch(uint64_t /*start*/, uint64_t /*size*/, bool /*writes*/) {}
  // The pages are empty again, and nobody's.
  virtual void forget(uint64_t /*start*/, uint64_t /*size*/) {}
  // Drops copies of these pages that were made and not written.
  virtual void drop_unwritten(uint64_t /*start*/, uint64_t /*size*/) {}
  // All memory may be touched here, whichever task has it, until return_borrowed(). REQUIRES: all
  // other tasks stand still, or the caller does not act on what it reads.
  virtual void borrow_all() {}
  virtual void return_borrowed() {}

  // Others wait for pages that the task has.
  virtual bool is_asked(const Task&) { return false; }

  // --- signals, in the kernel's handler. True: that is what the signal was about.

  // Before anything else is done: memory of the runtime may be closed until then.
  virtual bool claim_signal(Task&, int /*signal*/, const siginfo_t&, ucontext_t&) { return false; }
  // A fault on a page that the task can have, or an access that is looked at.
  virtual bool claim_access(Task&, int /*signal*/, const siginfo_t&, ucontext_t&) { return false; }

  // --- rights of the task that runs, for Views that keep them in a register

  // The kernel is about to touch the task's memory.
  virtual void open_keys(Task&) {}
  // Program code is about to go on, other than on the way out of an event.
  virtual void enter_program(Task&) {}
  // Around a fork, in the parent; and in the child, while the parent waits.
  virtual void hold_still() {}
  virtual void go_on() {}
  virtual void open_in_child() {}

 protected:
  // Not virtual: Views are never deleted, and a virtual one would need operator delete.
  ~View() = default;
};

// The run's View. That of one real memory until use() is called, at the start of the program.
extern View* g_view;
inline View& current() { return *g_view; }
inline void use(View& view) { g_view = &view; }

// While it lives, what this task's process touches is no access of the task's, and no event: when
// it comes is not in a recording.
class PeekScope {
 public:
  explicit PeekScope(Task& task) : task_(task) { task_.pages.peeks++; }
  ~PeekScope() {
    if (--task_.pages.peeks || !task_.pages.borrows || task_.order.state == TaskState::kOutside)
      return;
    task_.pages.borrows = 0;
    current().return_borrowed();
  }
  PeekScope(const PeekScope&) = delete;
  PeekScope& operator=(const PeekScope&) = delete;

 private:
  Task& task_;
};

}  // namespace weir::view
