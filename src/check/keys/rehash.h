// Within the enforcer by protection keys: what a change of the hash function shares with it.
// Implemented in enforce_by_key.cc and rehash.cc.
#pragma once

#include "check/core/domains.h"
#include "check/core/objects.h"

namespace weir::view::checked::keys {

// Both per process.
extern constinit Domains g_domains;
extern uint32_t g_rehashing;  // futex: invariant 5 of check/keys/enforce_by_key.cc

// The object's pages get the tag that its policy means. Guarded by: the object's lock.
void follow_policy(Declared& object);
void wait_for_rehash();

}  // namespace weir::view::checked::keys
