// A tape for each lock (the project's tapes: what was accessed, and what is fetched ahead by it).
//
// A task that gets a lock while another task still keeps the pages that are used under it has to
// wait for them in its section, with the lock, and all others wait for both. So it waits for one of
// the pages first, and the task that keeps them takes the lock again and again meanwhile, without a
// transfer. When that one's time is over it stands back: it waits in the lock's queue, although the
// lock is free, until the other has had the lock.
//
// Invariants
// 1. Whether a task waits for a section, or stands back, follows from turns: tapes, rights, and
//    which tasks hold on. (not checkable: it is about two runs)
// 2. Tasks stand back for one that waits for the section, or has been woken and comes to the lock.
//    That one takes the lock, or waits in its queue. In both cases the lock says that tasks wait,
//    so that each that stands back is woken. (checked in await_section)
// 3. A task waits for a section once before it takes the lock or waits in its queue, and only for
//    one that computes: that one is stopped, or comes to an event, and wakes it. (checked in
//    await_section)

#include "base/hash.h"
#include "control/event.h"
#include "view/coherent/directory.h"

namespace weir::view::coherent {

namespace {

// A tape for each lock that tasks take in turn: the pages that were used while it was held. Those
// that can be had without asking come with the lock.
struct Tape {
  static constexpr uint32_t kMax = 250;
  uint64_t lock;
  uint32_t last;  // task + 1 that had the lock last
  uint32_t heat;  // how often it went to another task, lately
  uint32_t uses;
  uint32_t count;
  uint64_t page[kMax];  // rising; lowest bit: written
};
static_assert(sizeof(Tape) * kTapes <= kTapesSize);
constexpr uint32_t kHot = 2, kMaxHeat = 8;
// So often a page is taken off the tape: who needs it puts it there again.
constexpr uint32_t kTryWithout = 32;

Tape& tape_of(uint64_t lock) {
  return reinterpret_cast<Tape*>(kTapePlace)[mix(lock >> 3) >> 54 & (kTapes - 1)];
}
bool is_hot(const Tape& tape) { return tape.heat >= kHot && uses(Optimization::kTape); }

void put_on(Tape& tape, uint64_t page, bool writes) {
  uint32_t at = 0;
  while (at < tape.count && (tape.page[at] & ~kForWriting) < page) at++;
  if (at < tape.count && (tape.page[at] & ~kForWriting) == page) {
    tape.page[at] |= writes;
    return;
  }
  if (tape.count == Tape::kMax) return;
  for (uint32_t i = tape.count++; i > at; i--) tape.page[i] = tape.page[i - 1];
  tape.page[at] = page | writes;
}

void take_off(Tape& tape, uint32_t at) {
  tape.count--;
  for (uint32_t i = at; i < tape.count; i++) tape.page[i] = tape.page[i + 1];
}

// Of the lock that the task took last.
Tape& innermost(const Task& task) {
  const uint32_t known =
      task.pages.sections < kKnownSections ? task.pages.sections : kKnownSections;
  return tape_of(task.pages.section_lock[known - 1]);
}

// A page that was unmapped since it came on the tape has no entry.
bool lacks(const Task& task, uint64_t noted) {
  const uint64_t page = noted & ~kForWriting;
  return page::backing_bytes_at(page) &&
         !has_right(entry_at(index_of(page)), task, noted & kForWriting) &&
         !page::has_protection(page, kPageSize);
}

void fetch(Task& task, const Tape& tape) {
  uint32_t hot = 0;
  uint64_t start = 0,
           limit = 0;  // a stretch of pages that it can have alike, which are mapped at once
  bool to_write = false;
  for (uint32_t i = 0; i < tape.count; i++) {
    const uint64_t page = tape.page[i] & ~kForWriting;
    if (!lacks(task, tape.page[i]) || !take(task, page, tape.page[i] & kForWriting, false))
      continue;
    task.spent.counters.prefetched++;
    if (uses(Optimization::kLocks)) hot += note_given(task, page);
    const bool may_write = writes_it(entry_at(index_of(page)), task);
    if (page != limit || may_write != to_write) {
      if (limit) map(start, limit - start, to_write);
      start = page;
      to_write = may_write;
    }
    limit = page + kPageSize;
  }
  if (limit) map(start, limit - start, to_write);
  if (hot) hold_on(task, hot);
}

// A page of the tape that the task holds on to; 0: none.
uint64_t page_held_by(const Task& last, const Tape& tape) {
  for (uint32_t i = 0; i < tape.count; i++) {
    const uint64_t page = tape.page[i] & ~kForWriting;
    if (!page::backing_bytes_at(page)) continue;
    const uint64_t index = index_of(page);
    if (writes_it(entry_at(index), last) && coherent::is_hot(index)) return page;
  }
  return 0;
}

}  // namespace

bool await_section(Task& task, uint64_t lock) {
  WEIR_DEBUG_CHECK(!task.pages.awaits_section);  // invariants 2 and 3 of lock_prefetch.cc
  Tape& tape = tape_of(lock);
  if (!uses(Optimization::kLocks) || tape.lock != lock || !is_hot(tape) || !tape.last ||
      tape.last == task.id + 1)
    return false;
  Task& last = shared().tasks[tape.last - 1];
  if (!last.order.computes || !holds_on(last)) return false;
  const uint64_t page = page_held_by(last, tape);
  if (!page) return false;
  ask(last, page, true);
  task.pages.awaits_section = lock;
  wait_for_page(key_of(page));
  return true;
}

bool is_section_awaited(const Task& task, uint64_t lock) {
  if (holds_on(task)) return false;  // its time is not over
  const Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& other = s.tasks[i];
    if (other.pages.awaits_section == lock && other.order.state != TaskState::kFree) return true;
  }
  return false;
}

void enter_section(Task& task, uint64_t lock) {
  task.pages.awaits_section = 0;
  Tape& tape = tape_of(lock);
  if (tape.lock != lock) tape = Tape{lock, 0, 0, 0, 0, {}};
  if (tape.last != task.id + 1) {
    if (tape.last && tape.heat < kMaxHeat) tape.heat++;
  } else if (tape.heat) {
    tape.heat--;
  }
  tape.last = task.id + 1;
  if (task.pages.sections < kKnownSections) task.pages.section_lock[task.pages.sections] = lock;
  task.pages.sections++;
  if (!is_hot(tape)) return;
  if (++tape.uses % kTryWithout == 0 && tape.count)
    take_off(tape, tape.uses / kTryWithout % tape.count);
  fetch(task, tape);
}

void note_use_in_section(const Task& task, uint64_t page, bool writes) {
  Tape& tape = innermost(task);
  if (is_hot(tape)) put_on(tape, page, writes);
}

void leave_section(Task& task) {
  if (task.pages.sections) task.pages.sections--;
}

}  // namespace weir::view::coherent
