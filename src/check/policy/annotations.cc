// The calls of include/weir/weir.h: objects are declared, change their policies, and are forgotten.
//
// Before there are tasks only the rule book works: all memory is the one task's. Pages follow when
// the first other task is made (begin_declared).
//
// Invariant: what the program hands in is looked at before it is believed: whatever is wrong with
// it is reported, and nothing else happens. (not checkable: what the program hands in may be
// anything)

#include "check/core/declared.h"
#include "check/core/happens_before.h"
#include "check/policy/annotation_call.h"
#include "check/policy/globals.h"
#include "memory/backing.h"
#include "sys/memory.h"

namespace weir::view::checked {

namespace {

constexpr bool is_for_reading(Change change) {
  return change == Change::kAcquireRead || change == Change::kReleaseRead;
}

// Under the object's lock.
Verdict make_change(Declared& object, Change change, uint64_t lock, Call& call) {
  ObjectTable& table = objects();
  ThreadState& thread = call.thread();
  const auto creation = static_cast<uint32_t>(call.task().identity.creation);
  switch (meant_for(call.task(), thread, object)) {
    case Meant::kTask: break;
    case Meant::kAnother:
      return {change == Change::kReleaseWrite || change == Change::kReleaseRead ? Fault::kNotHeld
              : change == Change::kToRacy                                       ? Fault::kFixed
                                          : Fault::kHeldByOther,
              object.rules.since()};
    case Meant::kUnknown:  // two tasks of one slot read it: one of them is counted
      if (is_for_reading(change)) return {};
      return {change == Change::kReleaseWrite ? Fault::kNotHeld : Fault::kHeldByOther, {}};
  }
  const Verdict verdict = object.rules.change(
      change, actor_of(thread, object, change == Change::kToStickyRead && is_alone(thread)), lock);
  if (!verdict.legal() && verdict.fault != Fault::kUnordered) return verdict;
  object.owner_creation = creation;
  object.violations = 0;
  object.trust = 0;
  if (is_for_reading(change)) {
    Readers& readers = table.readers_at(object.readers);
    readers.creation[thread.slot] = creation;
    readers.context[thread.slot] = call.context();
    readers.number[thread.slot] = thread.number;
  }
  if (change == Change::kToLocked && verdict.legal() && holds_surely(thread, lock))
    object.rules.note_locked_within();
  return verdict;
}

void note_change(Declared& object, Change change, Call& call) {
  (is_for_reading(change) ? object.read : object.written) = call.trace();
}

// Under the object's lock.
void change_object(Declared& object, uint32_t index, Change change, uint64_t lock, Call& call) {
  const uint32_t name = static_cast<uint32_t>(change) + 1;
  if (change == Change::kAcquireRead && !object.readers &&
      !(object.readers = objects().take_readers())) {
    return call.misuse(findings::Misuse::kTooMany, object.start, &object, name);
  }
  const bool was_locked = object.rules.policy() == Policy::kLocked;
  const Verdict verdict = make_change(object, change, lock, call);
  if (!verdict.legal())
    call.fault(object, verdict, name,
               findings::kChange | (is_for_reading(change) ? findings::kRead : findings::kWrite));
  if (!verdict.legal() && verdict.fault != Fault::kUnordered) return;
  note_change(object, change, call);
  enforcer().enforce(object, index, call.task(), call.thread(),
                     was_locked || change == Change::kAcquireWrite || change == Change::kToLocked);
}

// It lies in memory of the program's, from end to end.
bool is_memory(uint64_t address, uint64_t size) {
  const uint64_t last = address + size - 1;
  if (last < address || page::own_image().overlaps(Range{address, address + size})) return false;
  if (happens::g_checked) return enforcer().is_memory(address) && enforcer().is_memory(last);
  uint8_t byte;
  return sys::read_safely(&byte, address, 1) == 1 && sys::read_safely(&byte, last, 1) == 1;
}

// 0: it overlaps another one.
uint32_t create(uint64_t address, uint64_t size, uint32_t wanted, const Given& given, Call& call) {
  ObjectTable& table = objects();
  const uint32_t index = table.add(address, size);
  if (!index) return 0;
  Declared& object = table.at(index);
  auto policy = static_cast<Policy>(wanted);
  const bool is_by_change = policy == Policy::kReadShared || policy == Policy::kStickyRead;
  if (wanted > static_cast<uint32_t>(Policy::kLocked) || is_by_change || policy == Policy::kLocked)
    policy = Policy::kInaccessible;
  {
    const SpinGuard guard(object.lock);
    object.origin = given.origin;
    object.tag = given.tag;
    object.moves = given.moves ? Declared::kMovesOften : 0;
    object.made = call.trace();
    object.rules = policy == Policy::kPrivate ? Rules(policy, call.thread().slot,
                                                      call.thread().now.epoch(call.thread().slot))
                                              : Rules(policy);
    object.owner_creation = static_cast<uint32_t>(call.task().identity.creation);
  }
  enforcer().mark(index, call.thread());
  const SpinGuard guard(object.lock);
  if (is_by_change) {
    change_object(object, index,
                  wanted == static_cast<uint32_t>(Policy::kReadShared) ? Change::kAcquireRead
                                                                       : Change::kToStickyRead,
                  0, call);
  } else {
    enforcer().enforce(object, index, call.task(), call.thread(), false);
  }
  return index;
}

// Whether who frees the object may do so.
void check_freeing(Declared& object, Call& call) {
  const Policy policy = object.rules.policy();
  if (policy == Policy::kRacy || policy == Policy::kStickyRead || policy == Policy::kUntouched)
    return;
  const bool is_mine = policy == Policy::kPrivate && object.rules.owner() == call.thread().slot &&
                       meant_for(call.task(), call.thread(), object) == Meant::kTask;
  if (is_mine) return;
  Verdict verdict;
  if (policy == Policy::kLocked &&
      holds(call.task(), call.thread(), object.rules.lock()) == Held::kExclusive)
    return;
  verdict = make_change(object, Change::kAcquireWrite, 0, call);
  if (verdict.legal()) return;
  object.moves = 0;  // another may have its domain open
  call.fault(object, verdict, 0, findings::kWrite | findings::kFree);
}

// A variable that weir-cc gave pages of its own is an object as soon as the program names it. 0:
// there is none at the address.
uint32_t find_or_add(uint64_t address, Call& call) {
  ObjectTable& table = objects();
  uint32_t index = call.thread().found.find(table, address);
  if (!index) {
    const Range variable = global_at(address);
    index = variable.empty() ? 0 : add_global(variable);
    if (index) enforcer().mark(index, call.thread());
    else index = table.find(address);  // another task has named it just now
  }
  if (index && table.at(index).is_automatic) {
    if (!table.at(index).made.context) table.at(index).made = call.trace();
    table.at(index).is_automatic = false;
  }
  return index;
}

uint32_t find_object(uint64_t address, uint32_t change, Call& call) {
  ObjectTable& table = objects();
  if (!address) return call.misuse(findings::Misuse::kNull, 0, nullptr, change), 0;
  const uint32_t index = find_or_add(address, call);
  if (!index)
    return call.misuse(is_memory(address, 1) ? findings::Misuse::kUnknownObject
                                             : findings::Misuse::kForeign,
                       address, nullptr, change),
           0;
  if (table.at(index).is_freed)
    return call.misuse(findings::Misuse::kFreed, address, &table.at(index), change), 0;
  return index;
}

void free_object(uint32_t index, Call& call) {
  Declared& object = objects().at(index);
  {
    const SpinGuard guard(object.lock);
    check_freeing(object, call);
    object.written = call.trace();
    access_rules().take_over(object, index, call);
    object.is_freed = true;
  }
  if (!cache_block(index, call)) retire(index, call.thread());
}

}  // namespace

void end_declared(uint64_t start, uint64_t size, const AccessSite* freed) {
  ObjectTable& table = objects();
  if (!table.is_on || !table.count()) return;
  for (uint32_t index = table.find_above(start); index && table.at(index).start < start + size;
       index = table.find_above(start)) {
    if (!freed && table.at(index).is_freed) {  // its pages are just being given back
      start = table.at(index).limit();
      continue;
    }
    Call call(
        {freed ? freed->rip : 0, freed ? freed->general[4] : 0, freed ? freed->general[5] : 0});
    if (freed) {
      const SpinGuard guard(table.at(index).lock);
      check_freeing(table.at(index), call);
    }
    table.at(index).origin = Origin::kDeclared;
    let_go(index, call.thread());
  }
}

}  // namespace weir::view::checked

