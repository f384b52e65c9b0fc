// Store memory that is mapped page by page: whoever touches a page that this process has not
// mapped, or not for that, gets SIGBUS, and maps it here. What coherent and guarded Views are made
// of.
#pragma once

#include <stdint.h>

namespace weir::page::demand {

// Per process, once it runs tasks: nothing of the store is mapped. False with a report for the View
// `view` where the kernel has no userfaultfd for shared memory.
bool open(const char* view);
void close();
bool is_open();
// Memory that this process has mapped since.
void track(uint64_t start, uint64_t size);
// The address is store memory, and this process tracks it.
bool is_ours(uint64_t address);

[[noreturn]] void fail(const char* what, uint64_t address, long error);
// Maps pages for reading or writing. `fills`: pages that the store lacks are made; else they are
// passed over.
void map(uint64_t start, uint64_t size, bool to_write, bool fills = true);
// Pages for which it answers true map() passes over: every access to them is to fault, whoever has
// a right to them. Null: there are none.
extern bool (*g_stays_closed)(uint64_t page);
// map(), for such pages too.
void map_closed(uint64_t start, uint64_t size, bool to_write, bool fills = true);
// The store has these pages from now on.
void fill_store(uint64_t start, uint64_t size);
void drop(uint64_t start, uint64_t size);
// Write-protects what is mapped, or takes that back.
void protect(uint64_t start, uint64_t size, bool on);

// The page is mapped for writing, whoever has a right to it. Ends with take_home().
void lend(uint64_t address);
// The same for all memory: a child borrows the task's address space, and may close descriptors.
void lend_all();
// Nothing is mapped any more.
void take_home();

}  // namespace weir::page::demand
