// Protection keys as the enforcer of declared policies.
//
// An object's pages have a tag: a key, and whether the page table lets anybody write (domains.h
// says which tag a policy means). A change of policy changes the tag, unless the tag is right
// already. What a task may touch depends on its register alone, which has the task's own domain
// and, from lock to unlock, those of the locks that it holds. So a locked object costs nothing
// between lock and unlock, and an access that keeps to its policy never costs anything. An access
// to what is closed traps (check/keys/key_fault.cc), and the rule book decides.
//
// Invariants
// 1. In program code a task's register is rights_of() the task. It is a function of what the task
//    holds and of the hash, never of how it came there. So an old register that is restored (at the
//    return from a signal's handler in which locks were taken or the hash was changed) is wrong
//    only until the next event, or until the task traps on what it may touch. Then it gets the
//    right register, and nothing is reported. A register that is too open for that long hides a
//    violation and invents none. (not checkable: the register may be old until the next event)
// 2. In the runtime, and while the kernel works for a task, the register opens all keys. It does so
//    from the first such touch (open()) until close(), which is the last thing before program code.
//    The kernel obeys the register: a system call on a closed page would fail with EFAULT. The rule
//    book has been asked about the call's accesses before. (checked in open)
// 3. A tag changes under its object's lock. A task that trapped before the change asks the rule
//    book after it, and goes on if the access is legal by then. (checked in tag)
// 4. A legal access makes progress. It goes on by the task's keys if they allow it on the object's
//    tag; else it is executed once, with all keys. (not checkable: progress shows only in time;
//    on_key_fault counts the tries)
// 5. Rehash: `g_rehashing` is set, and then every task is told to stand. A task without
//    ThreadState::has_all_keys is in program code, or about to be; it gets a signal. A task with it
//    sees `g_rehashing` when it leaves the runtime, and waits. (Both words are sequentially
//    consistent: one of the two sides sees the other.) A task that stands holds no lock. A task
//    that does not reply was on its last instructions out of the runtime. The rehash does not wait
//    for it for ever: by 1 that is safe, and the task is told once more at the end. (not checkable:
//    a task that is late is allowed for)
//
// What differs from the enforcer by processes: all tasks may read what is read-shared (PUSh, 2.3).
// Two tasks that hash to the same domain are taken for one. Order by plain loads and stores is not
// seen (check/core/happens_before.h).

#include "check/core/enforce_by_key.h"

#include <sys/mman.h>

#include "check/core/access_rules.h"
#include "check/core/happens_before.h"
#include "check/keys/key_pages.h"
#include "check/keys/key_views.h"
#include "check/keys/rehash.h"
#include "check/keys/tagged_pages.h"
#include "control/options.h"
#include "memory/backing.h"
#include "sys/memory.h"
#include "sys/pkey_x86_64.h"
#include "sys/report.h"

namespace weir::view::checked {

namespace {

class AtRest final : public KeysAtRest {};
constinit AtRest g_at_rest;
constinit Keys g_keys;

}  // namespace

KeysAtRest& keys_at_rest() { return g_at_rest; }

}  // namespace weir::view::checked

namespace weir::view::checked::keys {

bool g_taken = false, g_on = false;
constinit Domains g_domains;

namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

// Per process.
constinit MovingSites g_moving_sites;
SpinLock g_pages_lock;
page::TaggedPages g_pages;
bool g_tag_failed, g_has_racy;

// Of an object that has a domain of its own; those have pages of their own.
uint64_t name_of(const Declared& object) { return page_down(object.start); }

// Guarded by: the object's lock.
void tag(Declared& object, Tag wanted) {
  if (object.tag == wanted || object.is_left) return;
  WEIR_CHECK(object.lock.is_held());  // invariant 3 of enforce_by_key.cc
  const Range pages = pages_of(object);
  if (pages.empty()) return;
  const long result = sys::tag_pages(pages.start, pages.size(),
                                     wanted.is_read_only ? PROT_READ : kReadWrite, wanted.key);
  if (!sys::failed(result)) {
    object.tag = wanted;
  } else if (!__atomic_exchange_n(&g_tag_failed, true, __ATOMIC_RELAXED)) {
    report(
        "the kernel does not change the protection key of an object (error %d): vm.max_map_count "
        "may be too low; some objects are not checked right",
        int64_t{-result});
  }
}

Tag wanted_tag(const Declared& object) {
  if (object.violations >= kMaxViolations) return {};
  if (object.has_domain() && !object.is_crowded)
    return g_domains.of_moving(object.rules, object.owner_creation, name_of(object));
  return g_domains.of(object.rules, object.owner_creation);
}

// Of what may be touched by nobody, until it is used again.
Tag freed_tag(const Declared& object) {
  return object.has_domain() ? Tag{g_domains.key_of(name_of(object))} : g_domains.closed();
}

}  // namespace

