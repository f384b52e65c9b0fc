// Objects with a declared policy: what a task that comes to one may do with it, and which pages its
// process has.
//
// An object with pages of its own is let in page by page. A task touches it, the rule book is
// asked, and what it allows is mapped in this process alone. If an object shares its page with
// another object, or with memory of which nothing is declared, that page is mapped for nobody. Each
// access then traps, is checked byte by byte, and is executed once. That is right, and slow.
//
// Invariants
// 1. A page that belongs to one object alone is mapped in a process only for one of these reasons:
//    the rule book let its task in, the page is lent for a moment, it stays open beyond an unlock
//    (3), or the object has been violated so often that accesses are no longer checked
//    (kMaxViolations). (not checkable: only the kernel knows what a process has mapped)
// 2. A change of policy takes the pages from the task that makes it at once. Other tasks that may
//    still have them drop them at their next event. (not checkable: others keep their pages until
//    their next event)
// 3. A locked object is closed at the unlock, so that the next touch is checked. If that touch was
//    legal several times in a row, the object stays open for some unlocks; one in kMaxTrust is
//    still checked. (not checkable: pages of an object may stay open on trust)
// 4. Functions that order tasks may touch the lock, barrier or similar that they are called for,
//    whatever the policy of the object in which it lies. A variable that is itself such a thing,
//    and of which the program has declared nothing, is racy from then on. (not checkable: it is a
//    rule of what is reported)
// 5. A task that reads or writes a racy object may acquire from all others that do, at any time
//    (open_to), because they may use it to order themselves. (not checkable: it is a rule of what
//    is reported)
//
// Deviation: accesses to the bytes beside an object in its own pages are not told apart from
// accesses to the object.

#include "check/core/enforcer.h"

#include "base/bytes.h"
#include "check/core/enforce_by_key.h"
#include "check/core/happens_before.h"
#include "control/options.h"
#include "memory/backing.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

using page::demand::drop;
using page::demand::fill_backing;
using page::demand::map;

constexpr uint32_t kMaxTrust = 6;   // 2 to the power of that: unlocks of which one is looked at
constexpr uint32_t kTrustStep = 4;  // closings for each power
constexpr uint64_t kTrustTime =
    8'000'000;                  // cycles: what is trusted most is looked at once in so many at most
constexpr uint64_t kEager = 4;  // objects of so many pages are mapped before they are touched
constexpr uint64_t kAround = 256;  // pages that a task gets at once

bool is_over(uint32_t creation) {
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    const ThreadState& other = state().threads[i];
    if (s.tasks[i].order.state != TaskState::kFree &&
        static_cast<uint32_t>(other.creation) == creation && !other.is_over)
      return false;
  }
  return true;
}

bool is_page_of(const Page& page, uint32_t index) {
  return page.mode == Mode::kDeclared && page.checked_count == index;
}

void open_page(uint64_t at, Page& page, const ThreadState& thread, bool writes) {
  __atomic_fetch_or(&page.holders, bit_of(thread), __ATOMIC_ACQ_REL);
  if (!page.was_written) fill_backing(at, kPageSize);
  page.was_written = 1;
  map(at, kPageSize, writes);
}

void close_page(uint64_t at, Page& page, const ThreadState& thread) {
  if (!(page.holders & bit_of(thread))) return;
  drop(at, kPageSize);
  __atomic_fetch_and(&page.holders, ~bit_of(thread), __ATOMIC_RELEASE);
}

bool is_there(uint64_t at) {
  return page::windows::contains(at) ? page::windows::shows(at) : page::backing_bytes_at(at) != 0;
}

template <typename Act>
void each_page(const Declared& object, uint32_t index, Act act) {
  for (uint64_t at = page_down(object.start); at < object.limit(); at += kPageSize) {
    if (!is_there(at)) continue;
    Page& page = page_of(at);
    if (is_page_of(page, index)) act(at, page);
  }
}

// The page, and what the task lacks of the object after it.
void open_pages(const Declared& object, uint32_t index, uint64_t at, Page& page,
                const ThreadState& thread, bool writes) {
  const bool has_had = page.holders & bit_of(thread);
  open_page(at, page, thread, writes);
  if (has_had) return;
  const uint64_t start = at + kPageSize;
  const uint64_t last = page_down(object.limit() - 1), most = at + (kAround - 1) * kPageSize;
  uint64_t limit = start;
  bool is_filled = true;
  for (; limit <= last && limit <= most; limit += kPageSize) {
    Page& next = page_of(limit);
    if (!is_page_of(next, index) ||
        (__atomic_fetch_or(&next.holders, bit_of(thread), __ATOMIC_ACQ_REL) & bit_of(thread)))
      break;
    is_filled &= next.was_written;
    next.was_written = 1;
  }
  if (limit == start) return;
  if (!is_filled) fill_backing(start, limit - start);
  map(start, limit - start, writes);
}

}  // namespace

