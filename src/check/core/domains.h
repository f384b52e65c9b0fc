// Which protection key the objects of a task have, and those of a lock, and what a task may
// therefore touch (PUSh, sections 3.2 and 3.3). Within the checked View, for the enforcer by
// protection keys. This file knows only names and numbers; enforce_by_key.cc tags pages and writes
// registers.
//
// Key 0 belongs to memory of which nothing is declared, and to what all tasks may touch: racy
// objects, and read-only objects that all may read, which mprotect closes to writing. The first key
// that the kernel gives is open to nobody. It is for inaccessible, untouched and freed objects, for
// locked ones until their first touch is verified, and for pages of several objects. All other keys
// are domains. Tasks and locks are hashed to domains, and so are objects that change hands often.
// Such an object keeps its domain while it is private, read-shared or inaccessible, and a task that
// may touch it opens the domain for itself; otherwise each change would be a change of the page
// table.
//
// Deviation: in the paper one key, open to all, serves all of those policies, and the page table
// closes what is closed. There, a touch that is to be let through once would open the page to all
// threads. Here it opens only the keys of one thread.
#pragma once

#include <stdint.h>

#include "check/core/domain_hash.h"
#include "check/core/policy.h"

namespace weir::view::checked {

// What the kernel has for an object's pages: the key, and whether the page table allows writing.
struct Tag {
  uint8_t key = 0;
  bool is_read_only = false;  // by the page table, for all
  friend bool operator==(const Tag&, const Tag&) = default;
};

// The names that a task has open beside its own domain and its locks'. They are names of objects
// that have domains of their own; the lowest bit means: for reading. Few are for writing, because
// each opens to the task all other objects that have that domain. A name that is missing traps and
// is put in again. All names are dropped with each new hash function, because some may be of
// objects that the task has lost without a change of its own. A signal's handler may drop all of
// them between any two instructions; they may come back until the next function.
class OpenNames {
 public:
  static constexpr uint32_t kMax = 16, kMaxWritten = 4;

  uint32_t count() const { return count_; }
  uint64_t operator[](uint32_t i) const { return names_[i]; }
  bool has_room(bool writes) const {
    uint32_t written = 0;
    for (uint32_t i = 0; i < count_; i++) written += !(names_[i] & 1);
    return count_ < kMax && !(writes && written >= kMaxWritten);
  }
  // Returns false if there is no room.
  bool open(uint64_t name, bool writes) {
    close(name);
    if (!has_room(writes)) return false;
    const uint32_t count = count_;
    names_[count] = name | !writes;
    count_ = count + 1;
    return true;
  }
  void close(uint64_t name) {
    const uint32_t count = count_;
    for (uint32_t i = 0; i < count; i++) {
      if ((names_[i] & ~uint64_t{1}) != name) continue;
      for (uint32_t k = i + 1; k < count; k++) names_[k - 1] = names_[k];
      count_ = count - 1;
      return;
    }
  }
  void keep_of(uint32_t generation) {
    if (generation_ == generation) return;
    count_ = 0;
    generation_ = generation;
  }

 private:
  uint32_t generation_, count_;
  uint64_t names_[kMax];
};

// The places that make objects which change hands often. Later objects of such a place have domains
// of their own from the beginning. A place is a context of findings. What this table forgets, it
// learns again.
class MovingSites {
 public:
  bool moves(uint32_t context) const {
    return context && __atomic_load_n(&sites_[context % kSites], __ATOMIC_RELAXED) == context;
  }
  void note(uint32_t context) {
    __atomic_store_n(&sites_[context % kSites], context, __ATOMIC_RELAXED);
  }

 private:
  static constexpr uint32_t kSites = 1024;
  uint32_t sites_[kSites] = {};
};

class Domains {
 public:
  static constexpr uint32_t kKeys = 16, kFewest = 3;
  // A task's name is its creation number and this: less than any address of a lock.
  static constexpr uint64_t kTaskNames = 1;

  Domains() = default;
  // `keys`: a bit for each key that is Weir's; `others`: the rights to all keys that are not.
  // `most`: domains at most, 0 for as many as there are.
  Domains(uint32_t keys, uint32_t others, uint32_t most) : closed_rights_(others) {
    for (uint32_t key = 1; key < kKeys; key++) {
      if (!(keys >> key & 1)) continue;
      closed_rights_ = (closed_rights_ & ~(uint32_t{3} << 2 * key)) | uint32_t{1} << 2 * key;
      if (!closed_key_) closed_key_ = static_cast<uint8_t>(key);
      else if (!most || count_ < most) domain_[count_++] = static_cast<uint8_t>(key);
    }
  }

