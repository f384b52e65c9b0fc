// Faults on pages that the task has to be given first.
// Implemented in made_code.cc and page_fault.cc.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "code/sites/site_table.h"
#include "control/task.h"

namespace weir::trap {

// The task has touched memory of the backing to which it has no right yet, or which this process
// has not mapped; or a page that processes share, and that this process does not have.
bool meet_page(Task& task, uint64_t address, ucontext_t& context, bool is_shared_memory);
// View isolated: memory with code of the program's own making is open either for writing or for
// execution. It has been executed while open for writing, or written while open for execution. Does
// not return if its sites cannot be seen.
bool meet_made_code(uint64_t address, ucontext_t& context);
// Any signal has come, perhaps the one after an instruction for which meet_made_code() has opened
// its own page for both: then it has done its work.
bool end_own_write(int signal, const siginfo_t& info, ucontext_t& context);
// The task has touched a page that is closed to the access: code of its own making, or memory that
// processes share.
bool meet_closed(Task& task, uint64_t address, ucontext_t& context);

// The site to which meet_made_site() has led the task.
void read_site(uint64_t address, Site& site);

// At an event: from the first code of the program's own making on, cpuid faults.
void watch_made_code(Task& task);
// SIGSEGV that a privileged instruction raises: cpuid that faults, or a site of such code. Returns
// false if it is neither, or if the program itself has closed the memory on which the site
// operates: then the signal says so, and is the program's.
bool meet_made_site(Task& task, siginfo_t& info, ucontext_t& context);

}  // namespace weir::trap
