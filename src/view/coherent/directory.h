// Within View coherent: the table of rights, and what this process has mapped of them.
// Implemented in coherent.cc and lock_prefetch.cc.
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

inline constexpr uint64_t kForWriting = 1;  // lowest bit of a page's address

// If `asks`, asks the tasks that have the page and compute. If no task computes, takes the page
// from those that have it. Returns true if the task has the right.
bool take(Task& task, uint64_t page, bool to_write, bool asks);

// --- tapes (lock_prefetch.cc): the task has been given the page while it holds a lock

void note_use_in_section(const Task& task, uint64_t page, bool writes);

// --- mapping: this process, at any time

using page::demand::drop;
using page::demand::fail;
using page::demand::fill_backing;
using page::demand::map;
using page::demand::protect;

}  // namespace weir::view::coherent
