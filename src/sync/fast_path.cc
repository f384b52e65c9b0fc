#include "sync/fast_path.h"

#include "control/plan.h"
#include "record/input.h"
#include "sync/event.h"

namespace weir {
namespace {

class None final : public FastPath {};
constinit None g_none;

// Order serial: each operation is an event, where the turn may go to another task.
class Serial final : public FastPath {
 public:
  bool is_sole(Task&, uint64_t) override { return false; }
};
constinit Serial g_serial;

FastPath& chosen() {
  if (plan().is_serial()) return g_serial;
  switch (plan().object_order) {
    case Plan::ObjectOrder::kNone: return plan().is_isolated() ? biased_path() : g_none;
    case Plan::ObjectOrder::kLogged: return input::replaying() ? replayed_path() : recorded_path();
    case Plan::ObjectOrder::kTurnFree: return plan().has_keys() ? keyed_path() : turn_free_path();
  }
  return g_none;
}

}  // namespace

FastPath* g_fast_path = &g_none;

void choose_fast_path() { g_fast_path = &chosen(); }

// A turn that is kept for the next pthread_create is the only one of which nobody knows how long
// program code goes on with it: if no other comes, the others have their turns after so many.
bool FastPath::is_sole(Task& task, uint64_t) {
  constexpr uint32_t kMostBetweenCreations = 1000;
  if (!task.turn.depth) return false;
  if (task.turn.state == TurnState::kHoldForCreate &&
      ++task.turn.coalesced_events > kMostBetweenCreations)
    return false;
  note_written();
  return true;
}

}  // namespace weir