Rules::Actor actor_of(const ThreadState& thread, const Declared& object, bool is_alone) {
  return {thread.slot, thread.now, is_alone,
          object.readers ? &objects().readers_at(object.readers).rules : nullptr};
}

Meant meant_for(const Task& task, const ThreadState& thread, Declared& object) {
  const auto creation = static_cast<uint32_t>(task.identity.creation);
  const Policy policy = object.rules.policy();
  if (policy == Policy::kPrivate && object.rules.owner() == thread.slot &&
      object.owner_creation != creation)
    return Meant::kAnother;
  if (policy != Policy::kReadShared || !object.readers) return Meant::kTask;
  Readers& readers = objects().readers_at(object.readers);
  const bool has = readers.rules.holds[thread.slot / 64] >> thread.slot % 64 & 1;
  if (!has || readers.creation[thread.slot] == creation) return Meant::kTask;
  if (!is_over(readers.creation[thread.slot])) return Meant::kUnknown;
  object.rules.change(Change::kReleaseRead, actor_of(thread, object));  // it has ended without
  return Meant::kTask;
}

namespace {

void give_up_pages(Declared& object, uint32_t index, ThreadState& thread, bool from_others) {
  Range mine{};  // pages in a row
  each_page(object, index, [&](uint64_t at, Page& page) {
    const uint64_t others = page.holders & ~bit_of(thread);
    if (others && from_others) lose(at, page, others, thread, true);
    if (!(page.holders & bit_of(thread))) return;
    __atomic_fetch_and(&page.holders, ~bit_of(thread), __ATOMIC_RELEASE);
    if (at != mine.limit) {
      if (!mine.empty()) drop(mine.start, mine.size());
      mine.start = at;
    }
    mine.limit = at + kPageSize;
  });
  if (!mine.empty()) drop(mine.start, mine.size());
}

void enforce(Declared& object, uint32_t index, const Task& task, ThreadState& thread,
             bool from_others) {
  if (!happens::g_checked) return;
  const bool is_mine = meant_for(task, thread, object) == Meant::kTask;
  const Rights rights =
      is_mine ? object.rules.rights(thread.slot, false, actor_of(thread, object).readers)
              : Rights::kNone;
  if (object.size > kEager * kPageSize || rights == Rights::kNone ||
      object.rules.policy() == Policy::kRacy) {
    give_up_pages(object, index, thread, from_others);
    return;
  }
  each_page(object, index, [&](uint64_t at, Page& page) {
    const uint64_t others = page.holders & ~bit_of(thread);
    if (others && from_others) lose(at, page, others, thread, true);
    if (rights == Rights::kRead) close_page(at, page, thread);
    open_page(at, page, thread, rights == Rights::kWrite);
  });
}

void mark_pages(uint32_t index, ThreadState& thread) {
  if (!happens::g_checked) return;
  const Declared& object = objects().at(index);
  const bool has_pages = object.origin != Origin::kDeclared && object.origin != Origin::kHeap;
  for (uint64_t at = page_down(object.start); at < object.limit(); at += kPageSize) {
    if (!is_there(at)) continue;
    Page& page = page_of(at);
    const SpinGuard guard(page.lock);
    const bool is_whole = has_pages || (object.start <= at && object.limit() >= at + kPageSize);
    if (page.mode == Mode::kDeclared && !page.checked_count && !is_whole) continue;
    const uint64_t others = page.holders & ~bit_of(thread);
    if (others) lose(at, page, others, thread, true);
    close_page(at, page, thread);
    page.mode = Mode::kDeclared;
    page.was_written = 0;
    page.checked_count = is_whole ? index : 0;
    if (!is_whole && !page.shadow) page.shadow = take_shadow();
  }
}

void unmark_pages(uint64_t start, uint64_t size, uint32_t index, ThreadState& thread) {
  if (!happens::g_checked) return;
  for (uint64_t at = page_down(start); at < start + size; at += kPageSize) {
    if (!is_there(at)) continue;
    Page& page = page_of(at);
    const SpinGuard guard(page.lock);
    if (page.mode != Mode::kDeclared || (page.checked_count && page.checked_count != index))
      continue;
    if (!page.checked_count) {
      const uint32_t other = objects().find_above(at);
      if (other && objects().at(other).start < at + kPageSize) continue;
    }
    const uint64_t others = page.holders & ~bit_of(thread);
    if (others) lose(at, page, others, thread, true);
    close_page(at, page, thread);
    page.mode = Mode::kNew;
    page.was_written = 0;
    page.checked_count = 0;
    page.untrapped |= page.released;
    if (page.shadow) give_shadow(page.shadow);
    page.shadow = 0;
  }
}

uint64_t allocate(uint64_t size, Policy, const Task&, uint32_t, Given& given) {
  const uint64_t start = page::windows::allocate(size);
  given.origin = start ? Origin::kWindow : Origin::kPages;
  return start ? start : page::allocate_extent(size);
}

void deallocate(uint64_t start, uint64_t size, Origin origin, Tag) {
  if (origin == Origin::kWindow) page::windows::free(start);
  if (origin != Origin::kPages) return;
  page::zero_pages(start, size);
  page::free_extent(start, size);
}

// Slices are windows onto pages in a row; where there is no room for windows, those pages
// themselves.
uint64_t allocate_slices(uint64_t size, uint64_t count, uint64_t& gap) {
  const uint64_t pages = page_up(size) / kPageSize;
  const uint64_t backing = page::allocate_extent(page_up(size));
  if (!backing) return 0;
  const uint64_t windows = pages + count < page::windows::kMax
                               ? page::windows::take_run(static_cast<uint32_t>(pages + count))
                               : 0;
  gap = windows ? kPageSize : 0;
  if (!windows) return backing;
  page::windows::show(windows, backing,
                      1);  // where the first slice begins, so that the backing is found by it
  return windows;
}

void show(uint64_t start, uint64_t number, uint64_t from, uint64_t to) {
  const uint64_t backing = page::shared_view_of(start) - kSharedView + kArena;
  const uint64_t first = page_down(from), last = page_down(to - 1);
  page::windows::show(start + first + number * kPageSize, backing + first,
                      static_cast<uint32_t>((last - first) / kPageSize) + 1);
}

void deallocate_slices(uint64_t start, uint64_t size, uint64_t count, uint64_t gap) {
  const uint64_t backing = gap ? page::shared_view_of(start) - kSharedView + kArena : start;
  const uint64_t pages = page_up(size) / kPageSize;
  if (gap) page::windows::free_run(start, static_cast<uint32_t>(pages + count));
  page::zero_pages(backing, size);
  page::free_extent(backing, size);
}

bool is_memory(uint64_t address) { return page::backing_bytes_at(address) != 0; }

constexpr Enforcer kProcesses{allocate,  deallocate, allocate_slices, show,       deallocate_slices,
                              is_memory, enforce,    give_up_pages,   mark_pages, unmark_pages};

}  // namespace

