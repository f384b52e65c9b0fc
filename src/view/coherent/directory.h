// Within View coherent: the table of rights, and what this process has mapped of them.
// Implemented in coherent.cc, holding.cc and lock_prefetch.cc.
//
// The table has a word for each page of the backing, in control memory; what is mapped is in each
// process's page table. No right without an entry in the table, nothing mapped without a right; a
// right need not be mapped.
#pragma once

#include "base/coherent_features.h"
#include "control/control.h"
#include "memory/backing.h"
#include "memory/demand.h"
#include "view/coherent/coherent.h"

namespace weir::view::coherent {

// --- rights (coherent.cc): in turns only

// The table's word: the writing task + 1 in the lowest bits, and a bit for each of the first
// kReaders tasks that reads. Other tasks are given a page that they read as if they wrote it.
inline constexpr uint64_t kWriterMask = 0x7ff;
inline constexpr uint64_t kMigrates = 0x800;  // a task that reads it writes it next
inline constexpr uint64_t kSeen = 0x1000;     // while a list is made shorter
// A task waits to write the page. A task that comes to read it waits too, because otherwise the
// writer might wait for ever. A task that has waited already does not, because otherwise a reader
// might.
inline constexpr uint64_t kWanted = 0x2000;
inline constexpr uint64_t kMove = 0x4000,
                          kMoves = 0xc000;  // how often it was taken from a task for another that
                                            // had come to it: up to three times
inline constexpr uint32_t kReaderShift = 16, kReaders = 48;

inline uint64_t& entry_at(uint64_t index) {
  return reinterpret_cast<uint64_t*>(kPageDirectory)[index];
}
inline uint64_t index_of(uint64_t page) {
  return (page::shared_view_of(page) - kSharedView) / kPageSize;
}
inline uint64_t reader_bit(const Task& task) {
  return task.id < kReaders && uses(Optimization::kReaders)
             ? uint64_t{1} << (kReaderShift + task.id)
             : 0;
}
inline uint32_t writer_of(uint64_t entry) { return static_cast<uint32_t>(entry & kWriterMask); }
inline uint64_t readers_of(uint64_t entry) { return entry >> kReaderShift; }
inline bool writes_it(uint64_t entry, const Task& task) { return writer_of(entry) == task.id + 1; }
inline bool has_right(uint64_t entry, const Task& task, bool to_write) {
  return writes_it(entry, task) || (!to_write && (entry & reader_bit(task)));
}

// --- what each task has to do (coherent.cc)

// What a task has to do about its pages. In the part of the diff buffers that is its own: this View
// has no diffs.
inline constexpr uint64_t kDrop = 1;  // lowest bit of a page's address
struct Holder {
  static constexpr uint64_t kMaxRequests = 4096, kMaxHot = 8192, kMaxInvalidations = 30 << 20,
                            kMaxHeld = 60 << 20;
  uint64_t request_count;
  uint64_t invalidation_count;
  uint64_t held_count, compact_at;
  uint64_t next;    // where the last stretch of pages that it took ended
  uint64_t window;  // and how long it was
  uint64_t hot_count;
  uint64_t hot[kMaxHot];            // pages for which tasks compete that it was given
  uint64_t requests[kMaxRequests];  // pages that others wait for
  uint64_t pending_invalidations[kMaxInvalidations];  // pages that others took: to be unmapped
                                                      // (kDrop) or write-protected
  uint64_t held[kMaxHeld];  // pages that it has been given; some it has lost since
};
static_assert(sizeof(Holder) <= kDiffSize);
inline Holder& holder_of(const Task& task) {
  return *reinterpret_cast<Holder*>(kDiffs + task.id * kDiffSize);
}

inline constexpr uint64_t kForWriting = 1;  // lowest bit of a page's address

// What a task waits for that waits for the page.
inline uint64_t key_of(uint64_t page) { return page | uint64_t{1} << 63; }

// `task` is to give the page up at its next event.
void ask(Task& task, uint64_t page, bool to_write);
// If `asks`, asks the tasks that have the page and compute. If no task computes, takes the page
// from those that have it. Returns true if the task has the right.
bool take(Task& task, uint64_t page, bool to_write, bool asks);

// Takes the task's right to the page away. Returns false if it had none.
bool end_right(const Task& task, uint64_t page);
// Does so for all of `pages`, and unmaps what the task had, neighbours at once. By the task itself.
void give_up(const Task& task, const uint64_t* pages, uint64_t count);

// --- how long a task keeps what others want (holding.cc)

// The task has been given the page. Returns true if tasks take it from each other again and again.
bool note_given(const Task& task, uint64_t page);
bool is_hot(uint64_t index);
// The task has been given a page at a fault.
struct Given {
  bool has_waited;    // for the page
  bool was_anothers;  // another task had it
  bool is_hot;
};
void note_fault(Task& task, const Given& given);
// It has been given so many hot pages without one.
void hold_on(Task& task, uint64_t hot_pages);

// --- tapes (lock_prefetch.cc): the task has been given the page while it holds a lock

void note_use_in_section(const Task& task, uint64_t page, bool writes);

// --- mapping: this process, at any time

using page::demand::drop;
using page::demand::fail;
using page::demand::map;
using page::demand::protect;

}  // namespace weir::view::coherent
