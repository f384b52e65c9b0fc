// A table in control memory has the rights: one word for each page of the backing. Each process's
// page table has what is mapped. There is no right without an entry in the table, and nothing is
// mapped without a right; a page with a right need not be mapped.
//
// Invariants
// 1. The table changes in turns only. (checked in take, grant_requests)
// 2. A task that is in program code (TaskOrder::computes) loses a right only in its own
//    turn (grant_requests). A task that waits, is in the kernel, or has not come out of its last
//    turn yet loses its pages to whichever task has the turn and needs them (UPLAY 2.2.1,
//    initiative preemption). That task writes down what must be unmapped. The loser unmaps it when
//    it has the turn again, before it touches anything. (checked in note_invalidation,
//    grant_requests)
// 3. Whether a task computes follows from turns, so what is taken, and from whom, does too. (not
//    checkable: it is about two runs)
// 4. A task that must wait for a page has passed the turn on and no longer computes, and no task
//    waits for a task that waits for a page. So pages cause no deadlock. (checked in on_fault)

#include "view/coherent/coherent.h"

#include "control/event.h"
#include "memory/program_memory.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "view/coherent/directory.h"

namespace weir::view::coherent {

namespace {

uint64_t key_of_spinner(const Task& task) { return kSpinnerKey + task.id; }

void remember(Task& task, uint64_t page) {
  constexpr uint64_t kMin = 1 << 16;
  Holder& h = holder_of(task);
  if (h.compact_at < kMin) h.compact_at = kMin;
  if (h.held_count >= h.compact_at) {  // what it has lost since goes, and what is there twice
    uint64_t kept = 0;
    for (uint64_t i = 0; i < h.held_count; i++) {
      if (!page::backing_bytes_at(h.held[i])) continue;  // it has been unmapped since
      uint64_t& entry = entry_at(index_of(h.held[i]));
      if (!has_right(entry, task, false) || (entry & kSeen)) continue;
      entry |= kSeen;
      h.held[kept++] = h.held[i];
    }
    for (uint64_t i = 0; i < kept; i++) entry_at(index_of(h.held[i])) &= ~kSeen;
    h.held_count = kept;
    h.compact_at = 2 * kept < kMin ? kMin : 2 * kept;
  }
  if (h.held_count == Holder::kMaxHeld) fail("keep track of so many pages", page, -ENOMEM);
  h.held[h.held_count++] = page;
}

void note_invalidation(Task& task, uint64_t page, bool all) {
  Holder& h = holder_of(task);
  // Invariant 2 of coherent.cc: only its own turn takes a right from who computes.
  WEIR_DEBUG_CHECK(!task.order.computes || shared().order.turn == task.id);
  if (h.invalidation_count == Holder::kMaxInvalidations)
    fail("keep track of so many pages", page, -ENOMEM);
  h.pending_invalidations[h.invalidation_count++] = page | (all ? kDrop : 0);
  if (task.pages.spins_on_pages)
    wake(key_of_spinner(task), 1, ~0u);  // what it looks at is about to change
}

// Blocks of pages in which tasks have asked each other for some: there each is given the page that
// it needs and no other.
constexpr uint64_t kBlockPages = 16;
uint8_t& contended_byte(uint64_t index) {
  return reinterpret_cast<uint8_t*>(kContendedBlocks)[index / kBlockPages / 8];
}
uint8_t contended_bit(uint64_t index) {
  return static_cast<uint8_t>(1u << (index / kBlockPages % 8));
}

}  // namespace

void ask(Task& task, uint64_t page, bool to_write) {
  Holder& h = holder_of(task);
  const uint64_t request = page | (to_write ? kForWriting : 0);
  for (uint64_t i = 0; i < h.request_count; i++) {
    if (h.requests[i] == request) return;
  }
  if (h.request_count == Holder::kMaxRequests) fail("ask for a page", page, -ENOMEM);
  if (!h.request_count) task.pages.asked_since = sys::monotonic_ns();
  h.requests[h.request_count++] = request;
}

namespace {

// A reader goes before those who wait to write only if it has waited longer: who comes to read
// keeps no writer from it, and writers who come again and again no reader.
bool comes_before_writers(const Task& task, uint64_t page) {
  if (!task.pages.waited) return false;
  Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& other = s.tasks[i];
    if (other.pages.waited && other.pages.waited < task.pages.waited &&
        other.pages.awaits == (page | kForWriting))
      return false;
  }
  return true;
}

// Calls `act` with each task that has the page and stands in the way.
template <typename Act>
void for_others(uint64_t entry, const Task& task, bool to_write, Act act) {
  Shared& s = shared();
  if (const uint32_t writer = writer_of(entry); writer && !writes_it(entry, task))
    act(s.tasks[writer - 1]);
  for (uint64_t readers = readers_of(entry & ~reader_bit(task)); to_write && readers;
       readers &= readers - 1)
    act(s.tasks[__builtin_ctzll(readers)]);
}

}  // namespace

