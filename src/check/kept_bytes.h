// What a task may have told others by a page that it had to itself, as far as bytes show it.
//
// Who has a page untrapped may store there what nobody sees. So whoever reads in the page later
// counts as knowing all that this task knew, and that hides races: it may have read a neighbour
// that nobody has stored for long. When a page with a shadow becomes one task's own its bytes are
// kept. A later reader of bytes that are still the same, and that no other task has ever been seen
// to store, learns nothing of what was stored since. An atomic instruction always learns.
// Implemented in kept_bytes.cc and shadow.cc.
//
// Invariants
// 1. As long as bytes are kept nobody but owners has stored to the page untrapped: hold() forgets
//    them where others do. (not checkable: untrapped stores nobody sees)
// 2. A byte that differs when the owners have dropped the page stays in `changed`. (not checkable:
//    what it was before is not kept)
#pragma once

#include "check/core/state.h"

namespace weir::view::checked {

struct KeptBytes {  // beside the cells of the page's shadow
  Epoch before;     // what was stored untrapped before they were kept is known to who knows this
  uint32_t may_change;               // an owner may be storing
  uint64_t changed[kPageSize / 64];  // a bit for each byte
  uint8_t bytes[kPageSize];
};
KeptBytes& kept_bytes_of(uint32_t shadow);  // shadow.cc

// The page has become the task's own, and has no other holders: its bytes are kept, if there is
// room. Each of these REQUIRES: the page's lock.
void keep_bytes(uint64_t at, Page& page);
// Others than owners may store there untrapped.
void forget_bytes(Page& page);
// Before an access that is checked: what owners have stored is noted, once they have dropped it.
void note_changed(uint64_t at, Page& page);
// An access of that kind may tell the task what others did who touched the page untrapped. It is
// about to be made, or has been made.
void acquire_by_read(const Access& access, Page& page, ThreadState& thread);

// Whether another task is known to have stored one of these bytes, from `offset` in the page
// (shadow.cc).
bool was_stored_by_others(uint32_t shadow, uint64_t offset, uint64_t size,
                          const ThreadState& thread);

}  // namespace weir::view::checked