const Enforcer& enforcer() { return options().has_keys() ? keys::kEnforcer : kProcesses; }

void begin_declared() {
  ObjectTable& table = objects();
  ThreadState& thread = thread_of(self());
  for (uint32_t index = table.find_above(0); index;
       index = table.find_above(table.at(index).limit()))
    enforcer().mark(index, thread);
}

Verdict judge_object(Declared& object, Task& task, ThreadState& thread, const AccessSite& site,
                     Access& access, Held& held) {
  const bool writes = access.kind & (findings::kWrite | kUnknownWrite);
  if (access.kind & kUnknownWrite) access.kind = findings::kWrite;
  if (!access.kind) access.kind = findings::kRead;
  if (is_ignored(site.rip)) access.kind |= findings::kByLibrary;
  Verdict verdict;
  if (object.is_freed) {
    report_misuse(findings::Misuse::kFreed, &object, thread, access, site);
    return {Fault::kForbidden, {}};
  }
  const bool is_locked = object.rules.policy() == Policy::kLocked;
  held = is_locked ? holds(task, thread, object.rules.lock()) : Held::kNot;
  switch (meant_for(task, thread, object)) {
    case Meant::kUnknown:
      if (writes) verdict.fault = Fault::kForbidden;
      break;
    case Meant::kAnother: verdict = {Fault::kForbidden, object.rules.since()}; break;
    case Meant::kTask: {
      const bool was_untouched = object.rules.policy() == Policy::kUntouched;
      verdict = object.rules.touch(actor_of(thread, object), writes,
                                   held == Held::kExclusive || (held == Held::kShared && !writes));
      if (!was_untouched) break;
      if (!access.context) access.context = context_of(site);
      if (!verdict.legal()) report_fault(object, verdict, thread, access, site);
      object.written = trace_of(thread, access.context);
      object.owner_creation = static_cast<uint32_t>(task.identity.creation);
      return {};
    }
  }
  if (verdict.legal()) return verdict;
  report_fault(object, verdict, thread, access, site);
  object.violations++;
  object.trust = 0;
  return verdict;
}