bool take(Task& task, uint64_t page, bool to_write, bool asks) {
  WEIR_DEBUG_CHECK(shared().order.turn == task.id);  // invariant 1 of coherent.cc
  uint64_t& entry = entry_at(index_of(page));
  if (has_right(entry, task, to_write)) return true;
  const uint32_t writer = writer_of(entry);
  const uint64_t own_bit = reader_bit(task);
  if (!own_bit) to_write = true;
  if (!to_write && !writer && (entry & kWanted) && !comes_before_writers(task, page)) return false;
  Shared& s = shared();
  bool waits = false;
  const auto each_other = [&](auto act) { for_others(entry, task, to_write, act); };
  each_other([&](Task& other) {
    if (!other.order.computes) return;
    waits = true;
    if (!asks) return;
    ask(other, page, to_write);
    task.pages.was_deferred |= is_in_run(other);
  });
  if (waits && asks) {
    contended_byte(index_of(page)) |= contended_bit(index_of(page));
    if (to_write) entry |= kWanted;
  }
  if (waits) return false;
  each_other([&](Task& other) { note_invalidation(other, page, to_write || !reader_bit(other)); });
  if (entry & kWanted) wake(key_of(page), ~0u, ~0u);  // they ask again, now this task
  if (to_write) {
    const bool migrates =
        uses(Optimization::kMigration) && ((entry & kMigrates) || (entry & own_bit));
    entry = (task.id + 1) | (migrates ? kMigrates : 0) | (entry & kMoves);
  } else {
    entry = (entry & ~(kWriterMask | kMigrates)) | own_bit |
            (writer ? reader_bit(s.tasks[writer - 1]) : 0);
  }
  WEIR_DEBUG_CHECK(!writer_of(entry) || !readers_of(entry));
  remember(task, page);
  return true;
}

namespace {

// How many pages from this one on the task is given at once: more, where it goes through memory
// page by page.
uint64_t take_stretch(Task& task, uint64_t page, bool to_write) {
  constexpr uint64_t kMax = 64;
  Holder& h = holder_of(task);
  h.window =
      page == h.next && uses(Optimization::kAhead) ? (h.window < kMax ? h.window * 2 : kMax) : 1;
  const uint64_t room = page::backing_bytes_at(page) / kPageSize;
  uint64_t count = 1;
  while (count < h.window && count < room) {
    const uint64_t at = page + count * kPageSize;
    if (has_right(entry_at(index_of(at)), task, false) || page::has_protection(at, kPageSize) ||
        !take(task, at, to_write, false))
      break;
    if (writes_it(entry_at(index_of(at)), task) != to_write) {
      count++;
      break;
    }
    count++;
  }
  h.next = page + count * kPageSize;
  return count;
}

void map_with_right(Task& task, uint64_t page, uint64_t count) {
  for (uint64_t i = 0; i < count;) {  // stretches of one right
    const bool to_write = writes_it(entry_at(index_of(page + i * kPageSize)), task);
    uint64_t same = 1;
    while (i + same < count &&
           writes_it(entry_at(index_of(page + (i + same) * kPageSize)), task) == to_write)
      same++;
    map(page + i * kPageSize, same * kPageSize, to_write);
    i += same;
  }
}

// The pages of the same block, each for which `takes(at, index)` has got the task a right, are
// mapped, stretch by stretch.
template <typename Takes, typename Map>
void take_beside(Task& task, uint64_t page, Takes takes, Map map_stretch) {
  const uint64_t index = index_of(page), first = index / kBlockPages * kBlockPages;
  uint64_t start = 0, count = 0;
  const auto end_run = [&] {
    if (count) map_stretch(start, count);
    count = 0;
  };
  for (uint64_t i = first; i < first + kBlockPages; i++) {
    const uint64_t at = page + (i - index) * kPageSize;
    if (i == index || !page::backing_bytes_at(at) || page::has_protection(at, kPageSize) ||
        index_of(at) != i || !takes(at, i)) {
      end_run();
      continue;
    }
    task.spent.counters.prefetched++;
    if (!count++) start = at;
  }
  end_run();
}

// The task has just been given the page to read: it may read those near it that nobody writes, too.
void take_around(Task& task, uint64_t page) {
  const uint64_t bit = reader_bit(task), index = index_of(page);
  if (!bit || !uses(Optimization::kAround) || (contended_byte(index) & contended_bit(index)))
    return;
  const auto takes = [&](uint64_t at, uint64_t i) {
    if (entry_at(i) & (kWriterMask | kWanted | bit)) return false;
    entry_at(i) |= bit;
    remember(task, at);
    return true;
  };
  take_beside(task, page, takes,
              [](uint64_t start, uint64_t count) { map(start, count * kPageSize, false, false); });
}

// Those beside it that the task wants, and nobody keeps from it now, to write.
template <typename Wants>
void take_block(Task& task, uint64_t page, Wants wants) {
  const auto takes = [&](uint64_t at, uint64_t i) {
    if (!wants(i) || has_right(entry_at(i), task, true) || !take(task, at, true, false))
      return false;
    note_given(task, at);
    return true;
  };
  take_beside(task, page, takes,
              [&](uint64_t start, uint64_t count) { map_with_right(task, start, count); });
}

bool is_anothers(uint64_t entry, const Task& task) {
  return (writer_of(entry) && !writes_it(entry, task)) || readers_of(entry & ~reader_bit(task));
}

}  // namespace

