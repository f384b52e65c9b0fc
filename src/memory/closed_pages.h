// Pages on demand by mprotect: the second way of memory/demand.h, for kernels and containers
// without userfaultfd for shared memory (memory/userfault.h).
//
// Every page of the backing is closed (PROT_NONE) in each process that runs tasks, until map()
// opens it for reading or for writing. A task that touches a closed page gets SIGSEGV. What the
// program itself has asked for (mprotect) is kept beside it: a page never gets more than that.
//
// Each stretch of pages with one protection is a mapping of the kernel's, and a process may have
// 65,530. If it comes near that, all pages are closed again. A page that a task has a right to need
// not be open: its next access opens it.
#pragma once

#include <stdint.h>

namespace weir::page::closed {

// Per process: all pages of the backing are closed, and page::protect() comes here.
void open_tracking();
// All pages are as the program wants them.
void close_tracking();
bool is_open();
// This process has mapped [start, start + size).
void track(uint64_t start, uint64_t size);

// Opens pages, as far as the program lets them be. REQUIRES for all that follows: is_open().
void map(uint64_t start, uint64_t size, bool to_write);
void drop(uint64_t start, uint64_t size);
void open_all();
void close_all();

// The program's own mprotect of memory of the backing. Returns 0 or -errno, as the kernel does.
long protect(uint64_t start, uint64_t size, int protection);
// The kernel has mapped something else than the backing here, in the arena or where a segment was:
// it is closed and opened like the rest, as far as its own protection allows.
void note_mapped(uint64_t start, uint64_t size);
// The kernel is about to move it: it goes with the protection that the program has asked for.
void open_as_asked(uint64_t start, uint64_t size);

// A fault at `address` with the processor's `error` bits came from a page that is closed, and not
// from what the program has asked for.
bool is_fault(uint64_t address, uint64_t error);

}  // namespace weir::page::closed
