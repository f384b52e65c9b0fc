// Protection keys of a checked program's tasks, for the code that changes their registers: signals,
// entries to and exits from the runtime, fork.
// Implemented in check/keys/.
//
// Threads stay threads. An object's pages carry the key of the tasks that may touch it, and each
// task's register says which keys that task has (PUSh, sections 3.2 to 3.5). enforce_by_key.cc has
// the invariants, and says what can go wrong.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "check/core/check.h"

namespace weir::view::checked::keys {

extern bool g_taken;  // the keys are Weir's; in a forked child, too, where all are open for ever
extern bool g_on;     // per process: it runs tasks whose registers follow what they hold

// Takes all keys that the kernel has left, before the program asks for one. Reports and returns
// false if there are not enough.
bool take_keys();
// The first task is there. It has all keys until it goes on with program code.
void start(Task& task);

// Returns what the task's register must be in program code.
uint32_t rights_of(const Task& task);
// The runtime, or the kernel for the task, is about to touch program memory: opens all keys, until
// close().
void open(Task& task);
bool is_open(const Task& task);
// The task leaves the runtime for program code. Waits while a rehash is under way.
void close(Task& task);
// The locks that it holds have changed.
void update(Task& task);

enum class Judged : uint8_t {
  kGoesOn,   // the task may do that by its keys
  kOnce,     // not by its keys: it is done once, with all of them
  kNobodys,  // nothing is declared there
};
// Asks the rule book about a touch by program code, the kernel, or a library.
Judged judge(Task& task, const AccessSite& site, const Access& access);
// An instruction, or the runtime, is about to write to memory that is closed to writing for all
// tasks (read-shared). Opens it until take_back(). Returns false if that was not the cause.
bool borrow(Task& task, uint64_t start, uint64_t size);
void take_back(Task& task);

// Sets another hash function, and gives objects their new keys while the tasks stand. Not called by
// a task (check/keys/rehasher.cc).
void rehash();
// In a signal's handler, in program code (`in_program`) or in the runtime: whether another thread
// waits for the task to stand; then it does until the rehash is over, or on its way out.
void stand_if_asked(Task& task, bool in_program);

// A handler begins on the signal's stack, and the kernel has closed all keys but one: they are
// opened; in a forked child for the program's handler, too.
void open_in_handler();
// A child has been forked, in which nothing is checked: all pages are open. The parent holds what
// the child would find changed: around the fork, both sides.
void hold_still();
void go_on();
void open_in_child();

}  // namespace weir::view::checked::keys

namespace weir::trap {

// A handler of Weir's has begun, and all keys are open. Returns true if the signal was about keys.
// SIGSEGV by a page's key or protection: an object with a
// declared policy, or memory beside one. SIGTRAP: the end of the step that such a fault has led to.
// The probe's signal: the hash function is being changed.
bool on_key_signal(Task& task, int signal, const siginfo_t& info, ucontext_t& context);

}  // namespace weir::trap
