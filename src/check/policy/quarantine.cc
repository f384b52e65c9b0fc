// Blocks that the program has given back by weir_free() and its like.
//
// Invariants
// 1. If a block is private to the task that gives it back, it stays mapped in that task's process,
//    and is the next block of its size that this task gets. Nothing has to change. (PUSh, section
//    3.5, keeps pages that have their domain's number in the same way.) To all other tasks it is
//    closed, before and after. (checked in reuse_cached)
// 2. Any other block that is given back keeps its pages for a while, closed to all tasks, so that a
//    task which still touches it is found. (checked in free_oldest)

#include "check/policy/annotation_call.h"
#include "memory/backing.h"
#include "sys/report.h"

namespace weir::view::checked {

namespace {

constexpr uint32_t kMaxFreed = 256;  // blocks that keep their memory
constexpr uint64_t kMaxQuarantined = 256 << 10,
                   kMaxAllQuarantined = 4 << 20;                   // bytes of one, of all
constexpr uint32_t kMaxPagesCached = 32, kMaxAllPagesCached = 64;  // of blocks that stay mapped

uint64_t room_of(const Declared& object) {
  return object.origin == Origin::kWindow ? page::windows::size_of(object.start)
                                          : page_up(object.size);
}
uint32_t pages_of(const Declared& object) {
  return static_cast<uint32_t>((object.size + kPageSize - 1) / kPageSize);
}

void free_oldest(ThreadState& thread) {
  ObjectTable& table = objects();
  uint32_t index;
  {
    const SpinGuard guard(table.lock);
    index = table.freed_first;
    if (!index) return;
    // Invariant 2 of quarantine.cc: closed to all until it is let go.
    WEIR_CHECK(table.at(index).is_freed && table.at(index).rules.policy() == Policy::kInaccessible);
    table.freed_first = table.at(index).next;
    if (!table.freed_first) table.freed_last = 0;
    table.freed_count--;
    table.freed_bytes -= table.at(index).size;
  }
  let_go(index, thread);
}

// Out of the task's free cache.
uint32_t take_cached(uint32_t at, ThreadState& thread) {
  const uint32_t index = thread.cached[at];
  thread.cached_pages -= pages_of(objects().at(index));
  for (uint32_t i = at + 1; i < thread.cached_count; i++) thread.cached[i - 1] = thread.cached[i];
  thread.cached_count--;
  return index;
}

}  // namespace

void let_go(uint32_t index, ThreadState& thread) {
  ObjectTable& table = objects();
  Declared& object = table.at(index);
  const uint64_t start = object.start, size = object.size;
  const Origin origin = object.origin;
  uint32_t readers;
  Tag tag;
  {
    const SpinGuard guard(object.lock);
    enforcer().give_up(object, index, thread, true);
    tag = object.tag;
    readers = object.readers;
    object.readers = 0;
    table.remove(index);
  }
  if (readers) table.give_readers(readers);
  enforcer().unmark(start, size, index, thread);
  enforcer().deallocate(start, size, origin, tag);
}

void retire(uint32_t index, ThreadState& thread) {
  ObjectTable& table = objects();
  Declared& object = table.at(index);
  {
    const SpinGuard guard(object.lock);
    object.rules = Rules(Policy::kInaccessible);
    object.is_freed = true;
    enforcer().give_up(object, index, thread, true);
    object.next = 0;
  }
  if (object.size > kMaxQuarantined) return let_go(index, thread);
  {
    const SpinGuard guard(table.lock);
    if (table.freed_last) table.at(table.freed_last).next = index;
    else table.freed_first = index;
    table.freed_last = index;
    table.freed_count++;
    table.freed_bytes += object.size;
  }
  while (table.freed_count > kMaxFreed || table.freed_bytes > kMaxAllQuarantined)
    free_oldest(thread);
}

bool cache_block(uint32_t index, Call& call) {
  ThreadState& thread = call.thread();
  const Declared& object = objects().at(index);
  const uint32_t pages = pages_of(object);
  const bool is_block = object.origin == Origin::kWindow || object.origin == Origin::kPages;
  const bool is_mine =
      object.rules.policy() == Policy::kPrivate && object.rules.owner() == thread.slot &&
      object.owner_creation == static_cast<uint32_t>(call.task().identity.creation);
  if (!happens::g_checked || !is_block || !is_mine || pages > kMaxPagesCached) return false;
  while (thread.cached_count == kMaxCachedBlocks ||
         thread.cached_pages + pages > kMaxAllPagesCached)
    retire(take_cached(0, thread), thread);
  thread.cached[thread.cached_count++] = index;
  thread.cached_pages += pages;
  return true;
}

void take_over(Declared& object, uint32_t index, Call& call) {
  ThreadState& thread = call.thread();
  const Policy policy = object.rules.policy();
  if (!thread.cache_misses || (policy != Policy::kLocked && policy != Policy::kRacy) ||
      object.origin != Origin::kPages)
    return;
  thread.cache_misses--;
  object.rules = Rules(Policy::kPrivate, thread.slot, thread.now.epoch(thread.slot));
  object.owner_creation = static_cast<uint32_t>(call.task().identity.creation);
  enforcer().enforce(object, index, call.task(), thread, true);
}

uint64_t reuse_cached(uint64_t size, Policy policy, bool by_new, Call& call) {
  ObjectTable& table = objects();
  ThreadState& thread = call.thread();
  const uint64_t room = access_rules().room_of(size);
  for (uint32_t i = thread.cached_count; i-- > 0;) {
    Declared& object = table.at(thread.cached[i]);
    if (room_of(object) != room) continue;
    // Invariant 1 of quarantine.cc: it is the task's still.
    WEIR_CHECK(object.owner_creation == static_cast<uint32_t>(call.task().identity.creation));
    const uint32_t index = take_cached(i, thread);
    const SpinGuard guard(object.lock);
    if (object.readers) table.give_readers(object.readers);
    object.readers = object.violations = object.trust = 0;
    object.written = object.read = {};
    object.reported = {};
    object.made = call.trace();
    object.rules = policy == Policy::kPrivate
                       ? Rules(policy, thread.slot, thread.now.epoch(thread.slot))
                       : Rules(policy);
    object.is_freed = false;
    object.is_automatic = by_new;
    access_rules().open_reused(object, index, call.task(), thread);
    if (object.size != size) table.set_size(index, size);
    return object.start;
  }
  if (thread.cache_misses < kMaxCachedBlocks) thread.cache_misses++;
  return 0;
}

void retire_cached(ThreadState& thread) {
  while (thread.cached_count) retire(take_cached(0, thread), thread);
}

}  // namespace weir::view::checked
