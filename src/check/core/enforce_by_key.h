// Within the checked View: the enforcer of declared policies by protection keys.
// Implemented in check/keys/.
#pragma once

#include "check/core/enforcer.h"
#include "check/core/rights.h"

namespace weir::view::checked::keys {

extern const Enforcer kEnforcer;
// True if the task must call close() before program code goes on.
inline bool has_to_close(const ThreadState& thread) {
  return thread.has_all_keys || __atomic_load_n(&thread.stop_asked, __ATOMIC_RELAXED);
}
// Tasks may have ordered each other by a racy object, which nobody looks at: what seems unordered
// may be none.
bool may_be_ordered_unseen();

}  // namespace weir::view::checked::keys
