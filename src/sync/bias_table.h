// Which task alone uses an object (a mutex, a locked word): a table of fixed size in memory that
// all tasks see.
//
// Layout: sets of kWays entries, found by a hash of the object's address. Zeros at first. Guarded
// by: the turn, for writing. Reading needs no lock while a parallel phase lasts, since nobody has
// the turn then.
#pragma once

#include <stdint.h>

#include "base/hash.h"
#include "base/types.h"

namespace weir {

struct BiasEntry {
  enum State : uint16_t { kFree, kShared, kBiased, kRevoked };

  uint64_t object;  // program address
  uint64_t user;    // creation number of the task that it is biased to, or of the last user
  uint64_t round;   // of the last use that was an event; kRevoked: of the revocation
  State state;
  uint16_t task;        // the user's slot
  uint16_t in_a_row;    // kShared: uses by `user` with nobody else's in between
  uint16_t waited_for;  // so many releases more are to be events, since one was waited for
};
static_assert(sizeof(BiasEntry) == 32);

class BiasTable {
 public:
  static constexpr uint32_t kSets = 1u << 15, kWays = 4;
  // Uses in a row after which a shared object is biased again.
  static constexpr uint16_t kBiasAgain = 16384;
  static constexpr uint16_t kWaitedFor = 16;

  struct User {
    uint64_t creation;
    TaskId task;
  };
  // Whether `user` lives and has yet to publish what it did to objects that are biased to it.
  using Unpublished = bool (*)(const User& user);

  bool is_biased_to(uint64_t object, uint64_t creation) const {
    const BiasEntry* entry = find(object);
    return entry && entry->user == creation && entry->state == BiasEntry::kBiased;
  }
  // It is biased to another task, or was when it last published.
  bool is_biased_elsewhere(uint64_t object, uint64_t creation) const {
    const BiasEntry* entry = find(object);
    return entry && entry->user != creation && entry->state >= BiasEntry::kBiased;
  }

  // Somebody waited for the object of late, or nothing is known of it.
  bool is_waited_for(uint64_t object) const {
    const BiasEntry* entry = find(object);
    return !entry || entry->waited_for;
  }
  // Within a turn.
  void note_wait(uint64_t object) {
    if (auto* entry = const_cast<BiasEntry*>(find(object))) entry->waited_for = kWaitedFor;
  }
  void note_release(uint64_t object) {
    auto* entry = const_cast<BiasEntry*>(find(object));
    if (entry && entry->waited_for) entry->waited_for--;
  }

  // In its turn in `round`, `user` is about to use `object`. False: what the task that it was
  // biased to did to it is not in the backing yet, and the bias is revoked; ask again in the next
  // round. `may_bias`: the use may bias the object to `user`.
  [[nodiscard]] bool use(uint64_t object, const User& user, uint64_t round, bool may_bias,
                         Unpublished unpublished);

 private:
  static uint32_t set_of(uint64_t object) { return static_cast<uint32_t>(mix(object >> 3) >> 49); }
  const BiasEntry* find(uint64_t object) const {
    const BiasEntry* set = entries_[set_of(object)];
    for (uint32_t way = 0; way < kWays; way++) {
      if (set[way].object == object) return &set[way];
    }
    return nullptr;
  }
  BiasEntry* place_for(uint64_t object, uint64_t round, Unpublished unpublished);

  BiasEntry entries_[kSets][kWays];
};
static_assert(uint64_t{BiasTable::kSets} == uint64_t{1} << (64 - 49));

}  // namespace weir
