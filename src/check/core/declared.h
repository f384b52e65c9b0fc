// The calls of include/weir/weir.h, on their way from the program to the checked View.
// Implemented in check/policy/.
//
// All: in program code, with the caller's signals waiting (sync/sole_section.h's
// SignalsWait) once there are tasks.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir::declared {

struct Caller {  // into whom the call returns
  uint64_t where, stack, frame;
};

// Declared policies are kept, in this process: the program is checked, and it is no forked child's.
bool is_on();
void switch_on();
// --policies=declared: what a task allocates is private to that task, and the program's variables
// are untouched. Set by switch_on().
extern bool g_strict;
bool is_programs(uint64_t where);  // program code of the executable's own

// Returns null if there is no room. `policy`: enum weir_policy. `by_new`: the caller is C++'s new,
// so the C++ library may be what wants the block.
void* allocate(size_t size, uint32_t policy, const Caller& caller, bool by_new = false);
// The C++ library makes a thread, which gets this: what it had from `new` for that is nobody's own
// any more.
void hand_over(uint64_t address, const Caller& caller);
// Returns false if the object is none that allocate() or slice() gave out.
bool release(void* object, const Caller& caller);
bool is_own(const void* address);  // from allocate() or slice(), whenever that was

uint64_t size_of(const void* object);  // as asked for; 0: none of these
// `has_pages`: nothing else lies in its pages.
void declare(uint64_t address, uint64_t size, uint32_t policy, bool has_pages,
             const Caller& caller);
void forget(uint64_t address, const Caller& caller);
// `change`: enum weir_change.
void change(uint64_t address, uint32_t change, uint64_t lock, const Caller& caller);
int policy_of(uint64_t address);  // -1: no object

// Uses of a lock that POSIX leaves undefined.
enum class LockError : uint8_t { kNotHeld, kDestroyed, kLockedAgain, kLockedGone };
enum class Held : uint8_t { kNo, kYes, kUnknown };
// Whether the current task has taken the lock, as far as it is known what it has taken. REQUIRES:
// there are tasks.
Held holds(uint64_t lock);
void report(uint64_t lock, LockError error, const Caller& caller);

// Returns memory for `size` bytes in slices that end at ends[0], ends[1], ..., the last at `size`;
// each is an object. Slice k lies `gap` * k bytes further on than in an array that has no slices.
// Returns null if there is no room.
void* slice(uint64_t size, const size_t* ends, uint64_t count, uint32_t policy, uint64_t* gap,
            const Caller& caller);
void unslice(void* array, uint64_t size, const size_t* ends, uint64_t count, uint64_t gap,
             const Caller& caller);
// `bytes`, which never change again: all may read them.
void* constant(const void* bytes, size_t size, const Caller& caller);

}  // namespace weir::declared