  // Keys enough to tell anybody from anybody.
  bool good() const { return count_ + 1 >= kFewest; }
  uint32_t count() const { return count_; }

  // Sets another hash function. Shared: a reader that looks a name up meanwhile gets the old domain
  // or the new one.
  void rehash(uint64_t multiplier, uint64_t addend) {
    const uint32_t next = __atomic_load_n(&generation_, __ATOMIC_RELAXED) + 1;
    hash_[next % kHashes] = DomainHash(multiplier, addend, count_);
    __atomic_store_n(&generation_, next, __ATOMIC_RELEASE);
  }
  uint32_t generation() const { return __atomic_load_n(&generation_, __ATOMIC_ACQUIRE); }

  Tag closed() const { return {closed_key_, false}; }
  static uint64_t name_of(uint32_t creation) { return creation + kTaskNames; }
  uint8_t key_of(uint64_t name) const { return domain_[hash_[generation() % kHashes](name)]; }
  Tag of_task(uint32_t creation) const { return {key_of(name_of(creation)), false}; }
  Tag of_lock(uint64_t lock) const { return {key_of(lock), false}; }

  // Returns what a task may touch by its register: its own domain, and those of the locks that it
  // holds (lowest bit: for reading). `all_locks`: the task holds more locks than are known. `key`:
  // the key of a name, as key_of().
  template <typename Locks, typename Key>
  uint32_t rights(uint32_t creation, const Locks& locks, uint32_t count, bool all_locks,
                  Key key) const {
    uint32_t rights = opened(closed_rights_, key(name_of(creation)), true);
    if (all_locks) {
      for (uint32_t i = 0; i < count_; i++) rights = opened(rights, domain_[i], true);
    }
    for (uint32_t i = 0; i < count; i++)
      rights = opened(rights, key(locks[i] & ~uint64_t{1}), !(locks[i] & 1));
    return rights;
  }
  template <typename Locks>
  uint32_t rights(uint32_t creation, const Locks& locks, uint32_t count, bool all_locks) const {
    return rights(creation, locks, count, all_locks,
                  [this](uint64_t name) { return key_of(name); });
  }
  // Rights with others beside.
  template <typename Key>
  uint32_t with(uint32_t rights, const OpenNames& names, Key key) const {
    for (uint32_t i = 0; i < names.count(); i++)
      rights = opened(rights, key(names[i] & ~uint64_t{1}), !(names[i] & 1));
    return rights;
  }
  static bool allows(uint32_t rights, Tag tag, bool writes) {
    const uint32_t closed = rights >> 2 * tag.key & 3;
    return !(closed & 1) && !(writes && ((closed & 2) || tag.is_read_only));
  }

  // Returns the tag that an object has by its policy. `owner`: TaskIdentity::creation of the task
  // to which it is private.
  template <uint32_t kTasks>
  Tag of(const Object<kTasks>& rules, uint32_t owner) const {
    switch (rules.policy()) {
      case Policy::kPrivate: return of_task(owner);
      case Policy::kReadShared:
      case Policy::kStickyRead: return {0, true};
      case Policy::kRacy: return {};
      case Policy::kLocked: return rules.is_verified() ? of_lock(rules.lock()) : closed();
      case Policy::kUntouched:
      case Policy::kInaccessible: return closed();
    }
    return closed();
  }
  // Returns the tag of an object that has a domain of its own.
  template <uint32_t kTasks>
  Tag of_moving(const Object<kTasks>& rules, uint32_t owner, uint64_t name) const {
    switch (rules.policy()) {
      case Policy::kPrivate:
      case Policy::kReadShared:
      case Policy::kInaccessible: return {key_of(name), false};
      default: return of(rules, owner);
    }
  }
  // Whether that depends on the hash.
  template <uint32_t kTasks>
  static bool is_hashed(const Object<kTasks>& rules) {
    return rules.policy() == Policy::kPrivate ||
           (rules.policy() == Policy::kLocked && rules.is_verified());
  }

 private:
  static constexpr uint32_t kHashes = 8;  // a late reader reads one of the last

  static uint32_t opened(uint32_t rights, uint32_t key, bool writes) {
    const uint32_t mask = uint32_t{3} << 2 * key, now = rights >> 2 * key & 3;
    const uint32_t wanted = writes || now == 0 ? 0 : 2;
    return (rights & ~mask) | wanted << 2 * key;
  }

  DomainHash hash_[kHashes];
  uint32_t generation_ = 0;
  uint32_t closed_rights_ = 0;
  uint32_t count_ = 0;
  uint8_t closed_key_ = 0;
  uint8_t domain_[kKeys] = {};
};

}  // namespace weir::view::checked