void follow_policy(Declared& object) {
  if (object.rules.policy() == Policy::kRacy && !object.is_automatic)
    g_has_racy = true;  // else it is a lock: what it tells is known
  tag(object, object.is_freed ? freed_tag(object) : wanted_tag(object));
}

// --- what an Enforcer does

namespace {

// With the key that the object will have, so that pages of the cache need no call.
uint64_t allocate(uint64_t size, Policy policy, const Task& task, uint32_t context, Given& given) {
  given = {};
  given.moves = g_on && policy == Policy::kPrivate && g_moving_sites.moves(context) &&
                thread_of(task).open_names.has_room(true);
  const uint64_t pages = page_up(size) / kPageSize;
  if (given.moves) {
    uint32_t key = 0;
    const SpinGuard guard(g_pages_lock);
    const uint64_t start = g_pages.allocate_own(
        pages, [](uint64_t at) -> uint32_t { return g_domains.key_of(at); }, key);
    given.tag.key = static_cast<uint8_t>(key);
    return start;
  }
  if (g_on && policy == Policy::kPrivate)
    given.tag = g_domains.of_task(static_cast<uint32_t>(task.identity.creation));
  if (g_on && policy != Policy::kPrivate && policy != Policy::kRacy) given.tag = g_domains.closed();
  const SpinGuard guard(g_pages_lock);
  return g_pages.allocate(pages, given.tag.key);
}

void deallocate(uint64_t start, uint64_t size, Origin origin, Tag tag) {
  if (origin != Origin::kPages) return;
  const SpinGuard guard(g_pages_lock);
  g_pages.free(start, page_up(size) / kPageSize, tag.key);
}

uint64_t allocate_slices(uint64_t size, uint64_t count, uint64_t& gap) {
  gap = kPageSize;
  const SpinGuard guard(g_pages_lock);
  return g_pages.allocate(page_up(size) / kPageSize + count, 0);
}

void show(uint64_t, uint64_t, uint64_t, uint64_t) {}

void deallocate_slices(uint64_t start, uint64_t size, uint64_t count, uint64_t) {
  const SpinGuard guard(g_pages_lock);
  g_pages.free(start, page_up(size) / kPageSize + count, 0);
}

bool is_memory(uint64_t address) {
  uint8_t byte;
  return sys::read_safely(&byte, address, 1) == 1;
}

// What the rule book lets the task do with it.
Rights rights_to(const Declared& object, const Task& task, const ThreadState& thread) {
  const Policy policy = object.rules.policy();
  if (policy == Policy::kPrivate)
    return object.owner_creation == static_cast<uint32_t>(task.identity.creation) ? Rights::kWrite
                                                                                  : Rights::kNone;
  return policy == Policy::kReadShared
             ? object.rules.rights(thread.slot, false, actor_of(thread, object).readers)
             : Rights::kNone;
}

// The task has the object, or has it no more.
void open_domain(Declared& object, const Task& task, ThreadState& thread) {
  const Rights rights = rights_to(object, task, thread);
  thread.is_register_old = 1;
  thread.open_names.keep_of(g_domains.generation());
  if (object.rules.policy() != Policy::kReadShared)
    object.is_crowded = false;  // else others may read it who have it not open
  if (rights == Rights::kNone) thread.open_names.close(name_of(object));
  else if (!object.is_crowded && !thread.open_names.open(name_of(object), rights == Rights::kWrite))
    object.is_crowded = true, object.moves++;
}

void enforce(Declared& object, uint32_t, const Task& task, ThreadState& thread, bool) {
  if (!g_on) return;
  const Tag before = object.tag;
  if (object.has_domain()) {
    open_domain(object, task, thread);
    return follow_policy(object);
  }
  follow_policy(object);
  if (object.tag != before && has_own_pages(object.origin) &&
      object.moves < Declared::kMovesOften && ++object.moves == Declared::kMovesOften)
    g_moving_sites.note(object.made.context);
}

// Freed: its owner goes on having it, so that the pages can be used again as they are; it is closed
// to all others. Else: as if nothing had been declared.
void give_up(Declared& object, uint32_t index, ThreadState& thread, bool) {
  if (!g_on) return;
  if (object.has_domain()) thread.open_names.close(name_of(object)), thread.is_register_old = 1;
  if (object.origin != Origin::kPages) {
    tag(object, {});
    if (object.is_left) return;
    return each_edge(object, [index, &thread](uint64_t page) {
      if (!is_mixed(page, index, thread.found)) sys::tag_pages(page, kPageSize, kReadWrite, 0);
    });
  }
  const Tag own = g_domains.of_task(static_cast<uint32_t>(thread.creation));
  if (object.tag != own) tag(object, freed_tag(object));
}

void mark(uint32_t index, ThreadState&) {
  if (!g_on) return;
  Declared& object = objects().at(index);
  object.is_left = !is_writable(object);
  if (object.is_left) return;
  each_edge(object, [](uint64_t page) {
    happens::g_calls = happens::Calls::kReplaced;
    sys::tag_pages(page, kPageSize, kReadWrite, g_domains.closed().key);
  });
  const SpinGuard guard(object.lock);
  follow_policy(object);
}

void unmark(uint64_t, uint64_t, uint32_t, ThreadState&) {}  // give_up() has done it

}  // namespace

