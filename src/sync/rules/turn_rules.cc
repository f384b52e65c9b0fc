#include "sync/turn_rules.h"

#include "control/plan.h"
#include "sync/rules/serial_code.h"

namespace weir {
namespace {

class DirectTurn final : public TurnRules {};
constinit DirectTurn g_direct_turn;

TurnRules& chosen() {
  using Memory = Plan::Memory;
  if (plan().is_serial()) return serial::rules();
  if (plan().memory == Memory::kIsolated) return isolated_rules();
  if (plan().memory == Memory::kCoherent) return coherent_rules();
  if (plan().memory == Memory::kChecked) return paged_rules();
  return plan().is_by_arrival() ? arrival_rules() : g_direct_turn;
}

}  // namespace

TurnRules* g_turn_rules = &g_direct_turn;

void use_turn_rules() { g_turn_rules = &chosen(); }

}  // namespace weir