namespace weir::declared {

using namespace view::checked;

bool is_on() { return objects().is_on; }

bool is_own(const void* address) {
  const auto at = reinterpret_cast<uint64_t>(address);
  return page::windows::contains(at) || at - (kArena + kHeapSize) < kMapSize;
}

void* allocate(size_t size, uint32_t policy, const Caller& caller, bool by_new) {
  if (size > kMapSize) return nullptr;
  if (!size) size = 1;
  Call call(caller);
  const auto wanted = static_cast<Policy>(policy);
  if (access_rules().reuses(wanted)) {
    if (const uint64_t start = reuse_cached(size, wanted, by_new, call))
      return reinterpret_cast<void*>(start);
  }
  Given given;
  const uint64_t start = enforcer().allocate(size, wanted, call.task(), call.context(), given);
  if (!start) return nullptr;
  const uint32_t index = create(start, size, policy, given, call);
  if (index) objects().at(index).is_automatic = by_new;
  else call.misuse(findings::Misuse::kTooMany, start);  // it is as good as any memory
  return reinterpret_cast<void*>(start);
}

void hand_over(uint64_t address, const Caller& caller) {
  const uint32_t index = objects().find(address);
  if (!index || is_programs(caller.where)) return;
  Declared& object = objects().at(index);
  if (!object.is_automatic || object.is_freed || object.origin == Origin::kOwnPages ||
      object.origin == Origin::kDeclared)
    return;
  Call call(caller);
  const SpinGuard guard(object.lock);
  object.is_automatic = false;
  object.rules = Rules(Policy::kRacy);
  enforcer().enforce(object, index, call.task(), call.thread(), true);
}

uint64_t size_of(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const uint32_t index = is_own(pointer) ? objects().find(address) : 0;
  return index && objects().at(index).start == address && !objects().at(index).is_freed
             ? objects().at(index).size
             : 0;
}

bool release(void* pointer, const Caller& caller) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const uint32_t index = thread_of(self()).found.find(objects(), address);
  const Origin origin = index ? objects().at(index).origin : Origin::kNone;
  const bool is_block =
      (origin == Origin::kWindow || origin == Origin::kPages || origin == Origin::kArray) &&
      objects().at(index).start == address;
  if (!is_block && !is_own(pointer)) return false;
  Call call(caller);
  if (!is_block) {
    call.misuse(findings::Misuse::kUnknownObject, address, index ? &objects().at(index) : nullptr);
  } else if (objects().at(index).is_freed) {
    call.misuse(findings::Misuse::kFreed, address, &objects().at(index));
  } else {
    free_object(index, call);
  }
  return true;
}

