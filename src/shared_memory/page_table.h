// How a task gets a page of shared memory from the task that has it, by the table of
// channel/shared_page_table.h. Recording only.
#pragma once

#include <stdint.h>

#include "channel/shared_page_table.h"
#include "control/task.h"

namespace weir::shared_table {

// The page's place in the table.
uint32_t entry_of(uint64_t object, uint64_t page);
// Some task of the recording has the page. It may be another's, or nobody's, at once.
bool is_held(uint64_t object, uint64_t page);
// A file whose shared mappings are tracked, in whichever process of the recording.
void note_tracked(uint64_t file);
bool is_tracked(uint64_t file);
// This process has the file mapped for reading only, untracked. Of several the last one is known.
void note_reader(uint64_t file);
bool has_other_reader(uint64_t file);  // another process that still lives
// Returns when the task has the page: true if it had it before. Otherwise `giver` is the stream + 1
// of the task that had it, or 0 if none did. Others may have taken the task's pages meanwhile: call
// has_lost().
bool acquire(Task& task, uint32_t entry, uint32_t& previous_holder);
// What it was when it was given; nobody of the recording has had it since. 0: not known. REQUIRES:
// the task has it.
void set_sum(uint32_t entry, uint64_t sum);
uint64_t take_sum(uint32_t entry);
// Returns whether the task still has the page.
bool has(Task& task, uint32_t entry);
void give(Task& task, uint32_t entry);
// Gives the page to the task that requested it.
void give_to(Task& task, const channel::PageRequest& request);
// Takes the requests so far, at most Holder::kMaxRequests, and returns their number.
uint32_t take_requests(Task& task, channel::PageRequest* requests);
bool is_asked(Task& task);

void begin_sleep(Task& task, channel::HolderState state);
// True: others have taken pages from it, in its sleep, since it said so the last time.
bool was_taken_from(Task& task);
bool end_sleep(Task& task);  // likewise
// All that the task has, or had as another program, is nobody's.
void leave(Task& task);

}  // namespace weir::shared_table