void on_fault(Task& task, uint64_t address, bool writes) {
  const uint64_t page = page_down(address);
  if (task.order.state == TaskState::kOutside ||
      task.pages.peeks) {  // the runtime looks at what a call has read, or writes what it answers
    task.pages.borrows = 1;
    borrow(page);
    return;
  }
  if (has_right(entry_at(index_of(page)), task, writes)) {
    map_with_right(task, page, 1);
    return;
  }
  begin_turn(EventKind::kFault);
  bool has_waited = false, was_anothers = false;
  const uint64_t entry = entry_at(index_of(page));
  writes |=
      writer_of(entry) &&
      (entry &
       kMigrates);  // decided once: who waits to write keeps those away who would begin to read
  for (;;) {
    was_anothers = is_anothers(entry_at(index_of(page)), task);
    if (take(task, page, writes, true)) break;
    if (!task.pages.waited) {
      task.pages.waited = ++shared().memory.pages_awaited;
      task.pages.awaits = page | (writes ? kForWriting : 0);
    }
    has_waited = true;
    WEIR_DEBUG_CHECK(!task.order.computes);  // invariant 4 of coherent.cc
    wait_for_page(key_of(page));
  }
  task.pages.waited = 0;
  if (uint64_t& moved = entry_at(index_of(page)); was_anothers && (moved & kMoves) != kMoves)
    moved += kMove;
  const bool hot = note_given(task, page);
  if (task.turn.depth == 1)
    note_fault(task, {.has_waited = has_waited, .was_anothers = was_anothers, .is_hot = hot});
  const uint64_t count = take_stretch(task, page, writes);
  task.spent.counters.faults += 1;
  task.spent.counters.transfers += was_anothers || has_waited;
  task.spent.counters.page_waits += has_waited;
  task.spent.counters.prefetched += count - 1;
  map_with_right(task, page, count);
  if (is_in_run(task) && count == 1) {
    take_block(task, page, [](uint64_t i) { return (entry_at(i) & kMoves) == kMoves; });
  } else if (hot && count == 1) {
    const auto is_given_up = [](uint64_t i) {
      const uint32_t writer = writer_of(entry_at(i));
      return is_hot(i) && !readers_of(entry_at(i)) &&
             (!writer || shared().tasks[writer - 1].pages.waits_for_page);
    };
    take_block(task, page, is_given_up);
  } else if (task.pages.sections) {
    note_use_in_section(task, page, writes);
  } else if (count == 1 && !writes_it(entry_at(index_of(page)), task)) {
    take_around(task, page);
  }
  end_turn();
}

void touch(uint64_t start, uint64_t size, bool writes) {
  if (!size || !page::demand::is_open()) return;
  Task& task = self();
  const uint64_t first = page_down(start), limit = page_up(start + size);
  for (bool again = true; again;) {
    again = false;
    for (uint64_t page = first; page < limit; page += kPageSize) {
      if (!page::backing_bytes_at(page) || !page::may_access(page, writes)) continue;
      if (!has_right(entry_at(index_of(page)), task, writes)) {
        on_fault(task, page, writes);
        again = page != first;  // a page before it may have gone meanwhile
      } else {  // mapped, if it was not; this process may have to open it to the program first
        trap::read_byte(page);
      }
    }
  }
}

void map_again(Task& task, uint64_t start, uint64_t size) {
  if (!size || !page::demand::is_open()) return;
  for (uint64_t page = page_down(start); page < page_up(start + size); page += kPageSize) {
    if (!page::backing_bytes_at(page) || !page::may_access(page, false)) continue;
    if (has_right(entry_at(index_of(page)), task, false)) map_with_right(task, page, 1);
  }
}

bool may_read(const Task& task, uint64_t address) { return has(task, address, false); }
bool has(const Task& task, uint64_t address, bool writes) {
  return has_right(entry_at(index_of(page_down(address))), task, writes);
}

bool is_asked(const Task& task) {
  return __atomic_load_n(&holder_of(task).request_count, __ATOMIC_RELAXED) != 0;
}