const Enforcer kEnforcer{allocate,  deallocate, allocate_slices, show, deallocate_slices,
                         is_memory, enforce,    give_up,         mark, unmark};

// --- registers

bool take_keys() {
  uint32_t keys = 0;
  for (long key; !sys::failed(key = sys::take_key());) keys |= 1u << key;
  if (!keys) {
    report(
        "this machine has no protection keys (or another part of the program has taken them all): "
        "--enforcer=process does without");
    return false;
  }
  g_domains = Domains(keys, sys::read_key_rights(), options().domains);
  if (!g_domains.good()) {
    report("of the protection keys too few are left: --enforcer=process does without");
    return false;
  }
  uint64_t words[2] = {};
  if (sys::raw(SYS_getrandom, reinterpret_cast<long>(words), sizeof words, 0) != sizeof words)
    words[0] = sys::cycles();
  g_domains.rehash(words[0], words[1]);
  g_taken = true;
  g_pages.begin(page::tagged_area(),
                {[](uint64_t start, uint64_t size) -> long {
                   const long at = sys::map_anonymous(size, kReadWrite, start, MAP_FIXED_NOREPLACE);
                   return at == static_cast<long>(start) ? 0 : sys::failed(at) ? at : -1;
                 },
                 [](uint64_t start, uint64_t size) { sys::unmap(start, size); }, sys::tag_pages});
  return true;
}

namespace {

// The domain of a name, or what was found for it last. A signal's handler may come between any two
// instructions, and find another name: that shows in `found`.
uint8_t key_of(KeyFound& last, uint64_t name) {
  const uint64_t generation = g_domains.generation();
  const uint64_t found = __atomic_load_n(&last.found, __ATOMIC_ACQUIRE);
  const uint64_t of = __atomic_load_n(&last.name, __ATOMIC_ACQUIRE);
  if (of == name && found >> 8 == generation &&
      __atomic_load_n(&last.found, __ATOMIC_ACQUIRE) == found)
    return static_cast<uint8_t>(found);
  const uint8_t key = g_domains.key_of(name);
  __atomic_store_n(&last.found, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&last.name, name, __ATOMIC_RELEASE);
  __atomic_store_n(&last.found, generation << 8 | key, __ATOMIC_RELEASE);
  return key;
}

}  // namespace

