#include "check/core/domains.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace weir::view::checked {
namespace {

constexpr uint32_t kAllKeys = 0xfffe, kAsTheKernelBegins = 0x55555554;
constexpr uint64_t kNoLocks[1] = {};

TEST(DomainsTest, TheFirstKeyIsNobodysAndFourteenAreDomains) {
  const Domains domains(kAllKeys, kAsTheKernelBegins, 0);
  EXPECT_TRUE(domains.good());
  EXPECT_EQ(domains.count(), 14u);
  EXPECT_EQ(domains.closed(), (Tag{1, false}));
}

TEST(DomainsTest, KeysThatAreAnothersAreLeftAsTheyAre) {
  const uint32_t others = 0x55555554 & ~(3u << 6);  // key 3 is open
  Domains domains(kAllKeys & ~8u, others, 0);
  domains.rehash(1, 2);
  EXPECT_EQ(domains.count(), 13u);
  for (uint32_t task = 0; task < 100; task++) {
    const uint32_t rights = domains.rights(task, kNoLocks, 0, false);
    EXPECT_EQ(rights >> 6 & 3, 0u);
    EXPECT_NE(domains.of_task(task).key, 3u);
  }
}

TEST(DomainsTest, OneDomainTellsNobodyApart) {
  EXPECT_FALSE(Domains(2, 0, 0).good());
  EXPECT_FALSE(Domains(6, 0, 0).good());
  EXPECT_TRUE(Domains(14, 0, 0).good());
  EXPECT_FALSE(Domains(0, 0, 0).good());
  EXPECT_EQ(Domains(kAllKeys, 0, 2).count(), 2u);
}

TEST(DomainsTest, ATaskHasItsOwnDomainAndThoseOfItsLocks) {
  std::mt19937_64 random(5);
  Domains domains(kAllKeys, kAsTheKernelBegins, 0);
  for (int i = 0; i < 1000; i++) {
    const uint64_t a = random(), b = random();
    domains.rehash(a, b);
    const auto task = static_cast<uint32_t>(random() % 1000);
    const uint64_t locks[2] = {0x555555558040, 0x555555558080 | 1};  // the second for reading
    const uint32_t rights = domains.rights(task, locks, 2, false);
    std::set<uint32_t> open{0, domains.of_task(task).key, domains.of_lock(locks[0]).key};
    const uint32_t read = domains.of_lock(locks[1] & ~uint64_t{1}).key;
    for (uint8_t key = 0; key < Domains::kKeys; key++) {
      EXPECT_EQ(Domains::allows(rights, {key, false}, true), open.count(key) != 0) << +key;
      EXPECT_EQ(Domains::allows(rights, {key, false}, false), open.count(key) || key == read)
          << +key;
    }
    EXPECT_FALSE(Domains::allows(rights, domains.closed(), false));
  }
}

TEST(DomainsTest, WhoHoldsMoreLocksThanAreKnownHasThemAll) {
  Domains domains(kAllKeys, kAsTheKernelBegins, 0);
  domains.rehash(3, 4);
  const uint32_t rights = domains.rights(1, kNoLocks, 0, true);
  for (uint8_t key = 2; key < 16; key++) EXPECT_TRUE(Domains::allows(rights, {key, false}, true));
  EXPECT_FALSE(Domains::allows(rights, domains.closed(), false));
}

TEST(DomainsTest, NamesThatAreOpenAddTheirDomains) {
  Domains domains(kAllKeys, kAsTheKernelBegins, 0);
  domains.rehash(5, 6);
  OpenNames names{};
  names.keep_of(domains.generation());
  std::mt19937_64 random(9);
  for (int i = 0; i < 1000; i++) {
    const uint64_t name = 0x10000 + random() % 40 * 4096;
    if (!(random() % 3)) names.close(name);
    else if (!names.open(name, random() % 2)) names.close(names[0] & ~uint64_t{1});
    ASSERT_LE(names.count(), OpenNames::kMax);
    const uint32_t rights = domains.with(domains.rights(7, kNoLocks, 0, false), names,
                                         [&](uint64_t of) { return domains.key_of(of); });
    std::set<uint32_t> read{0, domains.of_task(7).key}, written = read;
    for (uint32_t k = 0; k < names.count(); k++) {
      const uint32_t key = domains.key_of(names[k] & ~uint64_t{1});
      read.insert(key);
      if (!(names[k] & 1)) written.insert(key);
    }
    for (uint8_t key = 0; key < Domains::kKeys; key++) {
      ASSERT_EQ(Domains::allows(rights, {key, false}, false), read.count(key) != 0) << +key;
      ASSERT_EQ(Domains::allows(rights, {key, false}, true), written.count(key) != 0) << +key;
    }
  }
}

TEST(DomainsTest, FewNamesAreOpenForWritingAndNoneAfterTheFunction) {
  OpenNames names{};
  names.keep_of(1);
  for (uint64_t i = 1; i <= OpenNames::kMaxWritten; i++) EXPECT_TRUE(names.open(i * 4096, true));
  EXPECT_FALSE(names.has_room(true));
  EXPECT_FALSE(names.open(99 * 4096, true));
  EXPECT_TRUE(names.open(2 * 4096, false));  // now for reading
  EXPECT_EQ(names.count(), OpenNames::kMaxWritten);
  EXPECT_EQ(names[OpenNames::kMaxWritten - 1], 2u * 4096 | 1);
  EXPECT_TRUE(names.has_room(true));
  for (uint64_t i = 10; names.count() < OpenNames::kMax; i++)
    EXPECT_TRUE(names.open(i * 4096, false));
  EXPECT_FALSE(names.open(98 * 4096, false));
  names.close(1 * 4096);
  EXPECT_TRUE(names.has_room(true));
  names.keep_of(1);
  EXPECT_EQ(names.count(), OpenNames::kMax - 1);
  names.keep_of(2);
  EXPECT_EQ(names.count(), 0u);
}

TEST(DomainsTest, SitesOfWhatMovesAreKnown) {
  MovingSites sites;
  EXPECT_FALSE(sites.moves(0));
  EXPECT_FALSE(sites.moves(77));
  sites.note(77);
  EXPECT_TRUE(sites.moves(77));
  EXPECT_FALSE(sites.moves(77 + 1024));
}

TEST(DomainsTest, WhatIsReadOnlyNobodyWrites) {
  EXPECT_FALSE(Domains::allows(0, {0, true}, true));
  EXPECT_TRUE(Domains::allows(0, {0, true}, false));
}

// A program of tasks, locks and objects against a kernel of the test's own: pages have the tags
// that objects were given last, tasks the registers that they got last. What the tags allow is what
// the rule book allows, and beside that only what a collision of the hash does, or what is
// read-shared: before and after each rehash. Every other object has a domain of its own, but for
// when a task has too many of them. There what is allowed may be closed to a task until it touches
// it.
class Model {
 public:
  static constexpr uint32_t kTasks = 8, kLocks = 6, kObjects = 80;
  static constexpr uint64_t kNames = 0x100000000000;
  using Rules = Object<64>;

