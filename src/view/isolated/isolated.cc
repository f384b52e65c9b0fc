// A task's copies become diffs, and the diffs the backing.
//
// Invariants
// 1. Between two publications of this process, diff buffer entries [0, dirty_count) name pages
//    whose private copy holds bytes that the backing does not, and no other page does. (checked in
//    publish)
// 2. After publish() this process has no private copy but the retained ones, which are equal to the
//    backing. They are again whenever program code goes on, or the runtime reads program memory,
//    after others may have published (refresh); in between the backing's page is not their twin. A
//    write to a hole that remembers a mark faults twice: the copy is made marked, then the mark
//    lifts. A signal can come in between; then there is a copy that nothing reports. signal/ drops
//    it before anybody publishes (drop_unwritten), or the write would go to a copy that lacks what
//    others published meanwhile, and its diff would take that back. (checked in publish)
// 3. The runtime stack, this buffer and the tables are no memory of the backing: nothing here
//    writes to what it scans. (checked in add_dirty)

#include "view/isolated/isolated.h"

#include <sys/mman.h>

#include "base/bytes.h"
#include "control/control.h"
#include "control/phase_timer.h"
#include "memory/backing.h"
#include "memory/code/executed.h"
#include "memory/code/mapped_twice.h"
#include "memory/diff/diff.h"
#include "sys/fault_log.h"
#include "sys/memory.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "view/isolated/find_copies.h"

namespace weir::view::isolated {

namespace {

// Pages that a task got from its creator, as long as it has published nothing. While it has them
// they are its twins, not the backing's.
struct HandOver {
  static constexpr uint64_t kMax = 63;
  uint64_t count;
  uint64_t page[kMax];
  alignas(kPageSize) uint8_t bytes[kMax][kPageSize];
};

// The hand-over lies at the end of the task's diff buffer.
constexpr uint64_t kMaxDiffs = (kDiffSize - sizeof(HandOver)) / sizeof(page::PageDiff);

page::PageDiff* diffs_of(const Task& task) {
  return reinterpret_cast<page::PageDiff*>(kDiffs + task.id * kDiffSize);
}
HandOver& hand_over_of(const Task& task) {
  return *reinterpret_cast<HandOver*>(kDiffs + (task.id + 1) * kDiffSize - sizeof(HandOver));
}

void add_dirty(Task& task, uint64_t page) {
  if (page::executed::is_changed_copy(page)) return;
  if (task.copies.dirty_count == kMaxDiffs) {
    report("task %u wrote more than %u MB between two events", uint64_t{task.id},
           kMaxDiffs * kPageSize >> 20);
    die(125);
  }
  WEIR_DEBUG_CHECK(page::backing_bytes_at(page));  // invariant 3 of isolated.cc
  diffs_of(task)[task.copies.dirty_count++].page = page;
}

// Per process: copies that stay. A copy that the kernel makes costs microseconds, as much again
// when it is dropped; bringing one up to date costs a tenth. So what the last short intervals wrote
// stays private from one interval to the next, as it is likely to be written again (a tape of one
// interval), and is made equal to the backing whenever the task has published and before it goes
// on. Its twin is what it was made equal to.
struct RetainedCopies {
  static constexpr uint32_t kMax = 16;
  // Intervals that did not write it: that many refreshes cost what a copy does.
  static constexpr uint8_t kMaxIdle = 6;
  uint32_t count = 0;
  uint64_t mapping_sequence = 0;
  uint64_t page[kMax];
  uint8_t idle[kMax];
};
RetainedCopies g_retained;
alignas(kPageSize) uint8_t g_twins[RetainedCopies::kMax][kPageSize];

// Per process: all other copies have faulted since `mark`: a copy is made by a fault, whoever
// writes.
struct Known {
  bool valid = false;
  sys::FaultMark mark;
};
Known g_known;

int retained_index(uint64_t page) {
  for (uint32_t i = 0; i < g_retained.count; i++) {
    if (g_retained.page[i] == page) return static_cast<int>(i);
  }
  return -1;
}

void remove_retained(uint32_t i) {
  RetainedCopies& r = g_retained;
  const uint32_t last = --r.count;
  if (i == last) return;
  r.page[i] = r.page[last];
  r.idle[i] = r.idle[last];
  copy_bytes(g_twins[i], g_twins[last], kPageSize);
}

// The copy and its twin become what the backing holds.
void refresh_one(uint32_t i) {
  const uint64_t page = g_retained.page[i];
  copy_bytes(g_twins[i], reinterpret_cast<const void*>(page::shared_view_of(page)), kPageSize);
  copy_bytes(reinterpret_cast<void*>(page), g_twins[i], kPageSize);
}

// A new copy is retained if there is room, or one that has not been written for long.
bool add_retained(uint64_t page) {
  constexpr uint8_t kLong = 4;
  RetainedCopies& r = g_retained;
  if (r.count == RetainedCopies::kMax) {
    uint32_t idlest = 0;
    for (uint32_t i = 1; i < r.count; i++) {
      if (r.idle[i] > r.idle[idlest]) idlest = i;
    }
    if (r.idle[idlest] < kLong) return false;
    drop(r.page[idlest], kPageSize);
    remove_retained(idlest);
  }
  r.page[r.count] = page;
  r.idle[r.count++] = 0;
  return true;
}

// Adds the retained copies and the pages of the backing that have faulted. False: they are not all
// known.
bool add_known(Task& task) {
  constexpr uint32_t kMaxFaults = 64;
  uint64_t pages[kMaxFaults + RetainedCopies::kMax];
  if (!g_known.valid) return false;
  const long faults = sys::faults_since(g_known.mark, pages, kMaxFaults);
  if (faults < 0) return false;
  auto count = static_cast<uint32_t>(faults);
  for (uint32_t i = 0; i < g_retained.count; i++) pages[count++] = g_retained.page[i];
  uint32_t sorted = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t page = pages[i];
    uint32_t at = sorted;
    while (at > 0 && pages[at - 1] > page) at--;
    if ((at > 0 && pages[at - 1] == page) || !page::backing_bytes_at(page)) continue;
    for (uint32_t k = sorted++; k > at; k--) pages[k] = pages[k - 1];
    pages[at] = page;
  }
  for (uint32_t i = 0; i < sorted; i++) add_dirty(task, pages[i]);
  return true;
}

uint64_t twin_of(const HandOver& given, uint64_t page) {
  for (uint64_t i = 0; i < given.count; i++) {
    if (given.page[i] == page) return reinterpret_cast<uint64_t>(given.bytes[i]);
  }
  if (const int i = retained_index(page); i >= 0) return reinterpret_cast<uint64_t>(g_twins[i]);
  return page::shared_view_of(page);
}

// A copy of a page that may not be read any more: it was published when the program closed it, and
// is of no use.
bool is_closed(uint64_t page) {
  if (!page::has_protection(page, kPageSize)) return false;
  uint64_t word;
  return sys::read_safely(&word, page, sizeof word) < 0;
}

[[maybe_unused]] bool are_copies(const Task& task) {
  const page::PageDiff* diffs = diffs_of(task);
  for (uint64_t i = 0; i < task.copies.dirty_count; i++) {
    if (diffs[i].bytes && !is_copy(diffs[i].page)) return false;
  }
  return true;
}

}  // namespace