void declare(uint64_t address, uint64_t size, uint32_t policy, bool has_pages,
             const Caller& caller) {
  Call call(caller);
  if (!address || !size) return call.misuse(findings::Misuse::kNull, address);
  if (!is_memory(address, size)) return call.misuse(findings::Misuse::kForeign, address);
  // It is said of a variable, or of its parts, what nobody has said yet.
  for (uint32_t other = objects().find_above(address);
       other && objects().at(other).start < address + size; other = objects().find_above(address)) {
    const Origin origin = objects().at(other).origin;
    if (!objects().at(other).is_automatic ||
        (origin != Origin::kOwnPages && origin != Origin::kDeclared))
      break;
    let_go(other, call.thread());
  }
  if (create(address, size, policy,
             {has_pages && address % kPageSize == 0 ? Origin::kOwnPages : Origin::kDeclared}, call))
    return;
  const uint32_t other = objects().find_above(address);
  const bool overlaps = other && objects().at(other).start < address + size;
  call.misuse(overlaps ? findings::Misuse::kOverlaps : findings::Misuse::kTooMany, address,
              overlaps ? &objects().at(other) : nullptr);
}

void forget(uint64_t address, const Caller& caller) {
  Call call(caller);
  const uint32_t index = find_object(address, 0, call);
  if (!index) return;
  const Origin origin = objects().at(index).origin;
  if (origin == Origin::kDeclared || origin == Origin::kOwnPages || origin == Origin::kHeap)
    let_go(index, call.thread());
  else call.misuse(findings::Misuse::kUnknownObject, address, &objects().at(index));
}

