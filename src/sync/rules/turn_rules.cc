#include "sync/turn_rules.h"

#include "control/plan.h"
#include "sync/rules/serial_code.h"

namespace weir {
namespace {

class DirectTurn final : public TurnRules {};
constinit DirectTurn g_direct_turn;

TurnRules& chosen() {
  switch (plan().memory) {
    case Plan::Memory::kIsolated: return isolated_rules();
    case Plan::Memory::kCoherent: return coherent_rules();
    case Plan::Memory::kChecked: return paged_rules();
    case Plan::Memory::kKeys: return arrival_rules();
    case Plan::Memory::kDirect: break;
  }
  if (plan().is_serial()) return serial::rules();
  return plan().is_order_only() ? arrival_rules() : g_direct_turn;
}

}  // namespace

TurnRules* g_turn_rules = &g_direct_turn;

void use_turn_rules() { g_turn_rules = &chosen(); }

}  // namespace weir
