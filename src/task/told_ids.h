// Ids of processes that the kernel tells in memory or as an answer, and what becomes of them: those
// of tasks' processes (told_ids.cc), and the constant ones of --virtual pid
// (syscall/inputs/ids.cc).
#pragma once

namespace weir::tasks {

// The program's pid if `real` is the process of one of its tasks, else `real`.
int shown_process(int real);
// The same for an id that the kernel told when this was recorded, too.
int told(int real);

// The id that the program sees for one that the kernel has told.
using ShownId = int (*)(int real);
// The id at an address of the program becomes the one that is shown. 0: there is none.
void show_id_at(long address, ShownId shown);
// What getsockopt, recvmsg, shmctl and msgctl have told in memory. The arguments are the program's.
// REQUIRES: the call has succeeded.
void show_ids_in_memory(long number, long b, long c, long d, ShownId shown);

// Calls by which the kernel may tell the id of a task's process; what it has told becomes the
// program's. The arguments are the program's. Returns the call's result.
bool tells_ids(long number);
long tell_ids(long number, long a, long b, long c, long d, long result);

}  // namespace weir::tasks