  explicit Model(uint64_t seed, uint32_t domains)
      : random_(seed), domains_(kAllKeys, kAsTheKernelBegins, domains) {
    rehash();
    for (uint32_t i = 0; i < kObjects; i++)
      objects_.push_back({Rules(Policy::kInaccessible),
                          0,
                          domains_.closed(),
                          {},
                          i % 2 ? kNames + i * 4096 : 0,
                          false});
    for (uint32_t i = 0; i < kTasks; i++) clocks_[i].clock[i] = 1;
  }

  void step() {
    const auto task = static_cast<TaskId>(random_() % kTasks);
    switch (random_() % 4) {
      case 0: lock_or_unlock(task); break;
      case 1: touch(task); break;
      default: change(task); break;
    }
  }

  void rehash() {
    const uint64_t a = random_(), b = random_();
    domains_.rehash(a, b);
    for (auto& object : objects_) {
      if (object.name || Domains::is_hashed(object.rules)) object.tag = tag_of(object);
    }
    for (uint32_t i = 0; i < kTasks; i++) write_register(i);
  }

  void check() {
    for (uint32_t task = 0; task < kTasks; task++) {
      for (auto& object : objects_) {
        const bool holds =
            object.rules.policy() == Policy::kLocked && held_[task].count(object.rules.lock());
        const Rights rights = object.rules.rights(task, holds, &object.readers);
        const bool may_read = Domains::allows(registers_[task], object.tag, false),
                   may_write = Domains::allows(registers_[task], object.tag, true);
        // Right is never closed ...
        const bool is_lost = has_domain(object) && !has_open(task, object.name);
        if (rights == Rights::kWrite) { ASSERT_TRUE(may_write || is_lost); }
        if (rights != Rights::kNone) { ASSERT_TRUE(may_read || is_lost); }
        // ... and wrong is open by a collision only.
        if (may_write && rights != Rights::kWrite) { ASSERT_TRUE(collides(task, object.tag.key)); }
        if (may_read && rights == Rights::kNone) {
          ASSERT_TRUE(object.tag.is_read_only || collides(task, object.tag.key));
        }
      }
    }
  }

  uint64_t violations(bool missed) const { return missed ? missed_ : violations_; }

 private:
  struct Kept {
    Rules rules;
    uint32_t owner;
    Tag tag;
    Rules::Readers readers;
    uint64_t name;  // of its own domain; 0: it has none
    bool is_crowded;
  };

  static bool has_domain(const Kept& object) {
    const Policy policy = object.rules.policy();
    return object.name && !object.is_crowded &&
           (policy == Policy::kPrivate || policy == Policy::kReadShared ||
            policy == Policy::kInaccessible);
  }
  Tag tag_of(const Kept& object) const {
    return object.name && !object.is_crowded
               ? domains_.of_moving(object.rules, object.owner, object.name)
               : domains_.of(object.rules, object.owner);
  }
  bool has_open(uint32_t task, uint64_t name) const {
    for (uint32_t i = 0; i < names_[task].count(); i++) {
      if ((names_[task][i] & ~uint64_t{1}) == name) return true;
    }
    return false;
  }
  void open_domain(uint32_t task, Kept& object) {
    if (!object.name) return;
    const Policy policy = object.rules.policy();
    const bool is_kept = policy == Policy::kPrivate || policy == Policy::kReadShared;
    const Rights rights =
        is_kept ? object.rules.rights(task, false, &object.readers) : Rights::kNone;
    if (policy != Policy::kReadShared) object.is_crowded = false;
    if (rights == Rights::kNone) names_[task].close(object.name);
    else if (!object.is_crowded)
      object.is_crowded = !names_[task].open(object.name, rights == Rights::kWrite);
  }

