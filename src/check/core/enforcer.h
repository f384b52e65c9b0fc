// Within the checked View: objects with a declared policy, between the rule book that says what is
// right (policy.h) and the enforcer that opens and closes pages for tasks.
// Implemented in check/policy/.
#pragma once

#include "check/core/objects.h"
#include "check/core/state.h"

namespace weir::view::checked {

enum class Held : uint8_t { kNot, kShared, kExclusive };

inline Trace trace_of(const ThreadState& thread, uint32_t context) {
  return {thread.now.epoch(thread.slot), context, thread.number};
}
Rules::Actor actor_of(const ThreadState& thread, const Declared& object, bool is_alone = false);
Held holds(const Task& task, const ThreadState& thread, uint64_t lock);
// For writing, and known to.
bool holds_surely(const ThreadState& thread, uint64_t lock);

// All REQUIRE: the object's lock is held.

// Slots of tasks may be shared: whether what the object's state says of this task's slot is meant
// for the task.
enum class Meant : uint8_t { kTask, kAnother, kUnknown };
Meant meant_for(const Task& task, const ThreadState& thread, Declared& object);
// The task may not do that: `fault` is a Fault.
void report_fault(Declared& object, const Verdict& verdict, const ThreadState& thread,
                  Access& access, const AccessSite& site, uint32_t change = 0);
void report_misuse(findings::Misuse what, const Declared* object, const ThreadState& thread,
                   Access& access, const AccessSite& site, uint32_t change = 0);

// True if Weir itself makes the access for a function that orders tasks, or the C library does in
// one, to a lock or similar that lies in an object.
bool is_ordering(const Task& task, const ThreadState& thread, const AccessSite& site,
                 const Declared& object);
// Such a touch: whether all may use the object, which then is racy; else it is made, and says
// nothing of the object.
bool takes_as_lock(Declared& object);

// Asks the rule book about a task's touch of an object, and reports it if it is not legal. `held`:
// for a locked object, its lock.
Verdict judge_object(Declared& object, Task& task, ThreadState& thread, const AccessSite& site,
                     Access& access, Held& held);
// An object that has been violated so often since its last change is open to every task.
inline constexpr uint32_t kMaxViolations = 1000;

// Describes memory for an object: its pages have that tag. By protection keys: whether objects that
// are asked for there change hands often.
struct Given {
  Origin origin = Origin::kPages;
  Tag tag{};
  bool moves = false;
};

// An enforcer keeps tasks from objects, by page tables of their own (enforce_by_process.cc) or by
// protection keys (check/keys/enforce_by_key.cc). It does what the rule book says, and knows where
// objects can lie. Before there are tasks, nothing is enforced.
struct Enforcer {
  // Memory for an object that has pages of its own, for who has asked there (findings). 0: there is
  // no room.
  uint64_t (*allocate)(uint64_t size, Policy policy, const Task& task, uint32_t context,
                       Given& given);
  void (*deallocate)(uint64_t start, uint64_t size, Origin origin, Tag tag);
  // Addresses for `size` bytes in `count` slices, each in pages of its own where `gap` is not 0:
  // they are `gap` bytes further apart than without. 0: no room. `show` prepares the pages of slice
  // `number`, bytes [from, to) of them.
  uint64_t (*allocate_slices)(uint64_t size, uint64_t count, uint64_t& gap);
  void (*show)(uint64_t start, uint64_t number, uint64_t from, uint64_t to);
  void (*deallocate_slices)(uint64_t start, uint64_t size, uint64_t count, uint64_t gap);
  bool (*is_memory)(uint64_t address);

  // With the object's lock. Its pages follow its policy, for this task; other tasks that may still
  // have them give them up if `from_others`.
  void (*enforce)(Declared& object, uint32_t index, const Task& task, ThreadState& thread,
                  bool from_others);
  void (*give_up)(Declared& object, uint32_t index, ThreadState& thread, bool from_others);
  // Not with its lock: its pages become such as are enforced, or what they would be without it.
  // `unmark` comes before its memory goes back.
  void (*mark)(uint32_t index, ThreadState& thread);
  void (*unmark)(uint64_t start, uint64_t size, uint32_t index, ThreadState& thread);
};

const Enforcer& enforcer();

// --- undeclared.cc

// A variable with pages of its own becomes an untouched object, whose pages are to be marked where
// there are tasks. 0: another one lies there.
uint32_t add_global(const Range& variable);

}  // namespace weir::view::checked