bool has_only_residents(Task& task) {
  for_each_copy(task, add_dirty);
  const uint64_t count = task.copies.dirty_count;
  task.copies.dirty_count = 0;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t page = diffs_of(task)[i].page;
    if (retained_index(page) < 0 && !is_closed(page)) return false;
  }
  return true;
}

void find_writes(Task& task) {
  PhaseScope phase(task, Phase::kScanning);
  page::executed::close_own();
  task.copies.dirty_count = task.copies.changed_count = 0;
  const bool known = add_known(task);
  if (known) {
    task.spent.counters.scans_saved++;
  } else {
    for_each_copy(task, add_dirty);
  }
  const HandOver& given = hand_over_of(task);
  page::PageDiff* diffs = diffs_of(task);
  task.spent.counters.prefetched += g_retained.count;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < task.copies.dirty_count; i++) {
    const uint64_t page = diffs[i].page;
    if (is_closed(page)) {
      if (const int known_as = retained_index(page); known_as >= 0)
        remove_retained(static_cast<uint32_t>(known_as));
      drop(page, kPageSize);
      continue;
    }
    page::PageDiff& diff = diffs[kept];
    diff.bytes = page::make_diff(reinterpret_cast<const void*>(page),
                                 reinterpret_cast<const void*>(twin_of(given, page)), &diff);
    const bool is_retained = retained_index(page) >= 0;
    if (!diff.bytes && known && !is_retained && !is_copy(page)) continue;  // it was only read
    diff.page = page;
    kept++;
    task.spent.counters.faults += !is_retained;
    if (!diff.bytes) continue;
    task.copies.changed_count++;
    task.spent.counters.diffs++;
    task.spent.counters.predicted += is_retained;
    task.spent.counters.bytes += diff.bytes;
  }
  task.copies.dirty_count = kept;
}