  static uint64_t lock_address(uint64_t number) { return 0x555555558000 + number * 40; }
  void write_register(uint32_t task) {
    std::vector<uint64_t> locks(held_[task].begin(), held_[task].end());
    names_[task].keep_of(domains_.generation());
    registers_[task] =
        domains_.with(domains_.rights(task, locks, static_cast<uint32_t>(locks.size()), false),
                      names_[task], [this](uint64_t name) { return domains_.key_of(name); });
  }
  Rules::Actor actor(TaskId task, Kept& object) {
    return {task, clocks_[task], false, &object.readers};
  }

  bool collides(uint32_t task, uint8_t key) {
    if (domains_.of_task(task).key == key) return true;
    for (const uint64_t lock : held_[task]) {
      if (domains_.of_lock(lock).key == key) return true;
    }
    for (uint32_t i = 0; i < names_[task].count(); i++) {
      if (domains_.key_of(names_[task][i] & ~uint64_t{1}) == key) return true;
    }
    return false;
  }

  void lock_or_unlock(TaskId task) {
    const uint64_t lock = lock_address(random_() % kLocks);
    if (held_[task].erase(lock)) {
      clocks_[kTasks] = clocks_[task];
      holder_.erase(lock);
    } else if (!holder_.count(lock)) {
      holder_[lock] = task;
      held_[task].insert(lock);
    }
    write_register(task);
  }

  void change(TaskId task) {
    Kept& object = objects_[random_() % kObjects];
    static constexpr Change kChanges[] = {Change::kAcquireWrite, Change::kReleaseWrite,
                                          Change::kAcquireRead, Change::kReleaseRead,
                                          Change::kToLocked};
    const Verdict verdict = object.rules.change(kChanges[random_() % 5], actor(task, object),
                                                lock_address(random_() % kLocks));
    if (!verdict.legal() && verdict.fault != Fault::kUnordered) return;
    if (object.rules.policy() == Policy::kPrivate) object.owner = task;
    open_domain(task, object);
    object.tag = tag_of(object);
    write_register(task);
    clocks_[task].clock[task]++;
  }

  // As the enforcer meets it: only what the register closes is looked at.
  void touch(TaskId task) {
    Kept& object = objects_[random_() % kObjects];
    const bool holds =
        object.rules.policy() == Policy::kLocked && held_[task].count(object.rules.lock());
    const bool is_right = object.rules.policy() == Policy::kLocked
                              ? holds
                              : object.rules.rights(task, holds, &object.readers) == Rights::kWrite;
    violations_ += !is_right;
    if (Domains::allows(registers_[task], object.tag, true)) {
      missed_ += !is_right;
      return;
    }
    const Verdict verdict = object.rules.touch(actor(task, object), true, holds);
    if (verdict.legal()) {
      open_domain(task, object);
      object.tag = tag_of(object);
      write_register(task);
      ASSERT_TRUE(is_right);
      ASSERT_TRUE(Domains::allows(registers_[task], object.tag, true))
          << "a legal access would trap again";
    }
  }

  std::mt19937_64 random_;
  Domains domains_;
  std::vector<Kept> objects_;
  VectorClock<64> clocks_[kTasks + 1]{};
  std::set<uint64_t> held_[kTasks];
  std::map<uint64_t, uint32_t> holder_;
  OpenNames names_[kTasks] = {};
  uint32_t registers_[kTasks] = {};
  uint64_t violations_ = 0, missed_ = 0;
};

TEST(DomainsTest, TagsAllowWhatTheRuleBookAllowsBeforeAndAfterARehash) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    Model model(seed, 0);
    for (int i = 0; i < 2000; i++) {
      model.step();
      if (i % 50 == 0) model.rehash();
      model.check();
      if (HasFatalFailure()) return;
    }
  }
}

TEST(DomainsTest, FewViolationsAreMissedByCollisionsAndMoreWithTwoDomains) {
  uint64_t all[2] = {}, missed[2] = {};
  for (const uint32_t few : {0u, 1u}) {
    for (uint64_t seed = 0; seed < 20; seed++) {
      Model model(seed, few ? 2 : 0);
      for (int i = 0; i < 3000; i++) {
        model.step();
        if (i % 20 == 0) model.rehash();
      }
      all[few] += model.violations(false);
      missed[few] += model.violations(true);
    }
  }
  EXPECT_LT(static_cast<double>(missed[0]) / static_cast<double>(all[0]), 0.15);
  EXPECT_GT(static_cast<double>(missed[1]) / static_cast<double>(all[1]), 0.15);
}

}  // namespace
}  // namespace weir::view::checked
