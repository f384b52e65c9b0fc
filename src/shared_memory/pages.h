// The pages of shared memory that this process's task has: all others have no protection but
// PROT_NONE. Within record/shared_memory.h.
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "channel/format.h"
#include "control/task.h"

namespace weir::shared_memory {

struct Mapping {
  Range range;
  uint64_t object;  // device and inode
  uint64_t file;    // the same by a descriptor, which some file systems number otherwise; 0: none
  uint64_t offset;  // in it
  int32_t protection;
  int32_t unused;
};

// A page that the task has, at one of its addresses.
struct Held {
  uint64_t page;   // 0: free
  uint32_t entry;  // in the table of holders; replaying, a number that addresses of one page share,
                   // and kNothing where there is no memory
  uint32_t is_nothing;  // recording: there is no memory
};

// Open addressing.
extern Held* g_held;
extern uint32_t g_room, g_used;
extern uint64_t g_borrowed[2];  // pages that stay open until the call is over

Held* find(uint64_t page);
void insert(uint64_t page, uint32_t entry);
// The task has the entry's page at another address as well.
void insert_also(uint64_t page, uint32_t entry);
void erase(uint64_t page);
// Each page that it has; `act` may erase it.
template <typename Act>
void each_held(Act act) {
  for (uint32_t i = 0; i < g_room && g_used;) {
    const Held held = g_held[i];
    if (held.page) act(held);
    if (!held.page || g_held[i].page == held.page) i++;
  }
}

void close_page(uint64_t page);
// Closes what the task has in the range, at their other addresses too.
void close_held(Range range);
// The sum of a page's bytes, which is not 0.
uint64_t sum_of(const uint64_t* words);
// That of a page that the task has, or 0 if there is no memory.
uint64_t sum_at(uint64_t page);
// The task has the page at no other address.
bool is_last(const Held& held);
// The task gets the page, which the mapping has.
void take_page(Task& task, const Mapping& m, uint64_t page);
// The entry that says what becomes of a page.
void log_page(Task& task, channel::PageKind kind, uint64_t address);
// The task has the page no more: it is closed, and that is logged. At all addresses of the entry.
// All that others have taken.
void note_given(Task& task, channel::PageKind where, uint64_t page);
void note_all_given(Task& task, channel::PageKind where, uint32_t entry);
void note_lost(Task& task, channel::PageKind where);

}  // namespace weir::shared_memory
