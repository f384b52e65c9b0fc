// Memory of the backing that is mapped page by page. A task that touches a page which its process
// has not mapped, or not for such an access, gets a signal (is_fault), and maps the page. The
// coherent and checked Views are built on this.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

namespace weir::page::demand {

// Per process, once it runs tasks: nothing of the backing is mapped. False with a report for the
// View `view` where that cannot be done.
bool open(const char* view);
void close();
bool is_open();
// Memory that this process has mapped since.
void track(uint64_t start, uint64_t size);
// The address is memory of the backing, and this process tracks it.
bool is_ours(uint64_t address);
// Whether the kernel sends this signal for a page that is not mapped here: SIGBUS by userfaultfd;
// SIGSEGV for windows, and for all pages without userfaultfd.
bool is_fault(int signal, const siginfo_t& info, const ucontext_t& context);

[[noreturn]] void fail(const char* what, uint64_t address, long error);
// Maps pages for reading or writing. `fills`: pages that the backing lacks are made; else they are
// passed over.
void map(uint64_t start, uint64_t size, bool to_write, bool fills = true);
// map() passes over the pages for which this returns true: every access to them must fault,
// whichever task has a right to them. Null: there are none.
extern bool (*g_stays_closed)(uint64_t page);
// map(), also for pages that g_stays_closed names.
void map_closed(uint64_t start, uint64_t size, bool to_write, bool fills = true);
// Makes these pages exist in the backing from now on.
void fill_backing(uint64_t start, uint64_t size);
void drop(uint64_t start, uint64_t size);
// Pages that are emptied in the backing (page::zero_pages) stay mapped in the processes that have
// them. With userfaultfd they are mapped nowhere.
bool keeps_emptied();
// Write-protects what is mapped, or takes that back.
void protect(uint64_t start, uint64_t size, bool on);

// Maps the page for writing, whichever task has a right to it. Ends with return_borrowed().
void borrow(uint64_t address);
// lend() for all memory: a child borrows the task's address space, and may close descriptors.
void borrow_all();
// Nothing is mapped any more.
void return_borrowed();

}  // namespace weir::page::demand