bool grant_requests(Task& task, bool stays_mapped) {
  Holder& h = holder_of(task);
  if (!h.request_count) return false;
  WEIR_DEBUG_CHECK(shared().order.turn == task.id);  // invariants 1 and 2 of coherent.cc
  // A stretch that is to be dropped.
  uint64_t start = 0, limit = 0;
  for (uint64_t i = 0; i < h.request_count; i++) {
    const uint64_t page = h.requests[i] & ~kForWriting;
    const bool all = (h.requests[i] & kForWriting) || !reader_bit(task);
    wake(key_of(page), ~0u, ~0u);
    if (!page::backing_bytes_at(page)) continue;
    uint64_t& entry = entry_at(index_of(page));
    const bool had = writes_it(entry, task) || (all && (entry & reader_bit(task)));
    if (writes_it(entry, task)) {
      entry = (entry & ~kWriterMask) | (all ? 0 : reader_bit(task));
    } else if (all) {
      entry &= ~reader_bit(task);
    }
    if (had && stays_mapped) {
      note_invalidation(task, page, all);
    } else if (had && all) {
      if (page != limit && limit) drop(start, limit - start);
      if (page != limit) start = page;
      limit = page + kPageSize;
    } else if (had) {
      protect(page, kPageSize, true);
    }
  }
  if (limit) drop(start, limit - start);
  h.request_count = task.pages.asked_since = 0;
  return true;
}

void catch_up(Task& task) {
  Holder& h = holder_of(task);
  if (task.pages.borrows) return_borrowed();
  task.pages.borrows = 0;
  for (uint64_t i = 0; i < h.invalidation_count;) {
    const uint64_t page = h.pending_invalidations[i] & ~kDrop,
                   all = h.pending_invalidations[i] & kDrop;
    uint64_t limit = page + kPageSize;
    for (i++; i < h.invalidation_count && h.pending_invalidations[i] == (limit | all); i++)
      limit += kPageSize;
    if (all) drop(page, limit - page);
    else protect(page, limit - page, true);
  }
  h.invalidation_count = 0;
}

bool end_right(const Task& task, uint64_t page) {
  if (!page::backing_bytes_at(page)) return false;
  uint64_t& entry = entry_at(index_of(page));
  if (!has_right(entry, task, false)) return false;
  entry &= ~(writes_it(entry, task) ? kWriterMask : reader_bit(task));
  return true;
}

void give_up(const Task& task, const uint64_t* pages, uint64_t count) {
  uint64_t start = 0, limit = 0;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t page = pages[i];
    if (!end_right(task, page)) continue;
    if (page == limit) {
      limit += kPageSize;
      continue;
    }
    if (limit) drop(start, limit - start);
    start = page;
    limit = page + kPageSize;
  }
  if (limit) drop(start, limit - start);
}

void release_all(Task& task, bool stays_mapped) {
  Holder& h = holder_of(task);
  if (stays_mapped) {
    for (uint64_t i = 0; i < h.held_count; i++)
      if (end_right(task, h.held[i])) note_invalidation(task, h.held[i], true);
  } else {
    give_up(task, h.held, h.held_count);
  }
  h.held_count = 0;
  for (uint64_t i = 0; i < h.request_count; i++)
    wake(key_of(h.requests[i] & ~kForWriting), ~0u, ~0u);
  h.request_count = task.pages.asked_since = 0;
}

namespace {

// What is left of the rights to a page that has been emptied, but not unmapped anywhere: a task
// that computes keeps its right (invariant 2), the others unmap the page when they go on.
uint64_t kept_after_emptying(uint64_t entry, uint64_t page) {
  Shared& s = shared();
  uint64_t kept = 0;
  const auto look_at = [&](TaskId id, uint64_t right) {
    Task& other = s.tasks[id];
    if (id == self().id) return;  // it has just unmapped it
    if (other.order.computes) kept |= right;
    else note_invalidation(other, page, true);
  };
  if (const uint32_t writer = writer_of(entry)) look_at(writer - 1, writer);
  for (uint64_t readers = readers_of(entry); readers; readers &= readers - 1) {
    const auto id = static_cast<TaskId>(__builtin_ctzll(readers));
    look_at(id, reader_bit(s.tasks[id]));
  }
  return kept;
}

}  // namespace

void forget(uint64_t start, uint64_t size) {
  if (!page::demand::is_open()) return;
  const uint64_t first = index_of(start), count = page_up(size) / kPageSize;
  const bool stays_mapped = page::demand::keeps_emptied();
  if (stays_mapped) drop(start, page_up(size));
  for (uint64_t i = 0; i < count; i++) {
    uint64_t& entry = entry_at(first + i);
    if (entry) entry = stays_mapped ? kept_after_emptying(entry, start + i * kPageSize) : 0;
  }
}

}  // namespace weir::view::coherent
