// A task's copies become diffs, and the diffs the store.
//
// Invariants
// 1. Between two publications of this process, diff buffer entries [0, dirty_count) name pages whose private copy holds
//    bytes that the store does not, and no other page does.
// 2. After publish() this process has no private copy at all, so it reads the store.
//    A write to a hole that remembers a mark faults twice: the copy is made marked, then the mark lifts. A signal can come
//    in between; then there is a copy that nothing reports. trap/ drops it before anybody publishes (drop_unwritten), or the
//    write would go to a copy that lacks what others published meanwhile, and its diff would take that back.
// 3. The runtime stack, this buffer and the tables are no store memory: nothing here writes to what it scans.

#include "view/isolated.h"

#include <sys/mman.h>

#include "base/bytes.h"
#include "page/diff.h"
#include "page/store.h"
#include "sys/fault_log.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "tape/interval_tape.h"
#include "task/shared.h"
#include "view/isolated_scan.h"

namespace weir::view {

namespace {

// Pages that a task got from its creator, as long as it has published nothing. While it has them they are its twins, not the store's.
struct HandOver {
  static constexpr uint64_t kMost = 63;
  uint64_t count;
  uint64_t page[kMost];
  alignas(kPageSize) uint8_t bytes[kMost][kPageSize];
};

// The hand-over lies at the end of the task's diff buffer.
constexpr uint64_t kMostDiffs = (kDiffSize - sizeof(HandOver)) / sizeof(page::PageDiff);

page::PageDiff* diffs_of(const Task& task) { return reinterpret_cast<page::PageDiff*>(kDiffs + task.id * kDiffSize); }
HandOver& hand_over_of(const Task& task) { return *reinterpret_cast<HandOver*>(kDiffs + (task.id + 1) * kDiffSize - sizeof(HandOver)); }

void add_dirty(Task& task, uint64_t page) {
  if (task.dirty_count == kMostDiffs) {
    report("task %u wrote more than %u MB between two events", uint64_t{task.id}, kMostDiffs * kPageSize >> 20);
    die(125);
  }
  diffs_of(task)[task.dirty_count++].page = page;
}

// Per process: what is known about its copies. They are the prefetched pages and those that have faulted since: a copy is
// made by a fault, whoever writes.
struct Known {
  bool valid = false;
  sys::FaultMark mark;
  uint64_t interval;  // its key
  uint32_t count;
  uint64_t page[tape::Interval::kMost];
  uint8_t sure[tape::Interval::kMost];
};
Known g_known;
tape::IntervalTape g_tape;

// Adds the prefetched pages and those of the store that have faulted. False: they are not all known.
bool add_known(Task& task) {
  constexpr uint32_t kMostFaults = 64;
  uint64_t pages[kMostFaults + tape::Interval::kMost];
  if (!g_known.valid) return false;
  const long faults = sys::faults_since(g_known.mark, pages, kMostFaults);
  if (faults < 0) return false;
  auto count = static_cast<uint32_t>(faults);
  for (uint32_t i = 0; i < g_known.count; i++) pages[count++] = g_known.page[i];
  uint32_t sorted = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t page = pages[i];
    uint32_t at = sorted;
    while (at > 0 && pages[at - 1] > page) at--;
    if ((at > 0 && pages[at - 1] == page) || !page::store_extent(page)) continue;
    for (uint32_t k = sorted++; k > at; k--) pages[k] = pages[k - 1];
    pages[at] = page;
  }
  for (uint32_t i = 0; i < sorted; i++) add_dirty(task, pages[i]);
  return true;
}

// 0 it was not prefetched, 1 it was, 2 and it is sure to be written.
unsigned prefetched(uint64_t page) {
  for (uint32_t i = 0; i < g_known.count; i++) {
    if (g_known.page[i] == page) return 1u + g_known.sure[i];
  }
  return 0;
}

uint64_t twin_of(const HandOver& given, uint64_t page) {
  for (uint64_t i = 0; i < given.count; i++) {
    if (given.page[i] == page) return reinterpret_cast<uint64_t>(given.bytes[i]);
  }
  return page::alias_of(page);
}

}  // namespace