uint32_t rights_of(const Task& task) {
  ThreadState& thread = thread_of(task);
  const bool all = thread.held_count > kMaxHeld;
  const auto key = [&](uint64_t name) {
    return name <= UINT32_MAX
               ? key_of(thread.own_key, name)
               : key_of(thread.lock_key[(name / kPageSize ^ name / 8) % kLockKeys], name);
  };
  const uint32_t rights =
      g_domains.rights(static_cast<uint32_t>(task.identity.creation), thread.held,
                       all ? kMaxHeld : thread.held_count, all, key);
  thread.open_names.keep_of(g_domains.generation());
  return g_domains.with(rights, thread.open_names, key);
}

void start(Task& task) {
  thread_of(task).has_all_keys = 1;
  sys::write_key_rights(sys::kAllKeysOpen);
  g_on = true;
  view::use(g_keys);
}

bool may_be_ordered_unseen() { return g_on && g_has_racy; }

bool is_open(const Task& task) { return thread_of(task).has_all_keys; }

void open(Task& task) {
  ThreadState& thread = thread_of(task);
  if (thread.has_all_keys) {
    // Invariant 2 of enforce_by_key.cc.
    WEIR_DEBUG_CHECK(sys::read_key_rights() == sys::kAllKeysOpen);
    return;
  }
  __atomic_store_n(&thread.has_all_keys, 1u, __ATOMIC_SEQ_CST);  // before: see invariant 5
  sys::write_key_rights(sys::kAllKeysOpen);
}

void close(Task& task) {
  ThreadState& thread = thread_of(task);
  if (thread.key_borrowed_count) take_back(task);
  do {
    __atomic_store_n(&thread.has_all_keys, 1u, __ATOMIC_SEQ_CST);
    wait_for_rehash();
    __atomic_store_n(&thread.stop_asked, 0u, __ATOMIC_RELAXED);
    thread.is_register_old = 0;
    sys::write_key_rights(rights_of(task));
    __atomic_store_n(&thread.has_all_keys, 0u, __ATOMIC_SEQ_CST);
  } while (__atomic_load_n(&g_rehashing, __ATOMIC_SEQ_CST));
}

void update(Task& task) {
  if (is_open(task)) return;
  thread_of(task).is_register_old = 0;
  uint32_t generation;
  do {
    generation = g_domains.generation();
    sys::write_key_rights(rights_of(task));
  } while (generation != g_domains.generation());
}

// --- touches

namespace {

// Legal: whether the task has the keys for it by now.
bool may_go_on(Declared& object, const Task& task, ThreadState& thread, bool writes) {
  if (Domains::allows(rights_of(task), object.tag, writes)) return true;
  if (!object.has_domain()) return false;
  open_domain(object, task, thread);
  follow_policy(object);
  return Domains::allows(rights_of(task), object.tag, writes);
}

// Under the object's lock.
Judged judge_one(Declared& object, Task& task, ThreadState& thread, const AccessSite& site,
                 Access& access) {
  const bool writes = access.kind & (findings::kWrite | kUnknownWrite);
  if (is_ordering(task, thread, site, object)) {
    if (!takes_as_lock(object)) return Judged::kOnce;
    if (!object.is_left) follow_policy(object);
    return Domains::allows(rights_of(task), object.tag, writes) ? Judged::kGoesOn : Judged::kOnce;
  }
  Held held = Held::kNot;
  const bool is_legal = judge_object(object, task, thread, site, access, held).legal();
  if (object.is_left) return Judged::kOnce;
  if (!object.is_freed) follow_policy(object);
  if (!is_legal) return object.violations >= kMaxViolations ? Judged::kGoesOn : Judged::kOnce;
  return may_go_on(object, task, thread, writes) ? Judged::kGoesOn : Judged::kOnce;
}

}  // namespace

