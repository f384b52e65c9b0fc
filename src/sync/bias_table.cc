// Invariants
// 1. An entry whose holder has not published (its turn of this round is to come) keeps the holder's
//    name: it becomes revoked and not shared, and it is not thrown out. So whoever asks in between
//    finds out that it must wait. (not checkable: place_for asks for it in the line before)
// 2. What a task did before its bias was revoked is in the backing when the round of the revocation
//    is over: every task that ran has had its turn in it. What it does afterwards it does in turns.
//    (not checkable: what a task has not published lies in its own process)
// 3. An object without an entry may have been used by anybody, but has no unpublished use; so its
//    next user may own it. It is the same for the entry of memory that was freed and given out
//    again: at worst a later user revokes once. (not checkable: of an object without an entry
//    nothing is known)

#include "sync/bias_table.h"

namespace weir {

namespace {

bool is_pending(const BiasEntry& entry, uint64_t round, BiasTable::Unpublished unpublished) {
  if (entry.state < BiasEntry::kBiased ||
      (entry.state == BiasEntry::kRevoked && entry.round != round))
    return false;
  return unpublished({entry.user, entry.task});
}

}  // namespace

// Null: all that could make place are pending.
BiasEntry* BiasTable::place_for(uint64_t object, uint64_t round, Unpublished unpublished) {
  BiasEntry* set = entries_[set_of(object)];
  BiasEntry* oldest = nullptr;
  for (uint32_t way = 0; way < kWays; way++) {
    if (set[way].state == BiasEntry::kFree) return &set[way];
    if (oldest && set[way].round >= oldest->round) continue;
    if (!is_pending(set[way], round, unpublished)) oldest = &set[way];
  }
  return oldest;
}

bool BiasTable::use(uint64_t object, const User& user, uint64_t round, bool may_bias,
                    Unpublished unpublished) {
  auto* entry = const_cast<BiasEntry*>(find(object));
  if (!entry) {
    if (!may_bias) return true;
    entry = place_for(object, round, unpublished);
    if (entry)
      *entry = BiasEntry{
          object, user.creation, round, BiasEntry::kBiased, static_cast<uint16_t>(user.task), 0, 0};
    return true;
  }
  const bool same = entry->user == user.creation;
  if (!same && is_pending(*entry, round, unpublished)) {
    entry->state = BiasEntry::kRevoked;
    entry->round = round;
    return false;
  }
  entry->round = round;
  if (same && entry->state == BiasEntry::kBiased) return true;
  if (!same || entry->state != BiasEntry::kShared) entry->in_a_row = 0;
  entry->state = BiasEntry::kShared;
  entry->user = user.creation;
  entry->task = static_cast<uint16_t>(user.task);
  if (entry->in_a_row < kBiasAgain) entry->in_a_row++;
  if (entry->in_a_row == kBiasAgain && may_bias) entry->state = BiasEntry::kBiased;
  return true;
}

}  // namespace weir