void change(uint64_t address, uint32_t wanted, uint64_t lock, const Caller& caller) {
  Call call(caller);
  const uint32_t index = find_object(address, wanted + 1, call);
  if (!index || wanted > static_cast<uint32_t>(Change::kToRacy)) return;
  if (static_cast<Change>(wanted) == Change::kToLocked && !lock)
    return call.misuse(findings::Misuse::kNull, address, &objects().at(index), wanted + 1);
  Declared& object = objects().at(index);
  const SpinGuard guard(object.lock);
  if (object.origin != Origin::kNone)
    change_object(object, index, static_cast<Change>(wanted), lock, call);
}

int policy_of(uint64_t address) {
  const uint32_t index = objects().find(address);
  return index && !objects().at(index).is_freed
             ? static_cast<int>(objects().at(index).rules.policy())
             : -1;
}

Held holds(uint64_t lock) {
  const ThreadState& thread = thread_of(self());
  for (uint32_t i = 0; i < thread.held_count && i < kMaxHeld; i++) {
    if ((thread.held[i] & ~uint64_t{1}) == lock) return Held::kYes;
  }
  return !happens::g_checked || thread.held_lost || thread.number == 0 ? Held::kUnknown : Held::kNo;
}

void report(uint64_t lock, LockError error, const Caller& caller) {
  constexpr findings::Misuse kWhat[] = {
      findings::Misuse::kUnbalancedLock, findings::Misuse::kDestroyedLock,
      findings::Misuse::kLockedAgain, findings::Misuse::kLockedGone};
  Call(caller).misuse_of_lock(kWhat[static_cast<uint8_t>(error)], lock);
}

void* constant(const void* bytes, size_t size, const Caller& caller) {
  auto* to = static_cast<uint8_t*>(allocate(size, static_cast<uint32_t>(Policy::kPrivate), caller));
  if (!to) return nullptr;
  for (size_t i = 0; i < size; i++) to[i] = static_cast<const uint8_t*>(bytes)[i];
  const uint32_t index = objects().find(reinterpret_cast<uint64_t>(to));
  if (!index) return to;
  Call call(caller);
  const SpinGuard guard(objects().at(index).lock);
  objects().at(index).rules = Rules(Policy::kStickyRead);
  enforcer().enforce(objects().at(index), index, call.task(), call.thread(), false);
  return to;
}

void* slice(uint64_t size, const size_t* ends, uint64_t count, uint32_t policy, uint64_t* gap,
            const Caller& caller) {
  Call call(caller);
  const uint64_t start = enforcer().allocate_slices(size, count, *gap);
  if (!start) return nullptr;
  for (uint64_t i = 0, from = 0; i < count; from = ends[i++]) {
    const uint64_t to = ends[i];
    if (to <= from) continue;
    if (*gap) enforcer().show(start, i, from, to);
    create(start + from + i * *gap, to - from, policy, {*gap ? Origin::kArray : Origin::kDeclared},
           call);
  }
  return reinterpret_cast<void*>(start);
}

void unslice(void* pointer, uint64_t size, const size_t* ends, uint64_t count, uint64_t gap,
             const Caller& caller) {
  Call call(caller);
  const auto start = reinterpret_cast<uint64_t>(pointer);
  for (uint64_t i = 0, from = 0; i < count; from = ends[i++]) {
    const uint32_t index = ends[i] > from ? objects().find(start + from + i * gap) : 0;
    if (!index) continue;
    {
      const SpinGuard guard(objects().at(index).lock);
      check_freeing(objects().at(index), call);
    }
    let_go(index, call.thread());
  }
  enforcer().deallocate_slices(start, size, count, gap);
}

}  // namespace weir::declared
