// The table of record/channel/shared_page_table.h: getting a page from whoever has it. Recording
// only.
#pragma once

#include <stdint.h>

#include "control/task.h"
#include "record/channel/shared_page_table.h"

namespace weir::owners {

// The page's place in the table.
uint32_t place_of(uint64_t object, uint64_t page);
// Returns when the task has the page. True: it had it before; else `giver`: the stream + 1 of who
// had it, 0 nobody. Meanwhile others may have taken what it has: call has_lost().
bool acquire(Task& task, uint32_t place, uint32_t& giver);
// What it was when it was given; nobody of the recording has had it since. 0: not known. REQUIRES:
// the task has it.
void set_sum(uint32_t place, uint64_t sum);
uint64_t take_sum(uint32_t place);
// Answers whether the task has it still.
bool has(Task& task, uint32_t place);
void give(Task& task, uint32_t place);
// To who has asked for it.
void give_to(Task& task, const trace::PageRequest& request);
// The requests so far, at most Holder::kMostRequests; their number.
uint32_t take_requests(Task& task, trace::PageRequest* requests);
bool is_asked(Task& task);

void begin_sleep(Task& task, trace::HolderState state);
// True: it has lost pages since it said so the last time.
bool end_sleep(Task& task);
// All that the task has, or had as another program, is nobody's.
void leave(Task& task);

}  // namespace weir::owners
