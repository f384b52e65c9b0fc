// Descriptors against their close: a task closes one, and nothing orders that and another task's
// use of the number. In another schedule the number stands for another file by then. As with data
// it does not matter which came first. A task that opens a file gets a number that was closed, so
// whatever was noted of the number before is of another file.
//
// A use is noted before the call is made. So what the call itself tells others (a byte in a pipe,
// shutdown()) orders it before what they do then.
//
// Not reported: a number that dup2() gives another file, which the kernel does at once; a use after
// the close that comes in order, which fails with EBADF; what a task does when the program ends;
// descriptors of the C library's own, which its locks order (cli/races/hazards.cc). A number above
// UsedDescriptor::kMost is not looked at.
//
// Invariant: what is noted of a number is read and changed under the entry's lock only. (not
// checkable: the lock does not say who holds it)

#include <errno.h>
#include <fcntl.h>

#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "check/hazards/descriptor_calls.h"
#include "check/hazards/noted_use.h"
#include "sys/syscall_x86_64.h"

namespace weir::hazards {

namespace {

using findings::Action;
using view::checked::state;
using view::checked::thread_of;
using view::checked::ThreadState;

bool is_known_number(long descriptor) {
  return descriptor >= 0 && descriptor < UsedDescriptor::kMost;
}

UsedDescriptor& entry_of(long descriptor) { return state().hazards.descriptors[descriptor]; }

bool is_open(long descriptor) { return sys::raw(SYS_fcntl, descriptor, F_GETFD) >= 0; }

uint32_t context_here() {
  const Task& task = self();
  return task.frame ? view::checked::context_of(view::checked::access_site_of(*task.frame)) : 0;
}

Action action_of(const UsedDescriptor& entry) {
  return entry.state == UsedDescriptor::kOpen ? Action::kBegins : Action::kEnds;
}

void report_pair(long descriptor, const Use& first, Action did, Action does) {
  const uint32_t context = context_here();
  if (!first.context || !context) return;
  const auto number = static_cast<uint64_t>(descriptor);
  const SideNote sides[] = {{number, first.number, first.context, 0, did},
                            {number, thread_of(self()).number, context, 0, does}};
  report(Hazard::kDescriptor, sides, 2, 0);
}

void clear(UsedDescriptor& entry) {
  entry.state = UsedDescriptor::kOpen;
  entry.changed = {};
  for (Use& use : entry.users) use = {};
}

// A number that a call opened that is not known here, a message with descriptors, say: what closed
// it before is of another file. Under the entry's lock.
void forget_old_close(long descriptor, UsedDescriptor& entry) {
  if (entry.state == UsedDescriptor::kClosed && is_open(descriptor)) clear(entry);
}

void use(long descriptor) {
  if (!is_known_number(descriptor)) return;
  ThreadState& thread = thread_of(self());
  view::checked::end_joined_epoch(thread);
  UsedDescriptor& entry = entry_of(descriptor);
  const uint64_t me = owner_of(thread);
  {
    const SpinGuard guard(entry.lock);
    for (Use& known : entry.users) {
      if (known.owner != me) continue;
      known.clock = thread.now.clock[thread.slot];
      return;
    }
  }
  view::checked::join_holders(thread);
  const uint32_t context = context_here();
  Use unordered{};
  Action did = Action::kNone;
  {
    const SpinGuard guard(entry.lock);
    if (!is_known(thread, entry.changed)) {
      forget_old_close(descriptor, entry);
      unordered = entry.changed;
      did = action_of(entry);
    }
    Use* place = nullptr;
    for (Use& known : entry.users) {
      if (!place || (place->owner && (!known.owner || is_known(thread, known)))) place = &known;
    }
    if (!place->owner || is_known(thread, *place)) note(*place, thread, context);
  }
  if (unordered.clock) report_pair(descriptor, unordered, did, Action::kUses);
}

void close(long descriptor) {
  ThreadState& thread = thread_of(self());
  view::checked::join_holders(thread);
  view::checked::end_joined_epoch(thread);
  const uint32_t context = context_here();
  UsedDescriptor& entry = entry_of(descriptor);
  Use unordered{};
  Action did = Action::kUses;
  {
    const SpinGuard guard(entry.lock);
    for (const Use& known : entry.users) {
      if (!is_known(thread, known)) unordered = known;
    }
    if (!unordered.clock && !is_known(thread, entry.changed)) {
      forget_old_close(descriptor, entry);
      unordered = entry.changed;
      did = action_of(entry);
    }
    clear(entry);
    entry.state = UsedDescriptor::kCloses;
    note(entry.changed, thread, context);
  }
  if (unordered.clock) report_pair(descriptor, unordered, did, Action::kEnds);
}

void end_close(long descriptor) {
  const ThreadState& thread = thread_of(self());
  UsedDescriptor& entry = entry_of(descriptor);
  const SpinGuard guard(entry.lock);
  if (entry.state == UsedDescriptor::kCloses && entry.changed.owner == owner_of(thread))
    entry.state = UsedDescriptor::kClosed;
}

void open(long descriptor) {
  if (!is_known_number(descriptor)) return;
  ThreadState& thread = thread_of(self());
  view::checked::end_joined_epoch(thread);
  const uint32_t context = context_here();
  UsedDescriptor& entry = entry_of(descriptor);
  const SpinGuard guard(entry.lock);
  clear(entry);
  note(entry.changed, thread, context);
}

bool is_noted(const UsedDescriptor& entry) {
  if (entry.changed.owner) return true;
  for (const Use& known : entry.users) {
    if (known.owner) return true;
  }
  return false;
}

template <typename Function>
void for_each_closed(long number, const long* arguments, Function function) {
  const Closed closed = closed_by(number, arguments);
  const bool is_range = closed.first < closed.last;
  for (long i = closed.first; i <= closed.last && i < UsedDescriptor::kMost; i++) {
    if (i < 0 || (is_range && !is_noted(entry_of(i)))) continue;
    function(i);
  }
}

bool looks() { return looks_for(Hazard::kDescriptor) && !state().hazards.has_other_tables; }

}  // namespace

void before_descriptors(long number, const long* arguments) {
  if (!looks()) return;
  if (leaves_table(number, arguments)) state().hazards.has_other_tables = 1;
  for (const long descriptor : used_by(number, arguments).descriptor) use(descriptor);
  for_each_polled(number, arguments, use);
  if (!self().identity.exiting) for_each_closed(number, arguments, close);
}

void after_descriptors(long number, const long* arguments, long result) {
  if (!looks()) return;
  for_each_closed(number, arguments, end_close);
  for (const long descriptor : made_by(number, arguments, result).descriptor) open(descriptor);
  const long replaced = replaced_by(number, arguments);
  if (!is_known_number(replaced) || result < 0) return;
  UsedDescriptor& entry = entry_of(replaced);
  const SpinGuard guard(entry.lock);
  clear(entry);
}

}  // namespace weir::hazards
