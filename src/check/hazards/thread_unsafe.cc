// Functions of the C library that keep something for all threads between calls, without a lock: the
// time that localtime() returns, the text that strtok() is in. Two threads call such functions, and
// nothing orders the two calls: what one has got there the other changes. As with data it does not
// matter which came first.
//
// The library's own accesses to that memory are not looked at as others are: what it does inside
// for itself orders nothing and is no account of its caller's. So each call counts as one write, or
// as one read if it only looks at what another function changes (getenv beside setenv).
//
// Not reported: two calls that change what the library locks while it does (setenv in two threads);
// what a task does when the program ends. In a replay nothing is looked for.
//
// Invariant: what is noted of a state is read and changed under the entry's lock only. (not
// checkable: the lock does not say who holds it)

#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "check/hazards/noted_use.h"
#include "sys/libc.h"

namespace weir::hazards {

namespace {

using view::checked::ThreadState;

void compare(const SharingUse& before, const SharingUse& now, const ThreadState& thread) {
  if (is_known(thread, before.use) || !before.use.context || !now.use.context) return;
  const SideNote sides[] = {
      {before.call, before.use.number, before.use.context, 0, findings::Action::kCalls},
      {now.call, thread.number, now.use.context, 0, findings::Action::kCalls}};
  report(Hazard::kThreadUnsafe, sides, 2, 0);
}

void change(uint32_t state, SharedStateUse& entry, const SharingUse& now,
            const ThreadState& thread) {
  SharedStateUse before;
  {
    const SpinGuard guard(entry.lock);
    before.last = entry.last;
    for (uint32_t i = 0; i < SharedStateUse::kReaders; i++) {
      before.readers[i] = entry.readers[i];
      entry.readers[i] = {};
    }
    entry.last = now;
  }
  if (!(state & findings::kLockedStates)) compare(before.last, now, thread);
  for (const SharingUse& reader : before.readers) compare(reader, now, thread);
}

// One of the same thread's stands for all that it has done there.
void look(SharedStateUse& entry, const SharingUse& now, const ThreadState& thread) {
  SharingUse last;
  {
    const SpinGuard guard(entry.lock);
    last = entry.last;
    uint32_t at = SharedStateUse::kReaders;
    for (uint32_t i = 0; i < SharedStateUse::kReaders; i++) {
      if (!entry.readers[i].use.clock || entry.readers[i].use.slot == thread.slot) at = i;
    }
    if (at == SharedStateUse::kReaders) at = entry.next_reader++ % SharedStateUse::kReaders;
    entry.readers[at] = now;
  }
  compare(last, now, thread);
}

}  // namespace

void before_sharing(findings::SharingNumber call, const Caller& caller) {
  if (!looks_for(Hazard::kThreadUnsafe) || self().identity.exiting) return;
  ThreadState& thread = view::checked::thread_of(self());
  view::checked::join_holders(thread);
  view::checked::end_joined_epoch(thread);
  const uint32_t context = view::checked::context_of(site_of(caller));
  const findings::SharingCall& what = findings::kSharing[call];
  SharingUse now{call, {}};
  note(now.use, thread, context);
  constexpr unsigned kSafeEnvironment = 41;  // glibc 2.41: getenv beside setenv
  const uint32_t safe =
      libc::layout().minor >= kSafeEnvironment ? uint32_t{findings::kEnvironment} : 0;
  for (uint32_t i = 0; i < findings::kSharedStates; i++) {
    if (safe & 1u << i) continue;
    SharedStateUse& entry = view::checked::state().hazards.shared_states[i];
    if (what.changes & 1u << i) change(1u << i, entry, now, thread);
    else if (what.asks & 1u << i) look(entry, now, thread);
  }
}

}  // namespace weir::hazards
