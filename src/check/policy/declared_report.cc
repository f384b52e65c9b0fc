// What is reported of an object with a declared policy: what it is, and whose doing it was.
#include "check/core/enforce_by_key.h"
#include "check/core/enforcer.h"

namespace weir::view::checked {

namespace {

findings::Object description_of(const Declared& object) {
  findings::Object found = undeclared_at(object.start);
  if (object.origin == Origin::kWindow || object.origin == Origin::kPages ||
      object.origin == Origin::kArray)
    found.kind = findings::ObjectKind::kHeap;
  found.policy = static_cast<uint32_t>(object.rules.policy()) + 1;
  if (object.is_automatic && (object.origin == Origin::kWindow || object.origin == Origin::kPages))
    found.policy |= findings::kUnnamedNew;
  found.start = object.start;
  found.size = object.size;
  if (found.kind == findings::ObjectKind::kHeap && !found.context) {
    found.context = object.made.context;
    found.task = object.made.number;
  }
  return found;
}

// Whose doing it is that the task may not.
Trace other_side(Declared& object, const Verdict& verdict) {
  if (verdict.fault == Fault::kUnordered && verdict.other.is_set()) {
    if (object.written.epoch == verdict.other) return object.written;
    if (object.read.epoch == verdict.other) return object.read;
    if (object.readers) {
      const Readers& readers = objects().readers_at(object.readers);
      const TaskId slot = verdict.other.task;
      if (readers.context[slot])
        return {verdict.other, readers.context[slot], readers.number[slot]};
    }
  }
  if (object.rules.policy() == Policy::kReadShared && object.read.context) return object.read;
  return object.written.context ? object.written : object.made;
}

}  // namespace

void report_fault(Declared& object, const Verdict& verdict, const ThreadState& thread,
                  Access& access, const AccessSite& site, uint32_t change) {
  if (verdict.fault == Fault::kUnordered) {  // once, not again at the release
    if (keys::may_be_ordered_unseen()) return;
    const bool is_reported = object.reported == verdict.other && object.reported_to == thread.slot;
    object.reported = verdict.other;
    object.reported_to = thread.slot;
    if (is_reported) return;
  }
  const Trace other = other_side(object, verdict);
  PriorAccess prior{object.start, object.size, findings::kChange, other.number, other.context, 0};
  if (verdict.fault == Fault::kNotAlone || !other.context) prior = {};
  report_policy(prior, thread, access, site, findings::Why::kPolicy,
                static_cast<uint32_t>(verdict.fault), change, description_of(object));
}

void report_misuse(findings::Misuse what, const Declared* object, const ThreadState& thread,
                   Access& access, const AccessSite& site, uint32_t change) {
  PriorAccess prior{};
  if (object && what == findings::Misuse::kFreed)
    prior = {object->start,           object->size,
             findings::kFree,         object->written.number,
             object->written.context, 0};
  report_policy(prior, thread, access, site, findings::Why::kMisuse, static_cast<uint32_t>(what),
                change, object ? description_of(*object) : findings::Object{});
}

bool is_declared(uint64_t address, findings::Object& found) {
  ObjectTable& table = objects();
  const uint32_t index = table.is_on && table.count() ? table.find(address) : 0;
  if (!index) return false;
  found = description_of(table.at(index));
  return true;
}

}  // namespace weir::view::checked