void find_writes(Task& task) {
  task.dirty_count = task.changed_count = 0;
  const bool known = add_known(task);
  if (known) {
    task.counters.scans_saved++;
  } else {
    for_each_copy(task, add_dirty);
  }
  const HandOver& given = hand_over_of(task);
  page::PageDiff* diffs = diffs_of(task);
  const bool records = g_known.interval != 0;
  if (records) g_tape.begin(g_known.interval);
  constexpr uint64_t kDoubt = 32;  // so often even a sure page is left out of the next prefetch
  const bool doubts = task.counters.events % kDoubt == 0;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < task.dirty_count; i++) {
    const uint64_t page = diffs[i].page;
    page::PageDiff& diff = diffs[kept];
    const uint32_t bytes =
        page::make_diff(reinterpret_cast<const void*>(page), reinterpret_cast<const void*>(twin_of(given, page)), &diff);
    const unsigned foretold = prefetched(page);
    if (!bytes && known && !foretold && !is_copy(page)) continue;  // it was only read
    diff.page = page;
    kept++;
    if (bytes) {
      task.changed_count++;
      task.counters.diffs++;
      task.counters.bytes += bytes;
    }
    // A page that is written with what it had faults like any other, and is worth its prefetch.
    if (records && (bytes || foretold == 0 || (foretold == 2 && !doubts))) g_tape.add(page, !bytes || foretold == 2);
  }
  task.dirty_count = kept;
  task.counters.faults += kept;
  g_known.interval = 0;
}

void prefetch(Task& task, uint64_t key) {
  const tape::Interval* interval = g_tape.find(key);
  uint64_t page;
  // The runtime may have written for the program since the last publication: such copies must stay known.
  if (interval && interval->count && g_known.valid && sys::faults_since(g_known.mark, &page, 0) == 0) {
    for (uint32_t i = 0; i < interval->count;) {
      const uint64_t start = interval->page[i];
      uint64_t limit = start;
      for (; i < interval->count && interval->page[i] == limit; i++) {
        g_known.sure[g_known.count] = interval->sure[i];
        g_known.page[g_known.count++] = limit;
        limit += kPageSize;
      }
      if (sys::raw(SYS_madvise, static_cast<long>(start), static_cast<long>(limit - start), MADV_POPULATE_WRITE) != 0) {
        g_known.valid = false;  // it may not be written any more
        break;
      }
    }
    task.counters.prefetched += g_known.count;
    if (g_known.count) g_known.mark = sys::mark_faults();
  }
  g_known.interval = key;
}

void publish(Task& task) {
  page::PageDiff* diffs = diffs_of(task);
  const uint64_t count = task.dirty_count;
  for (uint64_t i = 0; i < count; i++) {
    page::apply_diff(diffs[i], reinterpret_cast<const void*>(diffs[i].page),
                     reinterpret_cast<void*>(page::alias_of(diffs[i].page)));
  }
  for (uint64_t i = 0; i < count;) {
    uint64_t start = diffs[i].page;
    uint64_t limit = start + kPageSize;
    for (i++; i < count && diffs[i].page == limit; i++) limit += kPageSize;
    drop(start, limit - start);
  }
  task.dirty_count = 0;
  hand_over_of(task).count = 0;
  g_known.valid = true;
  g_known.mark = sys::mark_faults();
  g_known.count = 0;
}

void forget_copies() { g_known.valid = false; }

bool hand_over(Task& from, const Task& to) {
  HandOver& given = hand_over_of(to);
  from.dirty_count = 0;
  for_each_copy(from, add_dirty);
  const uint64_t count = from.dirty_count;
  from.dirty_count = 0;
  from.counters.faults -= count;  // they are still to be published
  if (count > HandOver::kMost) return false;
  for (uint64_t i = 0; i < count; i++) {
    given.page[i] = diffs_of(from)[i].page;
    copy_bytes(given.bytes[i], reinterpret_cast<const void*>(given.page[i]), kPageSize);
  }
  given.count = count;
  return true;
}

void take_back(const Task& to) { hand_over_of(to).count = 0; }

void take_over(const Task& task) {
  const HandOver& given = hand_over_of(task);
  for (uint64_t i = 0; i < given.count; i++) copy_bytes(reinterpret_cast<void*>(given.page[i]), given.bytes[i], kPageSize);
}

void drop_unwritten(uint64_t start, uint64_t size) {
  for_each_unwritten(start, size, [](uint64_t at, uint64_t length) {
    if (page::store_extent(at)) drop(at, length);
  });
}

void drop(uint64_t start, uint64_t size) {
  sys::raw(SYS_madvise, static_cast<long>(start), static_cast<long>(size), MADV_DONTNEED);
}

}  // namespace weir::view
