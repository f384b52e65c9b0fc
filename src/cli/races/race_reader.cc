#include "cli/races/race_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/core/policy.h"

namespace weir::cli {
namespace {

using findings::Misuse;
using findings::ObjectKind;
using findings::Side;
using findings::Why;
using view::checked::Change;
using view::checked::Fault;
using view::checked::Policy;

struct Words {
  const char* rule;     // for programs
  const char* because;  // for people
};

Words words_of(Fault fault) {
  switch (fault) {
    case Fault::kHeldByOther:
      return {"held-by-other",
              "the object is private to another thread, or others may still read it"};
    case Fault::kHeldAlready:
      return {"held-already",
              "the thread has acquired the object already and not released it since"};
    case Fault::kNotHeld: return {"not-held", "the thread releases what it has not acquired"};
    case Fault::kFixed: return {"fixed", "the object's policy cannot be changed in this way"};
    case Fault::kNotAlone:
      return {"not-alone",
              "an object becomes sticky-read only while the program has a single thread"};
    case Fault::kLockNotHeld:
      return {"lock-not-held", "the thread does not hold the lock that the object's policy names"};
    case Fault::kUnordered:
      return {"unordered",
              "nothing orders this after what another thread did with the object: no "
              "synchronization leads from the one to the other"};
    case Fault::kForbidden:
      return {"forbidden", "the object's policy does not let this thread do it"};
    case Fault::kNone: break;
  }
  return {"policy", "the object's policy does not allow it"};
}

Words words_of(Misuse misuse) {
  switch (misuse) {
    case Misuse::kNull: return {"null", "the address is null, or the size is 0"};
    case Misuse::kFreed: return {"freed", "the memory has been given back"};
    case Misuse::kForeign: return {"foreign", "this is no memory of the program's"};
    case Misuse::kOverlaps:
      return {"overlaps", "it overlaps another object that has a policy, and is not the same"};
    case Misuse::kUnknownObject: return {"unknown-object", "no object with a policy begins here"};
    case Misuse::kUnbalancedLock:
      return {"unbalanced-lock", "the thread does not hold the lock that it gives back"};
    case Misuse::kDestroyedLock:
      return {"destroyed-lock", "the lock is destroyed while a thread holds it"};
    case Misuse::kLockedAgain:
      return {"locked-again",
              "the thread waits for a mutex that it holds itself, and that is not recursive"};
    case Misuse::kLockedGone:
      return {"locked-destroyed", "the mutex has been destroyed, and not been initialized since"};
    case Misuse::kTooMany:
      return {"too-many", "there are more objects with policies than Weir has room for"};
  }
  return {"misuse", "the annotation cannot be carried out"};
}

// Numbers are the enumeration's + 1; 0, and what is none: empty.
std::string change_name(uint32_t number) {
  constexpr const char* kNames[] = {"acquire for writing", "release after writing",
                                    "acquire for reading", "release after reading",
                                    "change to locked",    "change to sticky-read",
                                    "change to racy"};
  return number >= 1 && number <= std::size(kNames) ? kNames[number - 1] : "";
}

std::string policy_name(uint32_t number) {
  constexpr const char* kNames[] = {"untouched",    "private",     "read-shared", "racy",
                                    "inaccessible", "sticky-read", "locked"};
  return number >= 1 && number <= std::size(kNames) ? kNames[number - 1] : "";
}

// The call that is meant; empty: it is none of a lock.
std::string lock_call(Misuse misuse) {
  switch (misuse) {
    case Misuse::kUnbalancedLock: return "unlock";
    case Misuse::kDestroyedLock: return "destroy";
    case Misuse::kLockedAgain:
    case Misuse::kLockedGone: return "lock";
    default: return "";
  }
}

// The type of a lock as a user calls it, by the types of what lies at its address.
std::string lock_type(const std::vector<std::string>& types) {
  constexpr std::pair<const char*, const char*> kWords[] = {{"rwlock", "read-write lock"},
                                                            {"shared_mutex", "read-write lock"},
                                                            {"spin", "spinlock"},
                                                            {"mutex", "mutex"},
                                                            {"mtx_t", "mutex"}};
  for (const std::string& type : types) {
    for (const auto& [part, word] : kWords) {
      if (type.find(part) != std::string::npos) return word;
    }
  }
  return "";
}

bool have_common_lock(const Side& a, const Side& b) {
  for (uint32_t i = 0; i < std::min(a.lock_count, findings::kMaxLocks); i++) {
    for (uint32_t j = 0; j < std::min(b.lock_count, findings::kMaxLocks); j++) {
      if ((a.locks[i] & ~uint64_t{1}) == (b.locks[j] & ~uint64_t{1})) return true;
    }
  }
  return false;
}

}  // namespace

RaceReader::RaceReader(FindingsReader findings, bool with_debug_info)
    : findings_(findings),
      modules_(with_debug_info),
      stacks_(modules_),
      variables_(modules_),
      pointees_(modules_) {}

const Frames& RaceReader::frames(uint32_t index) {
  const auto found = known_.find(index);
  if (found != known_.end()) return found->second;
  const auto context = findings_.context(index);
  return known_[index] = context ? stacks_.frames(*context) : Frames{};
}

ReportedTask RaceReader::task(uint32_t number) {
  ReportedTask result;
  result.number = number;
  const std::optional<KnownTask> known = findings_.task(number);
  result.is_main = number == 0 || (known && known->creator == number);
  if (!known) return result;
  result.is_known = true;
  result.tid = known->tid;
  result.name = known->name;
  if (result.is_main || known->creator == number) return result;
  result.has_creator = true;
  result.creator = known->creator;
  const std::optional<KnownTask> creator = findings_.task(known->creator);
  ReportedTask words;
  words.number = known->creator;
  words.is_main = known->creator == 0 || (creator && creator->creator == known->creator);
  words.is_known = creator.has_value();
  if (creator) words.name = creator->name;
  result.creator_name = task_words(words);
  result.made_at = frames(known->context);
  return result;
}

// The name of the lock, not of a member inside it.
void RaceReader::name_lock(Variable& variable) {
  for (const char* inside : {"._M_", ".__data", ".__size", ".__align"}) {
    if (const size_t at = variable.name.find(inside); at != std::string::npos)
      variable.name.resize(at);
  }
}

ReportedLock RaceReader::lock(uint64_t word) {
  ReportedLock lock;
  lock.address = word & ~uint64_t{1};
  lock.for_reading = word & 1;
  std::optional<Variable> variable = variables_.static_at(lock.address);
  if (!variable) return lock;
  name_lock(*variable);
  lock.name = variable->name;
  lock.type = lock_type(variable->types);
  return lock;
}

ReportedSide RaceReader::side(const Side& side) {
  ReportedSide result;
  result.address = side.address;
  result.size = side.size;
  result.kind = side.kind;
  result.task = task(side.task);
  result.frames = frames(side.context);
  result.has_context = !result.frames.empty();
  const uint32_t listed = std::min(side.lock_count, findings::kMaxLocks);
  for (uint32_t i = 0; i < listed; i++) result.locks.push_back(lock(side.locks[i]));
  result.more_locks = side.lock_count - listed;
  return result;
}

// Looks for a variable of a frame of that stack.
bool RaceReader::find_on_stack(ReportedObject& object, uint64_t address, uint32_t index) {
  const auto context = findings_.context(index);
  if (!context) return false;
  const std::optional<Variable> variable = variables_.on_stack(stacks_.walk(*context), address);
  if (!variable) return false;
  object.variable = *variable;
  object.has_variable = true;
  return true;
}

// Whose type the functions say that access or have allocated it.
void RaceReader::name_block(ReportedObject& object, const findings::Race& race, uint64_t address) {
  const Block block{object.start, object.size};
  if (address < block.start || address - block.start >= block.size) return;
  std::optional<Variable> found;
  for (const Side* side : {&race.sides[1], &race.sides[0]}) {
    const auto context = side->kind ? findings_.context(side->context) : nullptr;
    if (context && !found)
      found = pointees_.by_access(*context, stacks_.walk(*context), block, address);
  }
  if (!found) found = pointees_.by_allocation(object.allocated_at, block, address);
  if (!found) return;
  object.variable = *found;
  object.has_variable = true;
}

ReportedObject RaceReader::object(const findings::Race& race, uint64_t address) {
  const findings::Object& object = race.object;
  ReportedObject result;
  result.kind = object.kind;
  result.start = object.start;
  result.size = object.size;
  result.offset = address >= object.start && object.start ? address - object.start : 0;
  result.policy = policy_name(object.policy & ~findings::kUnnamedNew);
  result.is_unnamed_new = object.policy & findings::kUnnamedNew;
  if (object.kind == ObjectKind::kHeap) {
    result.task = task(object.task);
    result.allocated_at = frames(object.context);
    name_block(result, race, address);
    return result;
  }
  if (object.kind == ObjectKind::kStack) {
    result.task = task(object.task);
    // On a side's own stack, or on that of who made a side's task, which is where a task's argument
    // often lies.
    for (const Side& side : race.sides) {
      if (side.kind && side.task == object.task && find_on_stack(result, address, side.context))
        return result;
    }
    for (const Side& side : race.sides) {
      const std::optional<KnownTask> known = findings_.task(side.task);
      if (known && known->creator == object.task && find_on_stack(result, address, known->context))
        return result;
    }
    return result;
  }
  if (Dwfl_Module* module = modules_.at(address)) {
    result.module = modules_.path_of(module);
    result.section = modules_.section_at(address);
    if (result.kind == ObjectKind::kUnknown) result.kind = ObjectKind::kStatic;
  }
  if (const std::optional<Variable> variable = variables_.static_at(address)) {
    result.variable = *variable;
    result.has_variable = true;
  }
  return result;
}

void RaceReader::update() {
  const size_t generation = modules_.generation();
  modules_.set(findings_.mappings(image_));
  if (generation != modules_.generation()) known_.clear();
}

ReportedRace RaceReader::read(const findings::Race& race) {
  const Side &first = race.sides[0], &second = race.sides[1];
  return read_at(race, first.kind ? std::max(first.address, second.address) : second.address);
}

std::vector<ReportedRace> RaceReader::read_parts(const findings::Race& race) {
  constexpr size_t kMost = 4;  // a structure that is copied is one object
  constexpr uint64_t kMostBytes = 64;
  constexpr uint32_t kWhole = findings::kByLibrary | findings::kByKernel | findings::kFree;
  std::vector<ReportedRace> parts = {read(race)};
  const Side &first = race.sides[0], &second = race.sides[1];
  if ((race.why != Why::kUnordered && race.why != Why::kCollision) || !first.kind ||
      ((first.kind | second.kind) & kWhole) || first.size > kMostBytes || second.size > kMostBytes)
    return parts;
  const uint64_t limit = std::min(first.address + first.size, second.address + second.size);
  for (;;) {
    const ReportedObject& last = parts.back().object;
    const Variable& variable = last.variable;
    if (!last.has_variable || variable.part_size == 0) break;
    const uint64_t next = variable.start + variable.part_start + variable.part_size;
    if (next >= limit) break;
    ReportedRace part = read_at(race, next);
    if (!part.object.has_variable || part.object.variable.part_size == 0 ||
        part.object.variable.start + part.object.variable.part_start < next)
      break;
    if (without_indices(part.object.name()) == without_indices(last.name())) {
      parts.back().object.variable.part_size += part.object.variable.part_size;
      continue;
    }
    if (parts.size() == kMost) return {parts.front()};
    parts.push_back(std::move(part));
  }
  return parts;
}

ReportedRace RaceReader::read_at(const findings::Race& race, uint64_t address) {
  update();
  if (race.why == Why::kHazard) return read_hazard(race);
  ReportedRace result;
  result.why = race.why;
  result.change = change_name(race.change);
  for (int i = 0; i < 2; i++) {
    result.sides[i] = side(race.sides[i]);
    result.sides[i].exists = i == 1 || race.sides[i].kind != 0;
  }
  result.object = object(race, address);
  Words words = {"data-race",
                 "nothing orders them: no lock in common, and no synchronization leads from the "
                 "first access to the second"};
  switch (race.why) {
    case Why::kUnordered:
      // A lock that only readers hold orders nothing.
      if (have_common_lock(race.sides[0], race.sides[1])) {
        words.because =
            "nothing orders them: the lock that both hold is held for reading, and no "
            "synchronization leads from the first access to the second";
      }
      break;
    case Why::kCollision:
      words = {"data-race", "both threads were about to make their access at the same moment"};
      break;
    case Why::kHazard: break;
    case Why::kPolicy:
      words = words_of(static_cast<Fault>(std::min<uint32_t>(race.fault, 255)));
      break;
    case Why::kMisuse:
      words = words_of(static_cast<Misuse>(race.fault));
      result.is_of_lock = !lock_call(static_cast<Misuse>(race.fault)).empty();
      if (result.is_of_lock) {
        result.change = lock_call(static_cast<Misuse>(race.fault));
        name_lock(result.object.variable);
      }
      break;
  }
  result.rule = words.rule;
  result.because = words.because;
  result.count = race.count + 1;
  return result;
}

}  // namespace weir::cli
