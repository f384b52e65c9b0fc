// Functions of the C library that keep something for all threads between calls, without a lock: the
// time that localtime() returns, the text that strtok() is in. Two threads call such functions, and
// nothing orders the two calls: what one has got the other changes. As with data it does not matter
// which came first.
//
// The library's own accesses to that memory are not looked at as others are: what it does inside
// for itself orders nothing and is no account of its caller's. So each call counts as one write.
//
// Not reported: functions that only read what another changes (getenv beside setenv); what a task
// does when the program ends. In a replay nothing is looked for.
//
// Invariant: what is noted of a state is read and changed under the entry's lock only. (not
// checkable: the lock does not say who holds it)

#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "check/hazards/noted_use.h"

namespace weir::hazards {

namespace {

using view::checked::ThreadState;

void change(SharedStateUse& entry, findings::SharingNumber call, const ThreadState& thread,
            uint32_t context) {
  Use last;
  uint32_t called;
  {
    const SpinGuard guard(entry.lock);
    last = entry.last;
    called = entry.call;
    note(entry.last, thread, context);
    entry.call = call;
  }
  if (is_known(thread, last) || !last.context || !context) return;
  const SideNote sides[] = {{called, last.number, last.context, 0, findings::Action::kCalls},
                            {call, thread.number, context, 0, findings::Action::kCalls}};
  report(Hazard::kThreadUnsafe, sides, 2, 0);
}

}  // namespace

void before_sharing(findings::SharingNumber call, const Caller& caller) {
  if (!happens::g_checked || happens::g_replayed || !looks_for(Hazard::kThreadUnsafe) ||
      self().identity.exiting)
    return;
  ThreadState& thread = view::checked::thread_of(self());
  view::checked::join_holders(thread);
  view::checked::end_joined_epoch(thread);
  const uint32_t context = view::checked::context_of(site_of(caller));
  for (uint32_t i = 0; i < findings::kSharedStates; i++) {
    if (findings::kSharing[call].states & 1u << i)
      change(view::checked::state().hazards.shared_states[i], call, thread, context);
  }
}

}  // namespace weir::hazards
