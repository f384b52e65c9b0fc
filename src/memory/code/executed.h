// View isolated: pages of code that the program has made itself, and that this process has opened
// for execution. Such a page is not writable. Its sites have each one byte changed
// (memory/code/made_byte.h), in a copy of this process's own; the backing has the program's bytes.
// Private to the process, inherited by fork as a copy.
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "control/executed_pages.h"

namespace weir::page::executed {

// Whose bytes a page has that is opened.
enum class Bytes : uint8_t {
  kBackings,  // the backing's: when it is closed, the copy is dropped
  kOwn,       // the task's, which it has yet to publish
  kNoOne,     // none of the backing: the process's own memory
  kShared,    // memory that processes share: a copy lies in its place (memory/code/mapped_twice.h)
};

// Changes the bytes at `positions` of the page and opens it for execution, with `protection`. False
// if the kernel refuses.
[[nodiscard]] bool open(uint64_t page, const uint16_t* positions, uint32_t count, Bytes bytes,
                        int protection);
// Whether the page is a copy because of its changed bytes alone: nothing in it is the task's.
bool is_changed_copy(uint64_t page);
// Of the page's bytes, as `bytes` has them from `offset` in the page on, the program's.
void restore(uint64_t page, uint32_t offset, uint8_t* bytes, uint32_t size);

// close() for pages with what the task has yet to publish. Called before that is looked for.
void close_own();
// Closes what others, or the runtime, have changed since. Called before program code goes on.
void catch_up();

}  // namespace weir::page::executed
