// Objects of synchronization against their beginning and end: a mutex, condition, semaphore,
// barrier that is destroyed, or initialized again, while another task may use it. As with data,
// nothing that the program did may order the two; which of them came first does not count.
//
// A use is noted before it begins. So what a use itself tells others (an unlock, a post) orders it
// before what they do then: who locks a mutex last may destroy it. In what is noted of a condition
// a wait is over when it has begun: who has woken all that wait may destroy it.
//
// Not reported: uses by more than some tasks of one object; what a task does when the program ends,
// when destructors of static objects run; an object whose memory has been given back.
//
// Invariant: what is noted of an object is of that object, since it is read and changed under the
// entry's lock only. (not checkable: the lock does not say who holds it)

#include "base/hash.h"
#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "check/hazards/noted_use.h"

namespace weir::hazards {

namespace {

using findings::Action;
using view::checked::state;
using view::checked::thread_of;
using view::checked::ThreadState;

constexpr uint32_t kTries = 16;
constexpr uint64_t kLine = 64;

UsedObject& entry_at(uint64_t object, uint32_t i) {
  return state().hazards.used[((mix(object / kLine) >> 40) + i) & (kUsedObjects - 1)];
}

// With its lock taken; null: there is no room.
UsedObject* locked(uint64_t object) {
  UsedObject* free = nullptr;
  for (uint32_t i = 0; i < kTries; i++) {
    UsedObject& entry = entry_at(object, i);
    const uint64_t there = __atomic_load_n(&entry.object, __ATOMIC_ACQUIRE);
    if (!there && !free) free = &entry;
    if (there != object) continue;
    entry.lock.lock();
    if (entry.object == object) return &entry;
    entry.lock.unlock();
  }
  if (!free) return nullptr;
  free->lock.lock();
  if (free->object && free->object != object) {  // another task was faster
    free->lock.unlock();
    return nullptr;
  }
  if (!free->object) {
    free->is_ended = 0;
    free->changed = {};
    for (Use& use : free->users) use = {};
    __atomic_store_n(&free->object, object, __ATOMIC_RELEASE);
    note_page(object);
  }
  return free;
}

bool looks() { return looks_for(Hazard::kLifetime); }

void report_pair(uint64_t object, const Use& first, Action did, const ThreadState& thread,
                 uint32_t context, Action does) {
  if (!first.context || !context) return;
  const SideNote sides[] = {{object, first.number, first.context, 0, did},
                            {object, thread.number, context, 0, does}};
  report(Hazard::kLifetime, sides, 2, object);
}

// The object begins or ends.
void change(uint64_t object, const Caller& caller, Action does) {
  if (!looks() || self().identity.exiting) return;
  ThreadState& thread = thread_of(self());
  view::checked::join_holders(thread);
  view::checked::end_joined_epoch(thread);
  const uint32_t context = view::checked::context_of(site_of(caller));
  Use unordered{};
  Action did = Action::kUses;
  {
    UsedObject* entry = locked(object);
    if (!entry) return;
    for (const Use& use : entry->users) {
      if (!is_known(thread, use)) unordered = use;
    }
    if (!unordered.clock && !is_known(thread, entry->changed)) {
      unordered = entry->changed;
      did = entry->is_ended ? Action::kEnds : Action::kBegins;
    }
    for (Use& use : entry->users) use = {};
    note(entry->changed, thread, context);
    entry->is_ended = does == Action::kEnds;
    entry->lock.unlock();
  }
  if (unordered.clock) report_pair(object, unordered, did, thread, context, does);
}

}  // namespace

void before_begin(uint64_t object, const Caller& caller) {
  change(object, caller, Action::kBegins);
}
void before_end(uint64_t object, const Caller& caller) { change(object, caller, Action::kEnds); }

void before_use(uint64_t object, const Caller& caller) {
  if (!looks()) return;
  ThreadState& thread = thread_of(self());
  view::checked::end_joined_epoch(thread);
  UsedObject* entry = locked(object);
  if (!entry) return;
  const uint64_t me = owner_of(thread);
  Use* free = nullptr;
  for (Use& use : entry->users) {
    if (use.owner == me) {
      use.clock = thread.now.clock[thread.slot];
      return entry->lock.unlock();
    }
    if (!use.owner && !free) free = &use;
  }
  const uint64_t changed_by = entry->changed.owner;
  entry->lock.unlock();
  if (!free && !changed_by) return;
  // Its first use: also asked whether it comes after what has made the object.
  const uint32_t context = view::checked::context_of(site_of(caller));
  if (changed_by && changed_by != me) view::checked::join_holders(thread);
  entry = locked(object);
  if (!entry) return;
  for (Use& use : entry->users) {
    if (use.owner) continue;
    note(use, thread, context);
    break;
  }
  const Use changed = entry->changed;
  const Action did = entry->is_ended ? Action::kEnds : Action::kBegins;
  entry->lock.unlock();
  if (!is_known(thread, changed)) report_pair(object, changed, did, thread, context, Action::kUses);
}

void forget_uses(uint64_t start, uint64_t limit) {
  constexpr uint64_t kMany = 4096;  // bytes: beyond, all entries are looked at
  const auto clear = [&](UsedObject& entry) {
    const uint64_t there = __atomic_load_n(&entry.object, __ATOMIC_ACQUIRE);
    if (there < start || there >= limit) return;
    const SpinGuard guard(entry.lock);
    if (entry.object == there) __atomic_store_n(&entry.object, uint64_t{0}, __ATOMIC_RELEASE);
  };
  if (limit - start > kMany) {
    for (UsedObject& entry : state().hazards.used) clear(entry);
    return;
  }
  for (uint64_t at = start & ~(kLine - 1); at < limit; at += kLine) {
    for (uint32_t i = 0; i < kTries; i++) clear(entry_at(at, i));
  }
}

}  // namespace weir::hazards