void publish(Task& task) {
  WEIR_DEBUG_CHECK(shared().order.turn == task.id);  // invariant 1 of event.cc
  WEIR_DEBUG_CHECK(are_copies(task));                // invariant 1 of isolated.cc
  PhaseScope phase(task, Phase::kPublishing);
  count_transaction(task);
  page::PageDiff* diffs = diffs_of(task);
  const uint64_t count = task.copies.dirty_count;
  for (uint64_t i = 0; i < count; i++) {
    if (!diffs[i].bytes) continue;
    page::apply_diff(diffs[i], reinterpret_cast<const void*>(diffs[i].page),
                     reinterpret_cast<void*>(page::shared_view_of(diffs[i].page)));
    page::executed::note_change({diffs[i].page, diffs[i].page + kPageSize});
  }
  page::twice::publish_written();
  const bool is_short = count <= RetainedCopies::kMax;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t start = diffs[i].page;
    if (const int known = retained_index(start); known >= 0) {
      uint8_t& idle = g_retained.idle[known];
      idle = diffs[i].bytes ? 0 : static_cast<uint8_t>(idle + 1);
      if (idle <= RetainedCopies::kMaxIdle) continue;
      remove_retained(static_cast<uint32_t>(known));
    } else if (is_short && add_retained(start)) {
      continue;
    }
    uint64_t limit = start + kPageSize;
    for (; i + 1 < count && diffs[i + 1].page == limit && !is_short && retained_index(limit) < 0;
         i++)
      limit += kPageSize;
    drop(start, limit - start);
  }
  task.copies.dirty_count = 0;
  hand_over_of(task).count = 0;
  WEIR_DEBUG_CHECK(has_only_residents(task));  // invariant 2 of isolated.cc
  refresh();
  g_known.valid = true;
  g_known.mark = sys::mark_faults();
}

void refresh() {
  WEIR_DEBUG_CHECK(self().copies.dirty_count == 0);
  page::executed::catch_up();
  RetainedCopies& r = g_retained;
  if (!r.count) return;
  const uint64_t sequence = __atomic_load_n(&shared().mapping_log.sequence, __ATOMIC_ACQUIRE);
  if (r.mapping_sequence != sequence) {  // a page may have gone, or be closed
    drop_retained_copies();
    r.mapping_sequence = sequence;
    return;
  }
  PhaseScope phase(self(), Phase::kPublishing);
  self().spent.counters.refreshed += r.count;
  for (uint32_t i = 0; i < r.count; i++) refresh_one(i);
}

void refresh_page(uint64_t address) {
  if (const int i = retained_index(page_down(address)); i >= 0)
    refresh_one(static_cast<uint32_t>(i));
}

void drop_retained_copies() {
  for (uint32_t i = 0; i < g_retained.count; i++) drop(g_retained.page[i], kPageSize);
  g_retained.count = 0;
}

void forget_copies() {
  g_known.valid = false;
  g_retained.count = 0;
}

// Of copies that are equal to the backing nobody needs one: it is not changed while the task has
// what it is given here.
bool hand_over(Task& from, const Task& to) {
  if (page::twice::has_written()) return false;
  HandOver& given = hand_over_of(to);
  page::executed::close_own();
  from.copies.dirty_count = 0;
  if (!add_known(from)) for_each_copy(from, add_dirty);
  const uint64_t count = from.copies.dirty_count;
  from.copies.dirty_count = 0;
  given.count = 0;
  page::PageDiff* diffs = diffs_of(from);
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t page = diffs[i].page;
    if (is_closed(page)) return given.count = 0, false;
    const auto* bytes = reinterpret_cast<const void*>(page);
    if (!page::make_diff(bytes, reinterpret_cast<const void*>(page::shared_view_of(page)),
                         &diffs[i]))
      continue;
    if (given.count == HandOver::kMax) return given.count = 0, false;
    given.page[given.count] = page;
    copy_bytes(given.bytes[given.count++], bytes, kPageSize);
  }
  from.spent.counters.handed_over += given.count;
  return true;
}

void take_back(const Task& to) { hand_over_of(to).count = 0; }

void take_over(const Task& task) {
  const HandOver& given = hand_over_of(task);
  for (uint64_t i = 0; i < given.count; i++)
    copy_bytes(reinterpret_cast<void*>(given.page[i]), given.bytes[i], kPageSize);
}

bool is_unpublished(uint64_t page) {
  if (!is_copy(page)) return false;
  if (__builtin_memcmp(reinterpret_cast<const void*>(page),
                       reinterpret_cast<const void*>(page::shared_view_of(page)), kPageSize) != 0)
    return true;
  if (const int i = retained_index(page); i >= 0) remove_retained(static_cast<uint32_t>(i));
  drop(page, kPageSize);
  return false;
}

void drop_unwritten(uint64_t start, uint64_t size) {
  for_each_unwritten(start, size, [](uint64_t at, uint64_t length) {
    if (page::backing_bytes_at(at)) drop(at, length);
  });
}

void drop(uint64_t start, uint64_t size) {
  sys::raw(SYS_madvise, static_cast<long>(start), static_cast<long>(size), MADV_DONTNEED);
}

}  // namespace weir::view::isolated
