// View isolated: each task works on its own copy-on-write pages and publishes them at its events
// (Dthreads).
// Implemented in find_copies.cc, copies_by_pagemap.cc and isolated.cc.
//
// No twins are made. While a parallel phase lasts nobody writes to the backing, so the backing's
// page *is* the twin, and the changed bytes are found on arrival, in parallel. In its turn the task
// only applies them and drops its copies.
#pragma once

#include "control/task.h"

namespace weir::view::isolated {

// Per process, once it runs tasks: from now on the written pages of all memory of the backing are
// found (memory/userfault.h). False with a report where the kernel lets nobody look at page tables.
bool open_tracking();
// Gives the descriptors of this process back.
void close_tracking();
// Registers memory that was mapped since.
void track(uint64_t start, uint64_t size);

// Finds what the task wrote since its last publication. REQUIRES: nobody publishes meanwhile, or
// the caller has the turn.
void find_writes(Task& task);
// Makes the retained copies equal to the backing again, because other tasks may have published.
// REQUIRES: this task has published what it wrote, and nobody publishes meanwhile.
void refresh();
// refresh() for the page of `address` only, if nothing else can have changed.
void refresh_page(uint64_t address);
// Drops the retained copies; from now on none is kept. REQUIRES: as refresh().
void drop_retained_copies();
// For checks: every copy that there is now is a resident. REQUIRES: nothing is to be published.
bool has_only_residents(Task& task);
// This process is new: nothing is known about its copies.
void forget_copies();
// Applies what find_writes found and drops the copies. REQUIRES: the turn.
void publish(Task& task);
// Gives `to`, which runs from now on, the contents of all pages that `from` has written and not
// published. `from` must be the first to publish afterwards. Returns false if the pages are too
// many; then nothing was done. `to` itself calls take_over(). REQUIRES: nobody publishes meanwhile.
bool hand_over(Task& from, const Task& to);
void take_back(const Task& to);  // which was not made after all
void take_over(const Task& task);
// Whether the page is a copy that differs from the backing. One that does not is dropped. REQUIRES:
// the page can be read, and nobody publishes meanwhile.
bool is_unpublished(uint64_t page);
// Drops copies in [start, start+size) that were made but not written yet.
void drop_unwritten(uint64_t start, uint64_t size);
// Drops all copies of [start, start+size) without publishing them.
void drop(uint64_t start, uint64_t size);

}  // namespace weir::view::isolated