Judged judge(Task& task, const AccessSite& site, const Access& access) {
  // Invariant 1 of key_fault.cc.
  WEIR_DEBUG_CHECK(sys::read_key_rights() == sys::kAllKeysOpen);
  ObjectTable& table = objects();
  ThreadState& thread = thread_of(task);
  end_joined_epoch(thread);
  FoundLately& found = thread.found;
  const uint64_t limit = access.address + access.size;
  if (is_far(found.around(table, access.address), access.address, limit)) return Judged::kNobodys;
  Judged met = Judged::kNobodys;
  uint32_t context = access.context;
  for (uint32_t index = found.find_above(table, access.address); index;
       index = found.find_above(table, table.at(index).limit())) {
    Declared& object = table.at(index);
    if (object.start >= limit) break;
    // By unknown bytes of a page, or by the C library, which reads more than it was asked to, an
    // object that shares its page is not meant.
    const bool is_sharing = pages_of(object).empty();
    if (is_sharing &&
        (is_ignored(site.rip) || !(access.kind & (findings::kRead | findings::kWrite))))
      continue;
    const SpinGuard guard(object.lock);
    if (object.origin == Origin::kNone || object.start >= limit || object.limit() <= access.address)
      continue;  // it has just been forgotten
    const uint64_t from = object.start > access.address ? object.start : access.address;
    Access piece{from, (object.limit() < limit ? object.limit() : limit) - from, access.kind,
                 context};
    const Judged one = judge_one(object, task, thread, site, piece);
    context = piece.context;
    if (one == Judged::kOnce || met == Judged::kNobodys) met = one;
  }
  if (met == Judged::kOnce) return met;
  for (uint64_t at = page_down(access.address); at < limit; at += kPageSize) {
    // What lies beyond an object in its own last page counts as the object's.
    if (is_mixed(at, 0, found)) return Judged::kOnce;
  }
  if (met != Judged::kNobodys) return met;
  for (uint64_t at = page_down(access.address); at < limit; at += kPageSize) {
    const uint32_t index = found.find_above(table, at);
    Declared* object = index && table.at(index).start < at + kPageSize ? &table.at(index) : nullptr;
    if (!object && at > kPageSize) {
      const uint32_t before = found.find(table, at - 1);
      object = before && pages_of(table.at(before)).contains(at) ? &table.at(before) : nullptr;
    }
    if (!object || !pages_of(*object).contains(at)) continue;
    const SpinGuard guard(object->lock);
    Access beside = access;
    if (object->origin != Origin::kNone &&
        judge_one(*object, task, thread, site, beside) == Judged::kOnce)
      return Judged::kOnce;
    met = Judged::kGoesOn;
  }
  return met;
}

bool borrow(Task& task, uint64_t start, uint64_t size) {
  ObjectTable& table = objects();
  ThreadState& thread = thread_of(task);
  bool any = false;
  const uint64_t limit = page_up(start + size);
  for (uint32_t index = thread.found.find_above(table, page_down(start)); index;
       index = thread.found.find_above(table, table.at(index).limit())) {
    Declared& object = table.at(index);
    if (object.start >= limit) break;
    const SpinGuard guard(object.lock);
    if (!object.tag.is_read_only || !pages_of(object).overlaps({page_down(start), limit})) continue;
    if (thread.key_borrowed_count == kMaxKeyBorrowed) break;
    thread.key_borrowed[thread.key_borrowed_count++] = index;
    tag(object, {});
    any = true;
  }
  return any;
}

void take_back(Task& task) {
  ThreadState& thread = thread_of(task);
  for (uint32_t i = 0; i < thread.key_borrowed_count; i++) {
    Declared& object = objects().at(thread.key_borrowed[i]);
    const SpinGuard guard(object.lock);
    if (object.origin != Origin::kNone) follow_policy(object);
  }
  thread.key_borrowed_count = 0;
}

// --- fork

void hold_still() {
  objects().lock.lock();
  g_pages_lock.lock();
}

void go_on() {
  g_pages_lock.unlock();
  objects().lock.unlock();
}

// The table is the parent's, who waits: its lock is held.
void open_in_child() {
  ObjectTable& table = objects();
  table.each([](const Declared& object) {
    const Range pages = pages_of(object);
    if (object.tag.is_read_only && !pages.empty())
      sys::tag_pages(pages.start, pages.size(), kReadWrite, 0);
  });
  g_pages_lock.reset();
  sys::write_key_rights(sys::kAllKeysOpen);
  g_on = false;
  use(unchecked_rules());
  view::use(keys_at_rest());
}

void open_in_handler() { sys::write_key_rights(sys::kAllKeysOpen); }

}  // namespace weir::view::checked::keys
