// Within View guarded: the enforcer of declared policies where each task is a process. The rule book says what is right (guarded_policy.h); here a task's
// process gets pages and gives them up.
#pragma once

#include "view/guarded_objects.h"
#include "view/guarded_state.h"

namespace weir::view::guarded {

enum class Held : uint8_t { kNot, kShared, kExclusive };

inline Trace trace_of(const Watcher& watcher, uint32_t context) { return {watcher.now.epoch(watcher.slot), context, watcher.number}; }
Rules::Actor actor_of(const Watcher& watcher, const Declared& object, bool is_alone = false);
Held holds(const Task& task, const Watcher& watcher, uint64_t lock);

// All REQUIRE: the object's lock is held.

// Slots of tasks may be shared: whether what the object's state says of this task's slot is meant for the task.
enum class Meant : uint8_t { kTask, kAnother, kUnknown };
Meant meant_for(const Task& task, const Watcher& watcher, Declared& object);
// The task may not do that: `fault` is a Fault.
void report_fault(Declared& object, const Verdict& verdict, const Watcher& watcher, Touch& touch, const Spot& spot, uint32_t change = 0);
void report_misuse(findings::Misuse what, const Declared* object, const Watcher& watcher, Touch& touch, const Spot& spot, uint32_t change = 0);

// Its pages follow its policy, in this process; other tasks that may still have them give them up if `from_others`.
void enforce(Declared& object, uint32_t index, const Task& task, Watcher& watcher, bool from_others);
void give_up_pages(Declared& object, uint32_t index, Watcher& watcher, bool from_others);

// Not with its lock: its pages become kDeclared, or what they would be without it.
void mark_pages(uint32_t index, Watcher& watcher);
void unmark_pages(uint64_t start, uint64_t size, uint32_t index, Watcher& watcher);

}  // namespace weir::view::guarded
