// View isolated: files that a program maps shared, to write code in one mapping and execute it in
// another, or in the same. Such memory has no copies: what is written in one mapping is seen in
// all, by all processes, at once. So if one of a file's mappings is executable, all are closed for
// writing until they are written to. Then what is executed of the same bytes is closed, and looked
// at again (memory/code/executed.h).
//
// The table is shared. Guarded by: the turn, if tasks exist. What was written is the process's own.
#pragma once

#include <stdint.h>

#include "base/types.h"
#include "control/control.h"

namespace weir::page::twice {

// A number for the descriptor's file; 0: there is none.
uint64_t file_of(int descriptor);
// The program has mapped the file there, shared, and asked for `protection`.
void note_map(Range range, uint64_t file, uint64_t offset, int protection);
void note_protection(Range range, int protection);
void forget(Range range);
// The program has moved what is mapped at `from` to `to`, or mapped it there once more if `from` is
// empty.
void note_move(Range from, Range to);

// The mapping in which the address lies, if it is shared; else null.
const SharedMapping* find(uint64_t address);
// Whether one of the file's mappings is executable.
bool holds_code(uint64_t file);
// The protection that a mapping has until it is written to or executed.
inline int closed(int protection) { return protection & ~(2 | 4); }  // PROT_WRITE, PROT_EXEC
// There were more mappings than the table holds: what is shared is not known.
bool is_incomplete();

// The program writes to a page of such a file: it is open now. False: it is none, or the program
// may not write there. Signal-safe.
bool open_to_write(uint64_t page);
// The page is about to be executed: the same bytes are closed for writing.
void close_to_write(uint64_t page);
// There is something to be told by publish_written().
bool has_written();
// In the task's turn: what it has written to is closed again, and all processes close what is
// executed of that.
void publish_written();

}  // namespace weir::page::twice