namespace {

void note_opened(ThreadState& thread, uint32_t index, const Declared& object) {
  const uint32_t left = options().exact ? 0 : (1u << object.trust / kTrustStep) - 1;
  for (uint64_t i = 0; i < thread.opened_count; i++) {
    if (thread.opened[i].object == index) {
      thread.opened[i] = {index, left, object.rules.lock(), sys::cycles()};
      return;
    }
  }
  if (thread.opened_count == kMaxOpened) {  // the oldest is looked at again
    const uint32_t oldest = thread.opened[0].object;
    each_page(objects().at(oldest), oldest,
              [&](uint64_t at, Page& page) { close_page(at, page, thread); });
    for (uint32_t i = 1; i < kMaxOpened; i++) thread.opened[i - 1] = thread.opened[i];
    thread.opened_count--;
  }
  thread.opened[thread.opened_count++] = {index, left, object.rules.lock(), sys::cycles()};
}

void admit_mixed(Task& task, ThreadState& thread, const AccessSite& site, Access access,
                 Page& page) {
  ObjectTable& table = objects();
  if (is_ignored(site.rip) || !(access.kind & (findings::kRead | findings::kWrite)))
    return;  // the C library reads more than it was asked to
  const uint64_t limit = access.address + access.size;
  for (uint64_t at = access.address; at < limit;) {
    const uint32_t index = table.find_above(at);
    const uint64_t start = index ? table.at(index).start : limit;
    if (start > at) {  // of which nothing is declared
      const uint64_t end = start < limit ? start : limit;
      const SpinGuard guard(page.lock);
      Access rest{at, end - at, access.kind, access.context};
      if (page.shadow) check_access(page.shadow, thread, rest, site);
      access.context = rest.context;
      at = end;
      continue;
    }
    Declared& object = table.at(index);
    const SpinGuard guard(object.lock);
    const uint64_t end = object.limit() < limit ? object.limit() : limit;
    if (object.origin == Origin::kNone || end <= at) return;  // it is just being forgotten
    Access piece{at, end - at, access.kind, access.context};
    Held held;
    const Verdict verdict = judge_object(object, task, thread, site, piece, held);
    access.context = piece.context;
    if (verdict.legal() && object.rules.policy() == Policy::kRacy) {
      happens::on_acquire(object.start);
      happens::on_release(object.start);
    }
    at = end;
  }
}

}  // namespace

bool admit_declared(Task& task, ThreadState& thread, const AccessSite& site, Access access,
                    Page& page, bool lacks) {
  const uint64_t at = page_down(access.address);
  const uint32_t index = page.checked_count;
  if (!index) {
    admit_mixed(task, thread, site, access, page);
    return false;
  }
  Declared& object = objects().at(index);
  const SpinGuard guard(object.lock);
  if (!is_page_of(page, index))
    return false;  // it has just been forgotten: the task will come again
  if (is_ordering(task, thread, site, object) && !takes_as_lock(object)) return false;
  Held held;
  const bool writes = access.kind & (findings::kWrite | kUnknownWrite);
  const Verdict verdict = judge_object(object, task, thread, site, access, held);
  if (!verdict.legal()) {
    if (object.violations < kMaxViolations) return false;
    open_page(at, page, thread, true);
    return true;
  }
  if (!lacks && (page.holders & bit_of(thread))) return true;
  switch (object.rules.policy()) {
    case Policy::kRacy:
      if (object.is_automatic) open_page(at, page, thread, true);  // a lock: what it tells is known
      else open_to(at, page, thread);
      return true;
    case Policy::kLocked: note_opened(thread, index, object); break;
    default: break;
  }
  const Rights rights =
      object.rules.rights(thread.slot, held == Held::kExclusive, actor_of(thread, object).readers);
  open_pages(object, index, at, page, thread, writes || rights == Rights::kWrite);
  return true;
}

void close_by_lock(ThreadState& thread, uint64_t lock) {
  for (uint32_t i = 0; i < thread.held_count && i < kMaxHeld; i++) {
    if ((thread.held[i] & ~uint64_t{1}) == lock) return;  // it was locked several times
  }
  for (uint64_t i = 0; i < thread.opened_count;) {
    Opened& opened = thread.opened[i];
    if (opened.lock != lock || opened.left) {
      if (opened.lock == lock) opened.left--;
      i++;
      continue;
    }
    Declared& object = objects().at(opened.object);
    if (object.trust == kMaxTrust * kTrustStep && !options().exact &&
        sys::cycles() - opened.since < kTrustTime) {
      opened.left = (1u << kMaxTrust) - 1;
      i++;
      continue;
    }
    {
      const SpinGuard guard(object.lock);
      give_up_pages(object, opened.object, thread, false);
      if (object.trust < kMaxTrust * kTrustStep) object.trust++;
    }
    for (uint64_t k = i + 1; k < thread.opened_count; k++) thread.opened[k - 1] = thread.opened[k];
    thread.opened_count--;
  }
}

}  // namespace weir::view::checked
