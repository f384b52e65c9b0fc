// The calls of include/weir/weir.h: objects are declared, change their policies, and are forgotten.
//
// Before there are tasks only the rule book works: all memory is the one task's. Pages follow when the first other task is made (begin_declared).
//
// Invariants
// 1. What the program hands in is looked at before it is believed: whatever is wrong with it is reported, and nothing else happens.
// 2. A block that is given back keeps its pages for a while, closed to all, so that whoever still touches it is found.

#include "event/declared.h"
#include "event/happens_before.h"
#include "page/store.h"
#include "sys/memory.h"
#include "view/guarded_declared.h"

namespace weir::view::guarded {

namespace {

constexpr uint32_t kMostFreed = 256;  // blocks that keep their memory
constexpr uint64_t kMostKept = 1 << 20;  // bytes of one

// Of one call.
class Call {
 public:
  explicit Call(const declared::Caller& caller) : task_(self()), watcher_(watcher_of(task_)) {
    spot_.general[4] = caller.stack;
    spot_.general[5] = caller.frame;
    spot_.rip = caller.where;
    spot_.is_call = true;
    if (!happens::g_checked) {
      if (!found().tasks) begin_first(task_);
      return;
    }
    settle(task_, watcher_);
    meet_learners(watcher_);
    mix(watcher_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Task& task() { return task_; }
  Watcher& watcher() { return watcher_; }
  const Spot& spot() const { return spot_; }
  uint32_t context() {
    if (!context_) context_ = context_of(spot_);
    return context_;
  }
  Trace trace() { return trace_of(watcher_, context()); }
  void misuse(findings::Misuse what, uint64_t address, const Declared* object = nullptr, uint32_t change = 0) {
    Touch touch{address, object ? object->size : 0, findings::kChange, context()};
    report_misuse(what, object, watcher_, touch, spot_, change);
  }
  void fault(Declared& object, const Verdict& verdict, uint32_t change, uint32_t kind) {
    Touch touch{object.start, object.size, kind, context()};
    report_fault(object, verdict, watcher_, touch, spot_, change);
  }

 private:
  Task& task_;
  Watcher& watcher_;
  Spot spot_{};
  uint32_t context_ = 0;
};

bool is_alone(const Watcher& watcher) {
  if (!happens::g_checked) return true;
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.high_task; i++) {
    const Watcher& other = state().watchers[i];
    if (&other != &watcher && s.tasks[i].state != TaskState::kFree && !__atomic_load_n(&other.is_over, __ATOMIC_ACQUIRE)) return false;
  }
  for (TaskId slot = 0; slot < kSlots; slot++) {
    if (slot != watcher.slot && !watcher.now.knows({state().over[slot], slot})) return false;
  }
  return true;
}

constexpr bool is_for_reading(Change change) { return change == Change::kAcquireRead || change == Change::kReleaseRead; }

// Under the object's lock.
Verdict make_change(Declared& object, Change change, uint64_t lock, Call& call) {
  ObjectTable& table = objects();
  Watcher& watcher = call.watcher();
  const auto creation = static_cast<uint32_t>(call.task().creation);
  switch (meant_for(call.task(), watcher, object)) {
    case Meant::kTask: break;
    case Meant::kAnother:
      return {change == Change::kReleaseWrite || change == Change::kReleaseRead ? Fault::kNotHeld : change == Change::kToRacy ? Fault::kFixed : Fault::kHeldByOther,
              object.rules.since()};
    case Meant::kUnknown:  // two tasks of one slot read it: one of them is counted
      if (is_for_reading(change)) return {};
      return {change == Change::kReleaseWrite ? Fault::kNotHeld : Fault::kHeldByOther, {}};
  }
  const bool was_locked = object.rules.policy() == Policy::kLocked;
  const Verdict verdict = object.rules.change(change, actor_of(watcher, object, change == Change::kToStickyRead && is_alone(watcher)), lock);
  if (!verdict.legal() && verdict.fault != Fault::kUnordered) return verdict;
  object.owner_creation = creation;
  object.violations = 0;
  object.trust = 0;
  if (is_for_reading(change)) {
    Readers& readers = table.readers_at(object.readers);
    readers.creation[watcher.slot] = creation;
    readers.context[watcher.slot] = call.context();
    readers.number[watcher.slot] = watcher.number;
  }
  (void)was_locked;
  return verdict;
}

void note_change(Declared& object, Change change, Call& call) { (is_for_reading(change) ? object.read : object.written) = call.trace(); }

// Under the object's lock.
void change_object(Declared& object, uint32_t index, Change change, uint64_t lock, Call& call) {
  const uint32_t name = static_cast<uint32_t>(change) + 1;
  if (change == Change::kAcquireRead && !object.readers && !(object.readers = objects().take_readers())) {
    return call.misuse(findings::Misuse::kTooMany, object.start, &object, name);
  }
  const bool was_locked = object.rules.policy() == Policy::kLocked;
  const Verdict verdict = make_change(object, change, lock, call);
  if (!verdict.legal()) call.fault(object, verdict, name, findings::kChange | (is_for_reading(change) ? findings::kRead : findings::kWrite));
  if (!verdict.legal() && verdict.fault != Fault::kUnordered) return;
  note_change(object, change, call);
  enforce(object, index, call.task(), call.watcher(), was_locked || change == Change::kAcquireWrite || change == Change::kToLocked);
}

// It lies in memory of the program's, from end to end.
bool is_memory(uint64_t address, uint64_t size) {
  const uint64_t last = address + size - 1;
  if (last < address || page::own_image().overlaps(Range{address, address + size})) return false;
  if (happens::g_checked) return page::store_extent(address) && page::store_extent(last);
  uint8_t byte;
  return sys::read_guarded(&byte, address, 1) == 1 && sys::read_guarded(&byte, last, 1) == 1;
}

// 0: it overlaps another one.
uint32_t create(uint64_t address, uint64_t size, uint32_t wanted, Origin origin, Call& call) {
  ObjectTable& table = objects();
  const uint32_t index = table.add(address, size);
  if (!index) return 0;
  Declared& object = table.at(index);
  auto policy = static_cast<Policy>(wanted);
  const bool is_by_change = policy == Policy::kReadShared || policy == Policy::kStickyRead;
  if (wanted > static_cast<uint32_t>(Policy::kLocked) || is_by_change || policy == Policy::kLocked) policy = Policy::kInaccessible;
  {
    const SpinGuard guard(object.lock);
    object.origin = origin;
    object.made = call.trace();
    object.rules = policy == Policy::kPrivate ? Rules(policy, call.watcher().slot, call.watcher().now.epoch(call.watcher().slot)) : Rules(policy);
    object.owner_creation = static_cast<uint32_t>(call.task().creation);
  }
  mark_pages(index, call.watcher());
  const SpinGuard guard(object.lock);
  if (is_by_change) {
    change_object(object, index, wanted == static_cast<uint32_t>(Policy::kReadShared) ? Change::kAcquireRead : Change::kToStickyRead, 0, call);
  } else {
    enforce(object, index, call.task(), call.watcher(), false);
  }
  return index;
}

// Its memory goes back.
void let_go(uint32_t index, Watcher& watcher) {
  ObjectTable& table = objects();
  Declared& object = table.at(index);
  const uint64_t start = object.start, size = object.size;
  const Origin origin = object.origin;
  uint32_t readers;
  {
    const SpinGuard guard(object.lock);
    give_up_pages(object, index, watcher, true);
    readers = object.readers;
    object.readers = 0;
    table.remove(index);
  }
  if (readers) table.give_readers(readers);
  unmark_pages(start, size, index, watcher);
  if (origin == Origin::kWindow) page::windows::free(start);
  if (origin == Origin::kPages) {
    page::zero_pages(start, size);
    page::free_extent(start, size);
  }
}

// Whether who frees the object may do so.
void check_freeing(Declared& object, Call& call) {
  const Policy policy = object.rules.policy();
  if (policy == Policy::kRacy || policy == Policy::kStickyRead || policy == Policy::kUntouched) return;
  const bool is_mine = policy == Policy::kPrivate && object.rules.owner() == call.watcher().slot && meant_for(call.task(), call.watcher(), object) == Meant::kTask;
  if (is_mine) return;
  Verdict verdict;
  if (policy == Policy::kLocked && holds(call.task(), call.watcher(), object.rules.lock()) == Held::kExclusive) return;
  verdict = make_change(object, Change::kAcquireWrite, 0, call);
  if (!verdict.legal()) call.fault(object, verdict, 0, findings::kWrite | findings::kFree);
}

uint32_t find_object(uint64_t address, uint32_t change, Call& call) {
  ObjectTable& table = objects();
  if (!address) return call.misuse(findings::Misuse::kNull, 0, nullptr, change), 0;
  const uint32_t index = table.find(address);
  if (!index) return call.misuse(is_memory(address, 1) ? findings::Misuse::kUnknownObject : findings::Misuse::kForeign, address, nullptr, change), 0;
  if (table.at(index).is_freed) return call.misuse(findings::Misuse::kFreed, address, &table.at(index), change), 0;
  return index;
}

void free_oldest(Watcher& watcher) {
  ObjectTable& table = objects();
  uint32_t index;
  {
    const SpinGuard guard(table.lock);
    index = table.freed_first;
    if (!index) return;
    table.freed_first = table.at(index).next;
    if (!table.freed_first) table.freed_last = 0;
    table.freed_count--;
  }
  let_go(index, watcher);
}

void free_object(uint32_t index, Call& call) {
  ObjectTable& table = objects();
  Declared& object = table.at(index);
  {
    const SpinGuard guard(object.lock);
    check_freeing(object, call);
    object.written = call.trace();
    object.rules = Rules(Policy::kInaccessible);
    object.is_freed = true;
    give_up_pages(object, index, call.watcher(), true);
    object.next = 0;
  }
  if (object.size > kMostKept) return let_go(index, call.watcher());
  {
    const SpinGuard guard(table.lock);
    if (table.freed_last) table.at(table.freed_last).next = index;
    else table.freed_first = index;
    table.freed_last = index;
    table.freed_count++;
  }
  if (table.freed_count > kMostFreed) free_oldest(call.watcher());
}

}  // namespace

void end_declared(uint64_t start, uint64_t size, const Spot* freed) {
  ObjectTable& table = objects();
  if (!table.is_on || !table.count()) return;
  for (uint32_t index = table.find_above(start); index && table.at(index).start < start + size; index = table.find_above(start)) {
    if (!freed && table.at(index).is_freed) {  // its pages are just being given back
      start = table.at(index).limit();
      continue;
    }
    Call call({freed ? freed->rip : 0, freed ? freed->general[4] : 0, freed ? freed->general[5] : 0});
    if (freed) {
      const SpinGuard guard(table.at(index).lock);
      check_freeing(table.at(index), call);
    }
    table.at(index).origin = Origin::kDeclared;
    let_go(index, call.watcher());
  }
}

}  // namespace weir::view::guarded

namespace weir::declared {

using namespace view::guarded;

bool is_on() { return objects().is_on; }

bool is_own(const void* address) {
  const auto at = reinterpret_cast<uint64_t>(address);
  return page::windows::contains(at) || at - (kArena + kHeapSize) < kMapSize;
}

void* allocate(size_t size, uint32_t policy, const Caller& caller) {
  if (size > kMapSize) return nullptr;
  if (!size) size = 1;
  Call call(caller);
  Origin origin = Origin::kWindow;
  uint64_t start = page::windows::allocate(size);
  if (!start) {
    origin = Origin::kPages;
    start = page::allocate_extent(size);
  }
  if (!start) return nullptr;
  if (!create(start, size, policy, origin, call)) {
    call.misuse(findings::Misuse::kTooMany, start);  // it is as good as any memory
  }
  return reinterpret_cast<void*>(start);
}

uint64_t size_of(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const uint32_t index = is_own(pointer) ? objects().find(address) : 0;
  return index && objects().at(index).start == address && !objects().at(index).is_freed ? objects().at(index).size : 0;
}

bool release(void* pointer, const Caller& caller) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const uint32_t index = objects().find(address);
  const Origin origin = index ? objects().at(index).origin : Origin::kNone;
  const bool is_block = (origin == Origin::kWindow || origin == Origin::kPages || origin == Origin::kArray) && objects().at(index).start == address;
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

void declare(uint64_t address, uint64_t size, uint32_t policy, bool has_pages, const Caller& caller) {
  Call call(caller);
  if (!address || !size) return call.misuse(findings::Misuse::kNull, address);
  if (!is_memory(address, size)) return call.misuse(findings::Misuse::kForeign, address);
  if (create(address, size, policy, has_pages && address % kPageSize == 0 ? Origin::kOwnPages : Origin::kDeclared, call)) return;
  const uint32_t other = objects().find_above(address);
  const bool overlaps = other && objects().at(other).start < address + size;
  call.misuse(overlaps ? findings::Misuse::kOverlaps : findings::Misuse::kTooMany, address, overlaps ? &objects().at(other) : nullptr);
}

void forget(uint64_t address, const Caller& caller) {
  Call call(caller);
  const uint32_t index = find_object(address, 0, call);
  if (!index) return;
  const Origin origin = objects().at(index).origin;
  if (origin == Origin::kDeclared || origin == Origin::kOwnPages || origin == Origin::kHeap) let_go(index, call.watcher());
  else call.misuse(findings::Misuse::kUnknownObject, address, &objects().at(index));
}

void change(uint64_t address, uint32_t wanted, uint64_t lock, const Caller& caller) {
  Call call(caller);
  const uint32_t index = find_object(address, wanted + 1, call);
  if (!index || wanted > static_cast<uint32_t>(Change::kToRacy)) return;
  if (static_cast<Change>(wanted) == Change::kToLocked && !lock) return call.misuse(findings::Misuse::kNull, address, &objects().at(index), wanted + 1);
  Declared& object = objects().at(index);
  const SpinGuard guard(object.lock);
  if (object.origin != Origin::kNone) change_object(object, index, static_cast<Change>(wanted), lock, call);
}

int policy_of(uint64_t address) {
  const uint32_t index = objects().find(address);
  return index && !objects().at(index).is_freed ? static_cast<int>(objects().at(index).rules.policy()) : -1;
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
  enforce(objects().at(index), index, call.task(), call.watcher(), false);
  return to;
}

void* slice(uint64_t size, const size_t* ends, uint64_t count, uint32_t policy, uint64_t* gap, const Caller& caller) {
  Call call(caller);
  const uint64_t pages = page_up(size) / kPageSize;
  const uint64_t store = page::allocate_extent(page_up(size));
  if (!store) return nullptr;
  const uint64_t windows = pages + count < page::windows::kMost ? page::windows::take_run(static_cast<uint32_t>(pages + count)) : 0;
  *gap = windows ? kPageSize : 0;
  const uint64_t start = windows ? windows : store;
  for (uint64_t i = 0, from = 0; i < count; from = ends[i++]) {
    const uint64_t to = ends[i];
    if (to <= from) continue;
    const uint64_t first = page_down(from), last = page_down(to - 1);
    if (windows) page::windows::show(windows + first + i * kPageSize, store + first, static_cast<uint32_t>((last - first) / kPageSize) + 1);
    create(start + from + i * *gap, to - from, policy, windows ? Origin::kArray : Origin::kDeclared, call);
  }
  return reinterpret_cast<void*>(start);
}

void unslice(void* pointer, uint64_t size, const size_t* ends, uint64_t count, uint64_t gap, const Caller& caller) {
  Call call(caller);
  const auto start = reinterpret_cast<uint64_t>(pointer);
  uint64_t store = gap ? page::alias_of(start) - kAlias + kArena : start;
  for (uint64_t i = 0, from = 0; i < count; from = ends[i++]) {
    const uint32_t index = ends[i] > from ? objects().find(start + from + i * gap) : 0;
    if (!index) continue;
    {
      const SpinGuard guard(objects().at(index).lock);
      check_freeing(objects().at(index), call);
    }
    let_go(index, call.watcher());
  }
  const uint64_t pages = page_up(size) / kPageSize;
  if (gap) page::windows::free_run(start, static_cast<uint32_t>(pages + count));
  page::zero_pages(store, size);
  page::free_extent(store, size);
}

}  // namespace weir::declared
